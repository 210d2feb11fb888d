#include "src/tools/view/touched_regions.hpp"

#include <algorithm>
#include <cmath>

#include "src/scan/grid_space.hpp"

namespace voxherd::view {

namespace {

constexpr std::uint64_t points_at_once = std::uint64_t{1} << 20;

class region_walk {
 public:
  region_walk(const image_grid& grid, const label_image& regions) : grid_(grid), space_(grid), regions_(regions) {}

  /// `mm`: three numbers per point. The labels are in the order in which they are met.
  std::vector<std::int32_t> find_labels(std::span<const float> mm) const {
    constexpr double steps_per_voxel = 8, max_steps = 1000;
    std::vector<std::int32_t> found;
    vector3 before{};
    for (std::size_t k = 0; k + 2 < mm.size(); k += 3) {
      const vector3 at =
          space_.to_index({static_cast<double>(mm[k]), static_cast<double>(mm[k + 1]), static_cast<double>(mm[k + 2])});
      if (k == 0) before = at;
      double length = 0;
      for (std::size_t d = 0; d < 3; ++d) length = std::max(length, std::fabs(at[d] - before[d]));
      const int steps = static_cast<int>(std::clamp(std::ceil(steps_per_voxel * length), 1.0, max_steps));
      for (int s = 1; s <= steps; ++s) visit(before, at, static_cast<double>(s) / steps, found);
      before = at;
    }
    return found;
  }

 private:
  void visit(const vector3& a, const vector3& b, double t, std::vector<std::int32_t>& found) const {
    const auto voxel =
        find_voxel(grid_, {std::lerp(a[0], b[0], t), std::lerp(a[1], b[1], t), std::lerp(a[2], b[2], t)});
    const std::int32_t label = voxel ? regions_.label[*voxel] : 0;
    if (label != 0 && (found.empty() || found.back() != label)) found.push_back(label);
  }

  const image_grid& grid_;
  grid_space space_;
  const label_image& regions_;
};

}  // namespace

touched_regions::touched_regions(const result_reader& r, const label_image& regions) {
  const region_walk walk(r.grid(), regions);
  const std::vector<std::uint64_t>& offsets = r.point_offsets();
  const std::uint64_t items = r.item_voxels().size();
  for (std::uint64_t first = 0, last = 0; first < items; first = last) {
    for (++last; last < items && offsets[last + 1] - offsets[first] <= points_at_once;) ++last;
    const std::vector<float> mm = r.read_points("position", offsets[first], offsets[last] - offsets[first]);
    for (std::uint64_t item = first; item < last; ++item) {
      std::vector<std::int32_t> labels = walk.find_labels(
          std::span(mm).subspan(3 * (offsets[item] - offsets[first]), 3 * (offsets[item + 1] - offsets[item])));
      std::sort(labels.begin(), labels.end());
      labels_.insert(labels_.end(), labels.begin(), std::unique(labels.begin(), labels.end()));
      first_.push_back(labels_.size());
    }
  }
}

}  // namespace voxherd::view
