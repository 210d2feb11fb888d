#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "mpi/analysis.hpp"

namespace voxherd {

/// Everything a result file holds before its first voxel is computed.
struct result_layout {
  std::string version;
  std::string analysis;
  image_grid grid;
  std::vector<std::uint64_t> item_voxels;
  std::vector<output_spec> outputs;
  std::vector<constant> constants;
  std::vector<batch> batches;
  nlohmann::json configuration;
  nlohmann::json provenance;
};

/// Shape of an output's dataset: (nz, ny, nx, ...) or (items, ...).
std::vector<std::uint64_t> dataset_shape(const output_spec& output, const image_grid& grid, std::uint64_t items);

/// "/maps/FA" or "/samples/f1".
std::string dataset_path(const output_spec& output);

/// Bytes of all datasets together; HDF5's own tables come to less than `file_overhead_bytes`.
std::uint64_t data_bytes(const result_layout& layout);
inline constexpr std::uint64_t file_overhead_bytes = 1 << 20;

/// What attribute `contents` of the file says: names, types and shapes in the order of the analysis.
nlohmann::json contents_of(const result_layout& layout);
void read_contents(const nlohmann::json& contents, result_layout& layout);

/// Length of the fixed text in /journal/summary.
inline constexpr std::uint64_t summary_bytes = 65536;

}  // namespace voxherd
