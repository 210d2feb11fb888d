#include "src/scan/gradients.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/failure.hpp"
#include "src/io/number_table.hpp"

namespace voxherd {

namespace {

/// Orientation of a table, whose entries are either rows or columns.
enum class lying { along_rows, along_columns };

constexpr double smallest_top_b_s_per_mm2 = 10;  // below: probably ms/um2
constexpr double largest_top_b_s_per_mm2 = 1e6;  // above: probably s/m2
constexpr double norm_tolerance = 0.01;          // printed directions are rounded far below this
constexpr double smallest_norm = 0.5, largest_norm = 1.5;

std::string shape(const number_table& t) {
  return fmt::format("{} row{} of {} value{}", t.rows, t.rows == 1 ? "" : "s", t.columns, t.columns == 1 ? "" : "s");
}

bool is_list(const number_table& t) { return t.rows == 1 || t.columns == 1; }
bool is_triples(const number_table& t) { return t.rows == 3 || t.columns == 3; }
/// MRtrix's: x y z b in each line. Up to three lines are FSL's of four volumes, or wrong.
bool is_mrtrix_table(const number_table& t) { return t.columns == 4 && t.rows > 3; }

/// Some columns of a table.
number_table choose_columns(const number_table& t, std::size_t first, std::size_t count) {
  number_table some;
  some.name = t.name;
  some.rows = t.rows;
  some.columns = count;
  some.row_line = t.row_line;
  for (std::size_t row = 0; row < t.rows; ++row)
    for (std::size_t column = first; column < first + count; ++column) some.values.push_back(t.at(row, column));
  return some;
}

void check_shapes(const number_table& bvals, const number_table& bvecs) {
  if (!is_list(bvals) && is_triples(bvals) && is_list(bvecs)) {
    refuse_data(
        "{}: contains {}, expected b-values; and {} contains {}, expected directions: --bvals and --bvecs seem swapped",
        bvals.name, shape(bvals), bvecs.name, shape(bvecs));
  }
  if (!is_list(bvals)) {
    const char* hint = is_triples(bvals) ? " (it looks like a bvecs file)" : "";
    refuse_data("{}: contains {}{}, expected b-values as one row or one column", bvals.name, shape(bvals), hint);
  }
  if (is_triples(bvecs)) return;
  const char* hint = is_list(bvecs) ? " (it looks like a bvals file)" : "";
  refuse_data("{}: contains {}{}, expected directions as three rows or three columns", bvecs.name, shape(bvecs), hint);
}

void check_count(const number_table& t, std::size_t found, std::uint64_t volumes) {
  if (found == volumes) return;
  refuse_data("{}: contains {} {}, expected {}: one for each volume of the image", t.name, found,
              is_list(t) ? "b-values" : "directions", volumes);
}

std::vector<double> b_values(const number_table& t) {
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    const double b = t.values[k];
    if (std::isfinite(b) && b >= 0) continue;
    refuse_data("{}: line {}: b-value of volume {} (counted from 0) is {}, expected a finite number of at least 0",
                t.name, t.row_line[k / t.columns], k, b);
  }
  return t.values;
}

void check_range(const std::vector<double>& b, const std::string& name, const b0_rule& b0) {
  const double lowest = *std::min_element(b.begin(), b.end()), highest = *std::max_element(b.begin(), b.end());
  if (highest < smallest_top_b_s_per_mm2) {
    const char* why = highest == 0 ? "no volume is diffusion-weighted" : "ms/um2? multiply by 1000";
    refuse_data("{}: the largest b-value is {}, expected at least {} s/mm2: {}", name, highest,
                smallest_top_b_s_per_mm2, why);
  }
  if (highest > largest_top_b_s_per_mm2) {
    refuse_data("{}: the largest b-value is {}, expected at most {} s/mm2: s/m2? divide by 1e6", name, highest,
                largest_top_b_s_per_mm2);
  }
  if (lowest <= b0.max_s_per_mm2) return;
  const std::string found = fmt::format("{}: the smallest b-value is {}", name, lowest);
  if (b0.is_required)
    refuse_data(
        "{}, expected at least one volume without diffusion weighting (b up to {} s/mm2; --b0-threshold changes it)",
        found, b0.max_s_per_mm2);
  spdlog::warn("{}: no volume without diffusion weighting (b up to {} s/mm2), so that S0 is extrapolated", found,
               b0.max_s_per_mm2);
}

using direction = std::array<double, 3>;

direction direction_at(const number_table& t, lying way, std::size_t k) {
  if (way == lying::along_rows) return {t.at(0, k), t.at(1, k), t.at(2, k)};
  return {t.at(k, 0), t.at(k, 1), t.at(k, 2)};
}

/// The unit vector, or zero if b is almost 0: some scanners write nan as the direction of b=0.
direction checked_direction(const number_table& t, std::size_t k, direction g, double b, double max_b0,
                            double& worst_norm) {
  const bool weighted = b > max_b0;
  const bool any_infinite = std::any_of(g.begin(), g.end(), [](double v) { return std::isinf(v); });
  const double norm = std::sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  const auto wrong = [&](const char* expected) {
    refuse_data("{}: direction of volume {} (counted from 0, b = {}) is ({}, {}, {}), expected {}", t.name, k, b, g[0],
                g[1], g[2], expected);
  };
  if (any_infinite || (weighted && std::isnan(norm))) wrong("finite numbers");
  if (weighted && norm == 0) wrong("a unit vector, since b is above 0");
  if (std::isnan(norm) || norm == 0) return {0, 0, 0};
  if (weighted && (norm < smallest_norm || norm > largest_norm)) {
    wrong(fmt::format("a unit vector (its length is {:.4g})", norm).c_str());
  }
  if (weighted && std::abs(norm - 1) > std::abs(worst_norm - 1)) worst_norm = norm;
  return {g[0] / norm, g[1] / norm, g[2] / norm};
}

}  // namespace

