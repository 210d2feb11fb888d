#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/analysis.hpp"
#include "src/analyses/connect/arrivals.hpp"
#include "src/analyses/connect/pathway.hpp"

namespace voxherd {

/// Which part of a fibre is traced from its voxel back to a front.
enum class path_form : std::uint32_t {
  to_voxel,       ///< all: it starts at the front and ends at the voxel
  from_voxel,     ///< all: it starts at the voxel and ends at the front
  through_voxel,  ///< two paths, to the first and the second front
};

/// A path between two regions: the part from a voxel back to the front of one region and, if it passes through
/// that voxel, also the part back to the front of the second one.
struct planned_path {
  std::array<std::int32_t, 2> labels{};   ///< labels of the regions where it starts and ends
  std::array<std::uint32_t, 2> fronts{};  ///< the fronts of its two parts; the second only for `through_voxel`
  std::array<std::uint32_t, 2> steps{};
  path_form form = path_form::to_voxel;
  std::uint32_t voxel = 0;
  float cost = 0;       ///< cost by arrival times
  float path_cost = 0;  ///< cost along the path
  float length_mm = 0;

  static constexpr auto members() {
    using T = planned_path;
    return std::tuple(&T::labels, &T::fronts, &T::steps, &T::form, &T::voxel, &T::cost, &T::path_cost, &T::length_mm);
  }

  std::uint64_t points() const {
    return std::uint64_t{steps[0]} + 1 + (form == path_form::through_voxel ? steps[1] : 0);
  }
};

/// Paths through the pathway's voxels, at most options.max_paths of them, evenly chosen from the lowest to the highest
/// cost. On the calling process's device. Paths that do not end at a region's front are left out, with a warning.
/// Throws device_error.
std::vector<planned_path> plan_paths(const pathway& p, const connect_inputs& inputs, const front_field& field,
                                     const device& d);
/// The same by a solver that has solved for both fronts.
std::vector<planned_path> plan_paths(const pathway& p, const connect_inputs& inputs, const front_field& field,
                                     const connect::solver& solver, std::uint64_t count);

/// The least-cost path of each pair of regions, the smaller label first; none for pairs without a path. Ordered by the
/// front that they are traced in.
std::vector<planned_path> plan_paths(const region_table& table, const connect_inputs& inputs);

inline constexpr std::uint64_t path_items_per_batch = 1024;

struct path_outputs {
  using inputs = connect_inputs;
  static std::string cost(const inputs& in) { return cost_unit(in.options.how); }

  static constexpr step_output<inputs> table[] = {
      {"regions", element_type::int32, 2, "1", "labels of the regions where the path begins and ends"},
      {"cost", element_type::float32, 1, "", "cost of the path by arrival times", {.unit = cost}},
      {"path_cost", element_type::float32, 1, "", "cost of the path, integrated along it", {.unit = cost}},
      {"length_mm", element_type::float32, 1, "mm", "Euclidean length of the path"},
      {"detour", element_type::uint8, 1, "1", "1 if path_cost is more than 1.5 times cost: not to be relied on"},
      {"position", element_type::float32, 3, "mm", "position in the world, RAS+", {.layout = output_layout::points}},
  };
};

/// Writes planned paths as fibres. Each batch solves for its fronts again, because arrival times stay on the device
/// that follows them.
class path_tracing final : public analysis {
 public:
  path_tracing(const connect_inputs& inputs, const front_field& field, const device& d,
               const std::vector<planned_path>& paths);

  std::string name() const override { return "connect-paths"; }
  const image_grid& grid() const override { return inputs_.grid; }
  const std::vector<std::uint64_t>& item_voxels() const override { return path_voxels_; }
  std::vector<output_spec> outputs() const override { return output_specs<path_outputs>(inputs_); }
  std::vector<constant> constants() const override;
  std::vector<std::uint64_t> point_offsets() const override { return offsets_; }
  bool may_be_empty() const override { return true; }
  std::size_t device_bytes_per_item() const override;
  std::unique_ptr<batch_runner> make_runner() const override;
  std::uint64_t max_items_per_batch() const override { return path_items_per_batch; }

 private:
  const connect_inputs& inputs_;
  const front_field& field_;
  device device_;
  const std::vector<planned_path>& paths_;
  std::vector<std::uint64_t> path_voxels_, offsets_{0};
};

}  // namespace voxherd
