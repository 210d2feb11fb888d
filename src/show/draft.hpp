#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mpi/result/result_reader.hpp"
#include "src/show/distribution.hpp"
#include "src/show/grid_view.hpp"
#include "src/show/page.hpp"

namespace voxherd::report {

/// A map's values, (nz, ny, nx, components) with the component fastest; complete, or only some of its slices.
class map_values {
 public:
  map_values() = default;
  explicit map_values(std::vector<float> values) : values_(std::move(values)) {}
  /// `slice`: floats per slice; `place`: where each slice begins in `values`, if it is there.
  map_values(std::vector<float> values, std::size_t slice, std::vector<std::size_t> place)
      : values_(std::move(values)), slice_(slice), place_(std::move(place)) {}

  /// Throws std::out_of_range for a slice that is not there.
  const float& operator[](std::size_t i) const {
    return slice_ == 0 ? values_[i] : values_.at(place_[i / slice_] + i % slice_);
  }

  static constexpr std::size_t not_there = ~std::size_t{0} / 2;  ///< place of a slice

 private:
  std::vector<float> values_;
  std::size_t slice_ = 0;
  std::vector<std::size_t> place_;
};

/// A page that is being made, and the maps that it shows.
struct draft {
  explicit draft(const image_grid& g, view_sides sides = view_sides::left_on_left);
  virtual ~draft() = default;

  virtual const output_spec* find(const std::string& name) const = 0;  ///< null if there is no such output
  virtual std::vector<output_spec> outputs() const = 0;
  virtual map_values read_map(const std::string& name) const = 0;
  /// Only the voxels of `slices` may be asked for.
  virtual map_values read_shown(const std::string& name) const { return read_map(name); }
  using voxel_visitor = std::function<void(std::size_t i, const float* values)>;
  /// Calls use(i, values) with all components of the map at voxel at[i], for all of them in their order.
  virtual void visit(const std::string& name, std::span<const std::uint64_t> at, const voxel_visitor& use) const = 0;
  /// One value for each of the items, or of some that are evenly spread.
  virtual std::vector<float> read_rows(const output_spec&) const { return {}; }

  image_grid grid;
  grid_view view;
  std::vector<std::uint64_t> voxels;  ///< that were processed, each once
  /// The ones among `voxels` that have values. Whoever changes them clears `described`.
  std::vector<std::uint64_t> fitted;
  mosaic slices;  ///< in which maps are shown
  /// What is seen around the processed voxels and under missing values, from 0 to 1; empty: black.
  std::vector<float> anatomy;
  const char* item_word = "items";  ///< what an item without a map is: "paths"
  page out;

  void warn(std::string text);
  /// Shows these values, up to their 98th percentile, around the processed voxels, and more of the slices.
  void show_anatomy(std::vector<float> values);
  section& add_section(std::string title);
  void cite(std::string text, std::string doi);

  /// Of describe_output(), for the present `fitted`.
  mutable std::map<std::string, distribution> described;
};

/// A page that is being made from a result.
struct result_draft final : draft {
  explicit result_draft(const result_reader& r, view_sides sides = view_sides::left_on_left);

  const output_spec* find(const std::string& name) const override;
  std::vector<output_spec> outputs() const override { return result.outputs(); }
  map_values read_map(const std::string& name) const override { return map_values(result.read_map(name)); }
  map_values read_shown(const std::string& name) const override;
  void visit(const std::string& name, std::span<const std::uint64_t> at, const voxel_visitor& use) const override;
  std::vector<float> read_rows(const output_spec& o) const override;

  const result_reader& result;
  std::vector<std::uint64_t> items;  ///< numbers of the finished items
};

inline constexpr std::size_t max_slices = 15;

/// An output's values: a map at the fitted voxels, or rows of items (at most a million of them, evenly spread). Its
/// first component, if it has several.
std::vector<float> read_values(const draft& d, const output_spec& o);
/// How these values are distributed. The first call describes all outputs with one number per item, on all cores.
const distribution& describe_output(const draft& d, const output_spec& o);
/// Whether there is a map with so many numbers per voxel.
bool is_map(const draft& d, const std::string& name, std::size_t width);

/// "FA: fractional anisotropy.", and what else is to be said.
std::string explain(const std::string& name, const std::string& meaning, const std::string& more = "");

/// A word of the configuration; `standard` if the configuration has none.
std::string configured(const result_reader& r, const std::string& option, const std::string& standard);

/// The outputs with one number per item, and how they are distributed.
std::vector<std::pair<output_spec, distribution>> describe_outputs(const draft& d);

/// Where the page of a result is written by default: tensor.report.html of tensor.h5.
std::string default_page_path(const std::string& result);

/// A page that is being made from images.
struct image_draft final : draft {
  explicit image_draft(const image_grid& g, view_sides sides = view_sides::left_on_left) : draft(g, sides) {}

  const output_spec* find(const std::string& name) const override;
  std::vector<output_spec> outputs() const override;
  map_values read_map(const std::string& name) const override;
  void visit(const std::string& name, std::span<const std::uint64_t> at, const voxel_visitor& use) const override;
  /// `width`: numbers per voxel, component fastest.
  void add(std::string name, std::size_t width, std::string unit, std::string meaning, std::vector<float> values);
  /// Pictures and distributions are of these voxels.
  void show(std::vector<std::uint64_t> inside);

 private:
  std::vector<std::pair<output_spec, map_values>> maps_;
};

}  // namespace voxherd::report
