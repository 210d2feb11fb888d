#include "src/scan/direction_check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/tensor/tensor_estimator.hpp"
#include "src/io/nifti/storage_order.hpp"
#include "src/scan/grid_space.hpp"

namespace voxherd {

namespace {

constexpr float min_FA = 0.2f;
constexpr std::size_t min_seeds = 500, max_seeds = 1000;

enum : std::uint8_t { outside, without_direction, with_direction };

/// Main directions of a block's voxels in FSL's frame.
struct direction_field {
  std::array<std::uint64_t, 3> size;
  vector3 voxel_mm;
  std::vector<vector3> main;
  std::vector<std::uint8_t> kind;
  std::vector<std::size_t> seeds;
};

/// A flip or swap of axes, or the change to another frame, as a matrix for directions in FSL's frame.
struct direction_change {
  std::string text;
  std::optional<direction_frame> frame;
  matrix3 matrix;
};

/// Component i of the new direction is sign[i] times component source[i].
std::string axis_text(const std::array<std::size_t, 3>& source, int negated) {
  constexpr const char* axes[] = {"x", "y", "z"};
  const auto moved = [&](std::size_t i) { return source[i] != i; };
  std::string swap;
  if (moved(0) && moved(1) && moved(2)) {
    swap = fmt::format("components in the order {}, {}, {}", axes[source[0]], axes[source[1]], axes[source[2]]);
  } else if (moved(0) || moved(1)) {
    swap = fmt::format("{} and {} swapped", axes[moved(0) ? 0 : 1], axes[moved(2) ? 2 : 1]);
  }
  if (negated < 0) return swap;
  return fmt::format("{}{}{} negated", swap, swap.empty() ? "" : ", then ", axes[negated]);
}

/// Six orders of the axes, each with none or one of them negated: negating all changes no axis. The identity first.
std::vector<direction_change> axis_changes() {
  std::vector<direction_change> changes;
  std::array<std::size_t, 3> order{0, 1, 2};
  do {
    for (int negated = -1; negated < 3; ++negated) {
      direction_change c{axis_text(order, negated), {}, {}};
      for (std::size_t i = 0; i < 3; ++i) c.matrix[3 * i + order[i]] = static_cast<int>(i) == negated ? -1 : 1;
      changes.push_back(c);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return changes;
}

/// Whether two changes turn axes alike; their directions may be opposite.
bool are_equal(const matrix3& a, const matrix3& b) {
  const auto differs = [&](double sign) {
    double most = 0;
    for (std::size_t i = 0; i < 9; ++i) most = std::max(most, std::abs(a[i] - sign * b[i]));
    return most > 1e-3;
  };
  return !differs(1) || !differs(-1);
}

/// Changes of a table in the frame `given`: its axes, and the other frames, of which some are among these.
std::vector<direction_change> all_changes(const image_grid& grid, direction_frame given) {
  const matrix3 to_fsl = frame_matrix(given, grid);
  std::vector<direction_change> changes = axis_changes();
  for (direction_change& c : changes) c.matrix = product(product(to_fsl, c.matrix), transposed(to_fsl));
  for (const direction_frame frame : {direction_frame::fsl, direction_frame::image, direction_frame::world}) {
    const matrix3 matrix = product(frame_matrix(frame, grid), transposed(to_fsl));
    const auto same = std::find_if(changes.begin(), changes.end(),
                                   [&](const direction_change& c) { return are_equal(c.matrix, matrix); });
    if (same == changes.end()) {
      changes.push_back({fmt::format("read along {}", frame_name(frame)), frame, matrix});
    } else if (!same->frame) {
      same->frame = frame;
    }
  }
  return changes;
}

/// `rows`: of the items at `places` of the block.
void fit_directions(const gradient_table& gradients, const std::vector<float>& rows,
                    const std::vector<std::uint64_t>& places, direction_field& field) {
  const std::size_t n = places.size();
  std::vector<float> FA(n), V1(3 * n);
  std::vector<std::uint8_t> status(n);
  output_arrays<tensor_estimator::outputs> out;
  out.set<"FA">(FA.data());
  out.set<"V1">(V1.data());
  out.set<"status">(status.data());
  make_voxelwise_solver(device{}, tensor_estimator(gradients, {.weighting = tensor_weighting::weighted}))
      ->fit(n, rows.data(), out);
  field.main.resize(field.size[0] * field.size[1] * field.size[2]);
  field.kind.assign(field.main.size(), outside);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t v = places[i];
    field.kind[v] = without_direction;
    if (status[i] != 0 || !(FA[i] >= min_FA && FA[i] <= 1)) continue;
    field.kind[v] = with_direction;
    for (std::size_t a = 0; a < 3; ++a) field.main[v][a] = static_cast<double>(V1[3 * i + a]);
    field.seeds.push_back(v);
  }
  const std::size_t every = field.seeds.size() / max_seeds + 1;
  if (field.seeds.size() < min_seeds) return field.seeds.clear();
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < field.seeds.size(); i += every) some.push_back(field.seeds[i]);
  field.seeds = std::move(some);
}

/// Lengths of streamlines, and their ends inside the object.
struct path_sums {
  double steps = 0, bad_ends = 0;