gradient_table read_gradients(const std::string& bvals, const std::string& bvecs, std::uint64_t volumes,
                              const b0_rule& b0) {
  number_table b_table = read_number_table(bvals), g_table = read_number_table(bvecs);
  if (is_mrtrix_table(b_table)) b_table = choose_columns(b_table, 3, 1);
  if (is_mrtrix_table(g_table)) g_table = choose_columns(g_table, 0, 3);
  check_shapes(b_table, g_table);
  const lying way = g_table.rows == 3 ? lying::along_rows : lying::along_columns;
  check_count(b_table, b_table.values.size(), volumes);
  check_count(g_table, g_table.values.size() / 3, volumes);

  gradient_table table;
  table.b_s_per_mm2 = b_values(b_table);
  check_range(table.b_s_per_mm2, b_table.name, b0);
  double worst_norm = 1;
  for (std::size_t k = 0; k < volumes; ++k) {
    const direction g = checked_direction(g_table, k, direction_at(g_table, way, k), table.b_s_per_mm2[k],
                                          b0.max_s_per_mm2, worst_norm);
    table.x.push_back(g[0]);
    table.y.push_back(g[1]);
    table.z.push_back(g[2]);
  }
  if (std::abs(worst_norm - 1) > norm_tolerance) {
    spdlog::warn("{}: directions are not unit vectors (length up to {:.4g}); normalised", g_table.name, worst_norm);
  }
  return table;
}

direction_frame find_frame(const gradient_files& files) {
  if (!is_mrtrix_table(read_number_table(files.bvecs))) return files.frame.value_or(direction_frame::fsl);
  if (files.frame.value_or(direction_frame::world) == direction_frame::world) return direction_frame::world;
  refuse_usage(
      "--bvecs-frame: {} is MRtrix's table (x y z b), whose directions are along the world axes, expected world or no "
      "--bvecs-frame",
      files.bvecs);
}

gradient_table read_gradients(const gradient_files& files, const image_grid& grid, std::uint64_t volumes,
                              const b0_rule& b0) {
  return to_fsl_frame(read_gradients(files.bvals, files.bvecs, volumes, b0), find_frame(files), grid);
}

namespace {

/// Throws failure (bad_data) if two files of one series have other b-values.
void expect_same_b(const gradient_table& given, const std::string& bvals, const gradient_table& other,
                   const std::string& table) {
  constexpr double max_s_per_mm2 = 20, max_share = 0.05;  // rounded, or scaled by the lengths of directions
  for (std::size_t k = 0; k < given.size(); ++k) {
    const double b = given.b_s_per_mm2[k], other_b = other.b_s_per_mm2[k];
    if (std::abs(b - other_b) > std::max(max_s_per_mm2, max_share * b))
      refuse_data("{}: b of volume {} is {:g} s/mm2, expected {:g} as in {}; remove the wrong file", bvals, k, b,
                  other_b, table);
  }
}

}  // namespace

direction_frame compare_with_table(const gradient_files& files, const std::string& table, const image_grid& grid,
                                   std::uint64_t volumes) {
  constexpr double max_degrees = 1, degrees_per_radian = 57.29577951308232;  // printed with three digits: 0.1 degrees
  const b0_rule any{.is_required = false};
  const gradient_table right = read_gradients({table, table}, grid, volumes, any);
  const gradient_table given = read_gradients(files.bvals, files.bvecs, volumes, any);
  expect_same_b(given, files.bvals, right, table);
  double nearest = 180;
  for (const direction_frame frame : {direction_frame::fsl, direction_frame::image, direction_frame::world}) {
    const gradient_table turned = to_fsl_frame(given, frame, grid);
    double apart = 0;
    for (std::size_t k = 0; k < volumes; ++k) {
      if (right.b_s_per_mm2[k] <= any.max_s_per_mm2 || given.b_s_per_mm2[k] <= any.max_s_per_mm2) continue;
      const double cosine = turned.x[k] * right.x[k] + turned.y[k] * right.y[k] + turned.z[k] * right.z[k];
      apart = std::max(apart, std::acos(std::min(1.0, std::abs(cosine))) * degrees_per_radian);
    }
    if (apart <= max_degrees) return frame;
    nearest = std::min(nearest, apart);
  }
  refuse_data(
      "{}: its directions are up to {:.0f} degrees from those of {} along FSL's axes, the image axes and the world "
      "axes, expected the same ones in one frame; remove the wrong file",
      files.bvecs, nearest, table);
}

gradient_table choose_gradients(const gradient_table& all, const std::vector<std::uint32_t>& volumes) {
  gradient_table some;
  for (const std::uint32_t k : volumes) {
    some.x.push_back(all.x.at(k));
    some.y.push_back(all.y.at(k));
    some.z.push_back(all.z.at(k));
    some.b_s_per_mm2.push_back(all.b_s_per_mm2.at(k));
  }
  return some;
}

}  // namespace voxherd
