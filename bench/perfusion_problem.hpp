#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/perfusion_curves.hpp"
#include "bench/program.hpp"
#include "kernels/perfusion/perfusion.hpp"

namespace voxherd::bench {

/// A fitting method and its name in benchmarks.
struct perfusion_method {
  std::string name;
  perfusion::fit_settings settings;
};

/// simplex-paper (Wang & Cao's: their discretisation by recursion, start and stop, no bounds), simplex-paper-direct and
/// -fft (the same with the other convolutions), simplex (the exact discretisation), simplex-bounded; lm, varpro: as in
/// `voxherd perfusion`, but from the paper's start; linear: with the true delays. -float: single precision;
/// -dictionary: the best of the dictionary's starts. Throws std::invalid_argument for another name.
perfusion_method perfusion_method_named(const std::string& name);

enum class perfusion_truth {
  paper,       ///< paper_truth everywhere, noise at a contrast-to-noise ratio of 50
  physiology,  ///< ka 5 to 150, kp 0 to 220 ml/100 g/min, distribution volume 0.12 to 0.45, delays to 6 and 4 s; CNR 30
};

/// Voxels with known truth; concentrations from the discretisation that is fitted. Beyond 65,536 voxels the first
/// 65,536 are repeated.
struct perfusion_data {
  perfusion::time_course frames;
  std::vector<perfusion_parameters> truth;
  std::vector<double> noise_sd, truth_cost;  ///< mM; squared noise, mM2
  std::vector<float> rows;                   ///< distinct voxels x frames
  std::size_t distinct() const { return truth.size(); }
};
perfusion_data make_perfusion_data(int frames, std::size_t voxels, perfusion_truth truth,
                                   perfusion::discretisation_kind how);

struct perfusion_run {
  perfusion_method method;
  int frames;  ///< paper_inputs()'s
  std::size_t voxels;
  perfusion_truth truth = perfusion_truth::paper;
};

/// Timed: from concentrations in (pinned) host memory to maps in it, with scratch memory allocated once. Verified:
/// every voxel is fitted; the returned cost is that of the reference model at the returned parameters; it is not above
/// that of the truth in as many voxels as the method finds the minimum in; the paper's truth within the noise,
/// according to the Cramer-Rao bound; repeated voxels have the same bits.
std::unique_ptr<problem> make_perfusion_problem(const device& d, const perfusion_run& how);

}  // namespace voxherd::bench