  double free_mm(double step_mm) const { return steps * step_mm / std::max(bad_ends, 1.0); }
};

/// Follows the directions of the nearest voxels through the block.
class short_tracker {
 public:
  /// `first_sign`: of the step along the first image axis for x in FSL's frame.
  short_tracker(const direction_field& field, const matrix3& change, double first_sign) : field_(field) {
    step_mm_ = *std::min_element(field.voxel_mm.begin(), field.voxel_mm.end()) / 2;
    for (const vector3& d : field.main) {
      main_.push_back(product(change, d));
      main_.back()[0] *= first_sign;
    }
    for (std::size_t a = 0; a < 3; ++a) step_[a] = step_mm_ / field.voxel_mm[a];
  }

  double step_mm() const { return step_mm_; }

  void follow(std::size_t seed, path_sums& sums) const {
    for (const double sign : {1.0, -1.0}) follow(seed, sign, sums);
  }

 private:
  /// The voxel of the block at a place in index coordinates; nothing outside.
  std::optional<std::size_t> find(const vector3& at) const {
    std::size_t voxel = 0;
    for (std::size_t a = 3; a-- > 0;) {
      const double nearest = std::floor(at[a] + 0.5);
      if (!(nearest >= 0 && nearest < static_cast<double>(field_.size[a]))) return std::nullopt;
      voxel = voxel * field_.size[a] + static_cast<std::size_t>(nearest);
    }
    return voxel;
  }

  void follow(std::size_t seed, double sign, path_sums& sums) const {
    constexpr int max_steps = 100;
    constexpr double min_cosine = 0.7071;  // 45 degrees from step to step
    const auto& n = field_.size;
    vector3 at{static_cast<double>(seed % n[0]), static_cast<double>(seed / n[0] % n[1]),
               static_cast<double>(seed / n[0] / n[1])};
    vector3 last = main_[seed];
    for (double& c : last) c *= sign;
    for (int steps = 0; steps < max_steps; ++steps) {
      const auto voxel = find(at);
      if (!voxel || field_.kind[*voxel] == outside) return;
      const vector3& next = main_[*voxel];
      const double cosine = last[0] * next[0] + last[1] * next[1] + last[2] * next[2];
      if (field_.kind[*voxel] == without_direction || std::fabs(cosine) < min_cosine) {
        ++sums.bad_ends;
        return;
      }
      ++sums.steps;
      for (std::size_t a = 0; a < 3; ++a) {
        last[a] = (cosine < 0 ? -1 : 1) * next[a];
        at[a] += last[a] * step_[a];
      }
    }
  }

