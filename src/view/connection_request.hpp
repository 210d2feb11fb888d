#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "src/analyses/connect/options.hpp"

namespace voxherd::view {

/// Where the page's slider and the curve of volumes end.
inline constexpr double largest_epsilon = 0.5;

/// An end of a connection: a point, or a region of the parcellation.
struct chosen_end {
  std::optional<std::array<double, 3>> point_mm;  ///< world, RAS+
  std::int32_t label = 0;
};

/// Options of connect that a user can change in the page.
inline constexpr std::initializer_list<const char*> page_options{"metric", "alpha", "smooth", "max-ratio", "within-fa"};

/// What the page sends.
struct asked_connection {
  chosen_end from, to;
  nlohmann::json options;  ///< values of page_options
};

struct connection_request {
  chosen_end from, to;
  connect_request options;
};

/// Fibres or glyphs of the last connection.
struct fibre_request {
  std::uint64_t connection = 0;
  double epsilon = 0.05;
  std::uint64_t count = 100;
};

/// From the JSON that the page sends. Throws failure (usage) for anything else, with the field and what it expects.
asked_connection parse_connection_request(std::string_view json);
fibre_request parse_fibre_request(std::string_view json, std::int64_t max_count = 5000);

}  // namespace voxherd::view
