#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/portable/contract.hpp"

namespace voxherd::perfusion {

/// Data passed between the stages of a batch's fit, in device memory: conversion and search of starts write samples and
/// starts, the fit solves `count * starts` items (one voxel from one start), the finish selects each voxel's best.
struct fit_arrays {
  std::size_t count = 0;  ///< voxels
  int frames = 0, starts = 1, parameters = 0;
  float* samples = nullptr;              ///< [voxel][frame], mM or HU
  float *t1_s = nullptr, *S0 = nullptr;  ///< [voxel]
  double* p = nullptr;                   ///< [start][parameter][voxel], 1/s and s: first the start, then the result
  double* cost = nullptr;                ///< [start][voxel]
  std::uint32_t* iterations = nullptr;   ///< [start][voxel]
  std::uint8_t* exit_code = nullptr;     ///< [start][voxel]
  std::uint8_t* status = nullptr;        ///< [voxel]

  VOXHERD_FUNCTION std::size_t items() const { return count * static_cast<std::size_t>(starts); }

  static std::size_t doubles_per_voxel(int starts, std::size_t parameters) {
    return (parameters + 1) * static_cast<std::size_t>(starts);
  }
  static std::size_t floats_per_voxel(int frames) { return static_cast<std::size_t>(frames) + 2; }
};

}  // namespace voxherd::perfusion