  const direction_field& field_;
  std::vector<vector3> main_;
  double step_mm_ = 0;
  vector3 step_{};  ///< in voxels along each axis
};

/// Volumes that the tensor describes, at most 64 of them, evenly taken; all if these do not determine a tensor.
std::vector<std::uint32_t> choose_volumes(const gradient_table& gradients) {
  constexpr double max_b_s_per_mm2 = 1600;  // the tensor describes the signal up to about here
  constexpr std::size_t max_volumes = 64;
  std::vector<std::uint32_t> all(gradients.size()), low;
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  std::copy_if(all.begin(), all.end(), std::back_inserter(low),
               [&](std::uint32_t k) { return gradients.b_s_per_mm2[k] <= max_b_s_per_mm2; });
  for (const std::vector<std::uint32_t>& from : {low, all}) {
    if (!determines_tensor(choose_gradients(gradients, from))) continue;
    std::vector<std::uint32_t> some;
    for (std::size_t i = 0; i < max_volumes && i < from.size(); ++i)
      some.push_back(from[i * std::max(from.size(), max_volumes) / max_volumes]);
    return determines_tensor(choose_gradients(gradients, some)) ? some : from;
  }
  return {};
}

}  // namespace

direction_check::direction_check(const image_grid& grid, const gradient_table& gradients, direction_frame given,
                                 std::span<const std::uint64_t> object)
    : grid_(grid), given_(given), volumes_(choose_volumes(gradients)) {
  constexpr std::uint64_t max_voxels = 20000;
  gradients_ = choose_gradients(gradients, volumes_);
  if (volumes_.empty() || object.empty()) return;

  vector3 centre{};
  const auto& n = grid.size;
  for (const std::uint64_t v : object) {
    const vector3 at = voxel_position(grid, v);
    for (std::size_t a = 0; a < 3; ++a) centre[a] += at[a] / static_cast<double>(object.size());
  }
  for (std::size_t a = 0; a < 3; ++a) size_[a] = n[a];
  while (size_[0] * size_[1] * size_[2] > max_voxels) --*std::max_element(size_.begin(), size_.end());
  std::array<std::uint64_t, 3> first{};
  for (std::size_t a = 0; a < 3; ++a)
    first[a] = static_cast<std::uint64_t>(
        std::clamp(centre[a] - static_cast<double>(size_[a]) / 2, 0.0, static_cast<double>(n[a] - size_[a])));
  for (std::uint64_t i = 0; i < object.size(); ++i) {
    const std::uint64_t x = object[i] % n[0] - first[0], y = object[i] / n[0] % n[1] - first[1],
                        z = object[i] / (n[0] * n[1]) - first[2];
    if (x >= size_[0] || y >= size_[1] || z >= size_[2]) continue;  // also before the first, by wrapping around
    items_.push_back(i);
    places_.push_back(x + size_[0] * (y + size_[1] * z));
  }
  rows_.resize(items_.size() * volumes_.size());
}

std::vector<direction_score> direction_check::scores() const {
  std::vector<direction_score> scores;
  if (items_.size() < min_seeds) return scores;
  direction_field field{size_, {grid_.voxel_size_mm[0], grid_.voxel_size_mm[1], grid_.voxel_size_mm[2]}, {}, {}, {}};
  fit_directions(gradients_, rows_, places_, field);
  if (field.seeds.empty()) return scores;
  // FSL's bvecs are along the image axes, the first one reversed if the determinant is positive.
  const double first_sign = is_right_handed(grid_) ? -1 : 1;
  for (const direction_change& change : all_changes(grid_, given_)) {
    const short_tracker tracker(field, change.matrix, first_sign);
    std::array<path_sums, 2> half;
    for (std::size_t i = 0; i < field.seeds.size(); ++i)
      tracker.follow(field.seeds[i], half[2 * i / field.seeds.size()]);
    const path_sums all{half[0].steps + half[1].steps, half[0].bad_ends + half[1].bad_ends};
    const double step = tracker.step_mm();
    scores.push_back({change.text, change.frame, all.free_mm(step), {half[0].free_mm(step), half[1].free_mm(step)}});
  }
  std::stable_sort(scores.begin() + 1, scores.end(),
                   [](const direction_score& a, const direction_score& b) { return a.free_mm > b.free_mm; });
  return scores;
}

std::optional<direction_score> find_better(const std::vector<direction_score>& scores, const image_grid& grid) {
  // Right tables have ratios of 0.6 to 0.85 in the middle of brains, up to 1.02 in phantoms, and up to 1.1 in small
  // blocks with noise, where paths end after three voxels. Mirrored tables have 1.15 to 2.6, over paths of 4 to 25
  // voxels. A half of the seeds may have no preference, but not the opposite one.
  constexpr double min_ratio = 1.12, min_half_ratio = 0.95, min_voxels = 3.8;
  if (scores.size() < 2) return std::nullopt;
  const direction_score &given = scores[0], &best = scores[1];
  const auto& mm = grid.voxel_size_mm;
  const bool is_better = best.free_mm > min_ratio * given.free_mm &&
                         best.half_free_mm[0] > min_half_ratio * given.half_free_mm[0] &&
                         best.half_free_mm[1] > min_half_ratio * given.half_free_mm[1] &&
                         best.free_mm > min_voxels * std::min({mm[0], mm[1], mm[2]});
  return is_better ? std::optional(best) : std::nullopt;
}

std::string describe_better(const direction_score& better, const direction_score& given) {
  const std::string frame = !better.frame || better.change.starts_with("read")
                                ? ""
                                : fmt::format(", as if read along {}", frame_name(*better.frame));
  return fmt::format(
      "the directions do not fit the image: streamlines turn sharply or leave white matter after {:.1f} mm, but after "
      "{:.1f} mm with {}{}",
      given.free_mm, better.free_mm, better.change, frame);
}

std::string frame_advice(const direction_score& better, direction_frame given) {
  return better.frame && given != direction_frame::world
             ? fmt::format(", or read it so (--bvecs-frame {})", frame_word(*better.frame))
             : "";
}

}  // namespace voxherd
