#include "src/scan/label_lookup.hpp"

#include <algorithm>
#include <cmath>

#include "src/scan/grid_space.hpp"

namespace voxherd {

namespace {

/// Maps index coordinates of one grid to those of another.
struct crossing {
  crossing(const image_grid& from, const image_grid& to) {
    const grid_space a(from), b(to);
    turn = product(b.inverse_axes, a.axes_mm);
    shift = b.to_index(a.origin_mm);
  }
  vector3 operator()(const vector3& p) const {
    vector3 q = shift;
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t c = 0; c < 3; ++c) q[r] += turn[3 * r + c] * p[c];
    return q;
  }
  matrix3 turn;
  vector3 shift;
};

class label_sampler {
 public:
  label_sampler(const std::vector<std::int32_t>& labels, const image_grid& of) : labels_(labels), size_(of.size) {}

  /// The label of the voxel that contains the point; 0 outside the image.
  std::int32_t operator()(const vector3& index) const {
    std::uint64_t linear = 0;
    for (std::size_t axis = 3; axis-- > 0;) {
      // Halfway points belong to the upper voxel; the offset makes this robust against rounding.
      const double nearest = std::floor(index[axis] + 0.5 + 1e-6);
      if (!(nearest >= 0 && nearest < static_cast<double>(size_[axis]))) return 0;
      linear = linear * size_[axis] + static_cast<std::uint64_t>(nearest);
    }
    return labels_[linear];
  }

 private:
  const std::vector<std::int32_t>& labels_;
  std::array<std::uint64_t, 3> size_;
};

/// Sorts the samples and returns the most frequent one.
std::int32_t mode(std::vector<std::int32_t>& samples) {
  std::sort(samples.begin(), samples.end());
  std::int32_t best = 0;
  std::size_t best_count = 0;
  for (std::size_t i = 0; i < samples.size();) {
    std::size_t end = i;
    while (end < samples.size() && samples[end] == samples[i]) ++end;
    if (end - i > best_count) {
      best_count = end - i;
      best = samples[i];
    }
    i = end;
  }
  return best;
}

}  // namespace

std::array<int, 3> samples_per_axis(const image_grid& grid, const image_grid& labels) {
  const double side = *std::min_element(labels.voxel_size_mm.begin(), labels.voxel_size_mm.end());
  std::array<int, 3> n{};
  constexpr double slack = 0.05;  // 2.02 mm over 1 mm gives two, not three
  for (std::size_t axis = 0; axis < 3; ++axis)
    n[axis] = static_cast<int>(std::clamp(std::ceil(grid.voxel_size_mm[axis] / side - slack), 1.0, 10.0));
  return n;
}

std::vector<std::int32_t> look_up(const std::vector<std::int32_t>& labels, const image_grid& of, const image_grid& grid,
                                  std::uint64_t& mostly_none) {
  const label_sampler label_at(labels, of);
  const crossing to_labels(grid, of);
  const std::array<int, 3> n = samples_per_axis(grid, of);
  std::vector<vector3> offsets;
  for (int k = 0; k < n[2]; ++k)
    for (int j = 0; j < n[1]; ++j)
      for (int i = 0; i < n[0]; ++i)
        offsets.push_back({(i + 0.5) / n[0] - 0.5, (j + 0.5) / n[1] - 0.5, (k + 0.5) / n[2] - 0.5});

  std::vector<std::int32_t> found(grid.voxel_count());
  std::vector<std::int32_t> samples;
  mostly_none = 0;
  for (std::uint64_t v = 0; v < found.size(); ++v) {
    const std::array<std::uint64_t, 3> at = {v % grid.size[0], v / grid.size[0] % grid.size[1],
                                             v / (grid.size[0] * grid.size[1])};
    samples.clear();
    for (const vector3& o : offsets) {
      const std::int32_t label = label_at(to_labels(
          {static_cast<double>(at[0]) + o[0], static_cast<double>(at[1]) + o[1], static_cast<double>(at[2]) + o[2]}));
      if (label > 0) samples.push_back(label);
    }
    if (samples.empty()) continue;
    mostly_none += 2 * samples.size() < offsets.size() ? 1 : 0;
    found[v] = mode(samples);
  }
  return found;
}

}  // namespace voxherd
