#include "src/analyses/connect/joining.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace voxherd {

namespace {

/// Voxels are added in the order of excess. A part keeps its voxels in a list until it touches both regions.
class levels {
 public:
  levels(const connect::region_list& regions, const voxel_neighbours& space, std::size_t voxels)
      : space_(space), sets_(voxels), parts_(voxels), next_(voxels), level_(voxels, never) {
    for (std::size_t r = 0; r < 2; ++r)
      for (std::uint64_t i = regions.offsets[r]; i < regions.offsets[r + 1]; ++i)
        parts_[regions.voxels[i]].touches |= 1u << r;
  }

  void add(std::uint32_t voxel, float excess) {
    parts_[voxel].first = parts_[voxel].last = voxel;
    next_[voxel] = voxel;
    space_.each(voxel, 26, [&](std::uint32_t other) {
      if (parts_[sets_.root(other)].touches & added) join(sets_.root(voxel), sets_.root(other));
    });
    part& own = parts_[sets_.root(voxel)];
    own.touches |= added;
    if ((own.touches & both) != both) return;
    for (std::uint32_t v = own.first; own.is_waiting; v = next_[v]) {
      level_[v] = excess;
      if (v == own.last) own.is_waiting = false;
    }
  }

  std::vector<float> take() { return std::move(level_); }

 private:
  static constexpr float never = std::numeric_limits<float>::infinity();
  static constexpr std::uint32_t both = 3, added = 4;

  struct part {
    std::uint32_t touches = 0;          ///< bits: region from, region to, added
    std::uint32_t first = 0, last = 0;  ///< of its voxels without a level
    bool is_waiting = true;             ///< has such voxels
  };

  void join(std::uint32_t one, std::uint32_t two) {
    if (one == two) return;
    const part a = parts_[one], b = parts_[two];
    part sum{a.touches | b.touches, a.first, a.last, a.is_waiting || b.is_waiting};
    if (a.is_waiting && b.is_waiting) {
      next_[a.last] = b.first;
      sum.last = b.last;
    } else if (b.is_waiting) {
      sum.first = b.first;
      sum.last = b.last;
    }
    parts_[sets_.join(one, two)] = sum;
  }

  const voxel_neighbours& space_;
  disjoint_sets sets_;
  std::vector<part> parts_;
  std::vector<std::uint32_t> next_;  ///< voxel of the same part
  std::vector<float> level_;
};

}  // namespace

std::vector<float> joining_levels(const pathway& p, const connect::region_list& regions, const voxel_neighbours& space,
                                  double largest_epsilon) {
  const double limit = (1 + largest_epsilon) * (1 + p.cost.joining_excess) - 1;
  std::vector<std::uint32_t> order;
  for (std::uint32_t v = 0; v < p.excess.size(); ++v)
    if (std::isfinite(p.excess[v]) && p.excess[v] <= limit) order.push_back(v);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return p.excess[a] < p.excess[b]; });
  levels l(regions, space, p.excess.size());
  for (const std::uint32_t v : order) l.add(v, p.excess[v]);
  return l.take();
}

}  // namespace voxherd
