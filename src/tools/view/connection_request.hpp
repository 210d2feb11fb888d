#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/tensor_field/field.hpp"

namespace voxherd::view {

/// Where the page's slider and the curve of volumes end.
inline constexpr double largest_epsilon = 0.5;

/// An end of a connection: a point, or a region of the parcellation.
struct chosen_end {
  std::optional<std::array<double, 3>> point_mm;  ///< world, RAS+
  std::int32_t label = 0;
};

/// What a user can change in the page about the metric (docs/commands/connect.md).
struct chosen_metric {
  tensor_field::metric_kind metric = tensor_field::metric_kind::jeong;
  double alpha = 3;
  double smoothing_voxels = 0;
  double max_ratio = 100;
  bool operator==(const chosen_metric&) const = default;
};

struct connection_request {
  chosen_end from, to;
  chosen_metric metric;
};

/// Fibres or glyphs of the last connection.
struct fibre_request {
  std::uint64_t connection = 0;
  double epsilon = 0.05;
  std::uint64_t count = 100;
};

const char* metric_name(tensor_field::metric_kind metric);
std::optional<tensor_field::metric_kind> find_metric(std::string_view name);

/// From the JSON that the page sends. Throws failure (usage) for anything else, with the field and what it expects.
connection_request parse_connection_request(std::string_view json);
fibre_request parse_fibre_request(std::string_view json, std::int64_t max_count = 5000);

}  // namespace voxherd::view
