#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/analysis.hpp"

namespace voxherd {

/// Everything a result file holds before its first voxel is computed.
struct result_layout {
  std::string version;
  std::string analysis;
  image_grid grid;
  std::span<const std::uint64_t> item_voxels;  ///< owned by the analysis; hundreds of millions for fibres
  std::vector<std::uint64_t> point_offsets;    ///< items + 1 if an output has layout points, else empty
  std::vector<output_spec> outputs;
  std::vector<constant> constants;
  std::vector<batch> batches;
  nlohmann::json configuration;
  nlohmann::json provenance;
};

bool has_layout(const std::vector<output_spec>& outputs, output_layout wanted);

/// Number of points of all items.
std::uint64_t point_count(const result_layout& layout);

/// Shape of an output's dataset: (nz, ny, nx, ...), (items, ...) or (points, ...).
std::vector<std::uint64_t> dataset_shape(const output_spec& output, const result_layout& layout);

/// "/maps/FA", "/samples/f1", "/points/position" or "/connectome/count".
std::string dataset_path(const output_spec& output);
std::string dataset_path(const constant& c);

/// Dataset of the point offsets: int64, since VTK accepts no unsigned ones.
inline constexpr const char* offset_path = "/points/offset";

/// The output that makes the file's /VTKHDF a set of poly-lines: `position`, three float32 per point, world RAS mm.
/// Null if there is none.
const output_spec* polyline_points(const result_layout& layout);

/// Bytes of the datasets needed only by VTK: connectivity and cell types.
std::uint64_t polyline_bytes(const result_layout& layout);

/// Bytes of all datasets together; HDF5's metadata take less than `file_overhead_bytes`.
std::uint64_t data_bytes(const result_layout& layout);
inline constexpr std::uint64_t file_overhead_bytes = 1 << 20;

/// Attribute `contents` of the file: names, types and shapes in the order of the analysis.
nlohmann::json describe_contents(const result_layout& layout);
/// Throws failure (bad_data): see check_names(), or an output without values.
void read_contents(const nlohmann::json& contents, result_layout& layout);

/// Names of outputs, constants and their groups become names of datasets, and of files when they are exported: no "/",
/// no "..", no control characters, none twice. Throws failure (bad_data).
void check_names(const result_layout& layout);

/// Length of the fixed text in /journal/summary.
inline constexpr std::uint64_t summary_bytes = 65536;

}  // namespace voxherd
