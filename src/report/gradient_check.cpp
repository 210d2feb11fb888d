#include "src/report/gradient_check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/tensor/tensor_estimator.hpp"
#include "src/scan/gradients.hpp"
#include "src/scan/grid_space.hpp"

namespace voxherd::report {

namespace {

using direction = std::array<double, 3>;

constexpr float min_FA = 0.2f;
constexpr std::size_t min_seeds = 50, max_seeds = 3000;

/// Main directions of the voxels of a block in the frame of the bvecs; a zero vector outside white matter.
struct direction_field {
  std::array<std::uint64_t, 3> size;
  direction voxel_mm;
  std::vector<direction> main;
  std::vector<std::size_t> seeds;
};

/// A flip or swap of axes: component i of the new direction is sign[i] times component source[i].
struct axis_change {
  std::array<std::size_t, 3> source;
  std::array<double, 3> sign;

  direction operator()(const direction& d) const {
    return {sign[0] * d[source[0]], sign[1] * d[source[1]], sign[2] * d[source[2]]};
  }

  std::string text() const {
    constexpr const char* axes[] = {"x", "y", "z"};
    const auto moved = [&](std::size_t i) { return source[i] != i; };
    std::string swap;
    if (moved(0) && moved(1) && moved(2)) {
      swap = fmt::format("components in the order {}, {}, {}", axes[source[0]], axes[source[1]], axes[source[2]]);
    } else if (moved(0) || moved(1)) {
      swap = fmt::format("{} and {} swapped", axes[moved(0) ? 0 : 1], axes[moved(2) ? 2 : 1]);
    }
    for (std::size_t i = 0; i < 3; ++i)
      if (sign[i] < 0) return fmt::format("{}{}{} negated", swap, swap.empty() ? "" : ", then ", axes[i]);
    return swap;
  }
};

/// Six orders of the axes, each with none or one of them negated: negating all changes no axis. The identity first.
std::vector<axis_change> all_changes() {
  std::vector<axis_change> changes;
  std::array<std::size_t, 3> order{0, 1, 2};
  do {
    for (int negated = -1; negated < 3; ++negated) {
      axis_change c{order, {1, 1, 1}};
      if (negated >= 0) c.sign[static_cast<std::size_t>(negated)] = -1;
      changes.push_back(c);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return changes;
}

/// `field`: its size and voxels are known.
void fit_directions(const gradient_table& gradients, const std::vector<float>& rows,
                    const std::vector<std::uint8_t>& inside, direction_field& field) {
  const std::size_t n = inside.size();
  std::vector<float> FA(n), V1(3 * n);
  std::vector<std::uint8_t> status(n);
  output_arrays<tensor_estimator::outputs> out;
  out.set<"FA">(FA.data());
  out.set<"V1">(V1.data());
  out.set<"status">(status.data());
  make_voxelwise_solver(device{}, tensor_estimator(gradients, {.weighting = tensor_weighting::weighted}))
      ->fit(n, rows.data(), out);
  field.main.resize(n);
  for (std::size_t v = 0; v < n; ++v) {
    if (status[v] != 0 || inside[v] == 0 || FA[v] < min_FA || FA[v] > 1) continue;
    for (std::size_t a = 0; a < 3; ++a) field.main[v][a] = static_cast<double>(V1[3 * v + a]);
    field.seeds.push_back(v);
  }
  const std::size_t every = field.seeds.size() / max_seeds + 1;
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < field.seeds.size(); i += every) some.push_back(field.seeds[i]);
  field.seeds = std::move(some);
}

/// Follows the directions of the nearest voxels through the block.
class short_tracker {
 public:
  /// `first_sign`: of the step along the first image axis for a bvec's x.
  short_tracker(const direction_field& field, const axis_change& change, double first_sign) : size_(field.size) {
    step_mm_ = *std::min_element(field.voxel_mm.begin(), field.voxel_mm.end()) / 2;
    for (const direction& d : field.main) {
      direction one = change(d);
      one[0] *= first_sign;
      main_.push_back(one);
    }
    for (std::size_t a = 0; a < 3; ++a) step_[a] = step_mm_ / field.voxel_mm[a];
  }

  double length_mm(std::size_t seed) const { return step_mm_ * (count_steps(seed, 1) + count_steps(seed, -1)); }

 private:
  /// The direction at a place of the block in index coordinates; null outside white matter.
  const direction* look_at(const direction& at) const {
    std::size_t voxel = 0;
    for (std::size_t a = 3; a-- > 0;) {
      const double nearest = std::floor(at[a] + 0.5);
      if (!(nearest >= 0 && nearest < static_cast<double>(size_[a]))) return nullptr;
      voxel = voxel * size_[a] + static_cast<std::size_t>(nearest);
    }
    const direction& d = main_[voxel];
    return d[0] == 0 && d[1] == 0 && d[2] == 0 ? nullptr : &d;
  }

  int count_steps(std::size_t seed, double sign) const {
    constexpr int max_steps = 100;
    constexpr double min_cosine = 0.7071;  // 45 degrees from step to step
    direction at{static_cast<double>(seed % size_[0]), static_cast<double>(seed / size_[0] % size_[1]),
                 static_cast<double>(seed / size_[0] / size_[1])};
    direction last = main_[seed];
    for (double& c : last) c *= sign;
    for (int steps = 0; steps < max_steps; ++steps) {
      const direction* next = look_at(at);
      if (next == nullptr) return steps;
      const double cosine = last[0] * (*next)[0] + last[1] * (*next)[1] + last[2] * (*next)[2];
      if (std::fabs(cosine) < min_cosine) return steps;
      for (std::size_t a = 0; a < 3; ++a) {
        last[a] = (cosine < 0 ? -1 : 1) * (*next)[a];
        at[a] += last[a] * step_[a];
      }
    }
    return max_steps;
  }

  std::array<std::uint64_t, 3> size_;
  std::vector<direction> main_;
  double step_mm_ = 0;
  direction step_{};  ///< in voxels along each axis
};

}  // namespace

gradient_check::gradient_check(const image_grid& grid, const gradient_table& gradients,
                               const std::vector<std::uint64_t>& object)
    : grid_(grid) {
  constexpr double max_b_s_per_mm2 = 1600;  // the tensor describes the signal up to about here
  constexpr std::uint64_t max_voxels = 30000;
  for (std::uint32_t k = 0; k < gradients.size(); ++k)
    if (gradients.b_s_per_mm2[k] <= max_b_s_per_mm2) volumes_.push_back(k);
  if (!determines_tensor(choose_gradients(gradients, volumes_))) {
    volumes_.resize(gradients.size());
    std::iota(volumes_.begin(), volumes_.end(), std::uint32_t{0});
  }
  gradients_ = choose_gradients(gradients, volumes_);
  if (!determines_tensor(gradients_)) return;

  direction centre{};
  const auto& n = grid.size;
  for (const std::uint64_t v : object) {
    const std::uint64_t at[] = {v % n[0], v / n[0] % n[1], v / n[0] / n[1]};
    for (std::size_t a = 0; a < 3; ++a) centre[a] += static_cast<double>(at[a]) / static_cast<double>(object.size());
  }
  for (std::size_t a = 0; a < 3; ++a) size_[a] = n[a];
  while (size_[0] * size_[1] * size_[2] > max_voxels) --*std::max_element(size_.begin(), size_.end());
  std::array<std::uint64_t, 3> first{};
  for (std::size_t a = 0; a < 3; ++a)
    first[a] = static_cast<std::uint64_t>(
        std::clamp(centre[a] - static_cast<double>(size_[a]) / 2, 0.0, static_cast<double>(n[a] - size_[a])));
  for (std::uint64_t z = 0; z < size_[2]; ++z)
    for (std::uint64_t y = 0; y < size_[1]; ++y)
      for (std::uint64_t x = 0; x < size_[0]; ++x)
        voxels_.push_back(first[0] + x + n[0] * (first[1] + y + n[1] * (first[2] + z)));
  for (const std::uint64_t v : voxels_) inside_.push_back(std::binary_search(object.begin(), object.end(), v) ? 1 : 0);
  rows_.resize(voxels_.size() * volumes_.size());
}

void gradient_check::add(std::uint64_t number, const std::vector<float>& volume) {
  const auto found = std::lower_bound(volumes_.begin(), volumes_.end(), number);
  if (found == volumes_.end() || *found != number) return;
  const auto column = static_cast<std::size_t>(found - volumes_.begin());
  for (std::size_t i = 0; i < voxels_.size(); ++i) rows_[i * volumes_.size() + column] = volume[voxels_[i]];
}

std::vector<table_score> gradient_check::scores() const {
  std::vector<table_score> scores;
  if (voxels_.empty()) return scores;
  direction_field field{size_, {grid_.voxel_size_mm[0], grid_.voxel_size_mm[1], grid_.voxel_size_mm[2]}, {}, {}};
  fit_directions(gradients_, rows_, inside_, field);
  if (field.seeds.size() < min_seeds) return scores;
  // FSL's bvecs are along the image axes, the first one reversed if the determinant is positive.
  const double first_sign = is_right_handed(grid_) ? -1 : 1;
  for (const axis_change& change : all_changes()) {
    const short_tracker tracker(field, change, first_sign);
    double sum = 0;
    for (const std::size_t seed : field.seeds) sum += tracker.length_mm(seed);
    scores.push_back({change.text(), sum / static_cast<double>(field.seeds.size())});
  }
  std::stable_sort(scores.begin() + 1, scores.end(),
                   [](const table_score& a, const table_score& b) { return a.length_mm > b.length_mm; });
  return scores;
}

}  // namespace voxherd::report
