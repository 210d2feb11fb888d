#include "tests/track/reference/track_reference.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "kernels/portable/draws.hpp"

namespace voxherd::track {

namespace {

using vector = std::array<double, 3>;
using cell = std::array<long, 3>;

double product(const vector& a, const vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
vector negative(const vector& a) { return {-a[0], -a[1], -a[2]}; }
double share_of_word(std::uint32_t word) { return (word >> 8) / 16777216.0; }

struct fibre {
  vector axis;
  double fraction;
  std::uint32_t number;
};

class drawing {
 public:
  drawing(const track_case& c, const seed& from, std::uint32_t number)
      : c_(c), from_(from), number_(number), space_(c.view().space) {}

  reference_streamline run() {
    reference_streamline s;
    seed_start_ = draw_start();
    start_ = c_.mask_voxels.empty() ? seed_start_ : map(space_.to_samples, seed_start_);
    s.half[0].passed.assign(c_.how.includes, false);
    follow(0, s.half[0]);
    const fate first = judge_half(s.half[0]);
    const bool forgotten = s.half[0].excluded || (c_.how.ordered && s.half[0].out_of_order);
    s.half[1].passed = forgotten || c_.how.each_half ? std::vector<bool>(c_.how.includes) : s.half[0].passed;
    follow(1, s.half[1]);
    const fate second = judge_half(s.half[1]);
    s.counted[1] = second == fate::yes;
    s.counted[0] = first == fate::yes || (first == fate::later && second == fate::yes);
    return s;
  }

 private:
  enum class fate { no, later, yes };

  std::array<std::uint32_t, 4> words(int half, std::uint32_t what, std::size_t step) const {
    const std::uint64_t place =
        static_cast<std::uint64_t>(number_) << 32 | step << 3 | static_cast<std::uint64_t>(half) << 2 | what;
    const philox4x32_ctr_t w = draw_words(c_.how.random_seed, from_.index, place);
    return {w.v[0], w.v[1], w.v[2], w.v[3]};
  }

  vector draw_start() const {
    vector offset{};
    for (std::size_t attempt = 0; c_.how.random_start; ++attempt) {
      const auto w = words(0, 2, attempt);
      for (std::size_t d = 0; d < 3; ++d) offset[d] = 2 * share_of_word(w[d]) - 1;
      if (product(offset, offset) <= 1) break;
    }
    for (std::size_t d = 0; d < 3; ++d)
      offset[d] = offset[d] * static_cast<double>(c_.how.radius_voxels[d]) + static_cast<double>(from_.position[d]);
    return offset;
  }

  voxel_info look(long x, long y, long z) const {
    if (x < 0 || y < 0 || z < 0 || x >= c_.size[0] || y >= c_.size[1] || z >= c_.size[2]) return {-1, 0};
    return c_.voxels[c_.index(static_cast<int>(x), static_cast<int>(y), static_cast<int>(z))];
  }
  voxel_info at(const vector& p) const { return look(std::lround(p[0]), std::lround(p[1]), std::lround(p[2])); }

  /// A map with the displacement between the eight points around, weighted by the volumes opposite them.
  static vector map(const point_warp& warp, const vector& p) {
    const auto affine = [&](const point_map& m, std::size_t d) {
      double sum = static_cast<double>(m.rows[d][3]);
      for (std::size_t k = 0; k < 3; ++k) sum += static_cast<double>(m.rows[d][k]) * p[k];
      return sum;
    };
    vector to = {affine(warp.affine, 0), affine(warp.affine, 1), affine(warp.affine, 2)};
    const auto& n = warp.field.size;
    for (std::size_t corner = 0; corner < 8; ++corner) {
      double weight = 1;
      long at[3];
      for (std::size_t d = 0; d < 3; ++d) {
        const double x = affine(warp.field.to_field, d), low = std::floor(x);
        at[d] = static_cast<long>(low) + static_cast<long>(corner >> d & 1);
        weight *= (corner >> d & 1) != 0 ? x - low : 1 - (x - low);
        if (at[d] < 0 || at[d] >= n[d]) weight = 0;
      }
      if (weight == 0) continue;
      const displacement& v = warp.field.values[(at[2] * n[1] + at[1]) * n[0] + at[0]];
      for (std::size_t d = 0; d < 3; ++d) to[d] += weight * static_cast<double>(v.along[d]);
    }
    return to;
  }

  /// Point number n of a half in the image of the masks.
  vector seed_point(const vector& p, std::size_t n) const {
    if (c_.mask_voxels.empty()) return p;
    return n == 0 ? seed_start_ : map(space_.to_seeds, p);
  }
  voxel_info masks_at(const vector& q) const {
    if (c_.mask_voxels.empty()) return at(q);
    const long x = std::lround(q[0]), y = std::lround(q[1]), z = std::lround(q[2]);
    if (x < 0 || y < 0 || z < 0 || x >= c_.size[0] || y >= c_.size[1] || z >= c_.size[2]) return {-1, 0};
    return c_.mask_voxels[c_.index(static_cast<int>(x), static_cast<int>(y), static_cast<int>(z))];
  }

  std::optional<std::vector<fibre>> draw_fibres(const vector& p, int half, std::uint32_t what, std::size_t step) const {
    const auto w = words(half, what, step);
    long v[3];
    for (std::size_t d = 0; d < 3; ++d)
      v[d] = static_cast<long>(std::floor(p[d])) + (share_of_word(w[d]) < p[d] - std::floor(p[d]) ? 1 : 0);
    const voxel_info drawn = look(v[0], v[1], v[2]);
    if ((drawn.marks & mark::inside) == 0) return {};
    const double u = w[3] / 4294967296.0, n = c_.how.samples;
    const auto sample =
        static_cast<std::size_t>(c_.how.half_weight_ends ? std::floor(u * (n - 1) + 0.5) : std::floor(u * n));
    std::vector<fibre> all;
    for (std::size_t k = 0; k < static_cast<std::size_t>(c_.how.fibres); ++k) {
      const packed_fibre& f = c_.fibres[(static_cast<std::size_t>(drawn.place) * static_cast<std::size_t>(n) + sample) *
                                            static_cast<std::size_t>(c_.how.fibres) +
                                        k];
      all.push_back(
          {{f.x / 32767.0, f.y / 32767.0, f.z / 32767.0}, f.fraction / 65535.0, static_cast<std::uint32_t>(k)});
    }
    return all;
  }

  fibre choose(const std::vector<fibre>& all, bool first, const vector& travel, std::uint32_t word) const {
    std::vector<fibre> above;
    for (const fibre& f : all)
      if (f.fraction > c_.how.min_fraction / 65535.0) above.push_back(f);
    if (first && c_.how.start_fibre > 0) return all[static_cast<std::size_t>(c_.how.start_fibre) - 1];
    if (all.size() == 1) return all[0];
    if (!first) {
      if (above.empty()) return all[0];
      return *std::max_element(above.begin(), above.end(), [&](const fibre& a, const fibre& b) {
        return std::abs(product(a.axis, travel)) < std::abs(product(b.axis, travel));
      });
    }
    const double u = word / 4294967296.0;
    const auto number = [&](std::size_t n) { return static_cast<std::size_t>(u * static_cast<double>(n)); };
    if (c_.how.first == first_fibre::any) return all[number(all.size())];
    if (c_.how.first == first_fibre::strongest || above.empty()) return all[0];
    if (c_.how.first == first_fibre::equal) return above[number(above.size())];
    double total = 0;
    for (const fibre& f : above) total += f.fraction;
    double left = u * total;
    for (const fibre& f : above) {
      if (left < f.fraction) return f;
      left -= f.fraction;
    }
    return above.back();
  }

  /// The direction of the next step; none: the half ends here.
  std::optional<vector> next_direction(const std::vector<fibre>& all, int half, std::size_t step,
                                       const std::optional<vector>& travel, std::uint32_t& number) const {
    const auto w = words(half, 1, step);
    const fibre f = choose(all, step == 0, travel.value_or(vector{}), w[0]);
    number = f.number;
    if (f.axis == vector{}) return {};
    if (c_.how.stop_by_fraction && std::lround(f.fraction * 65535) <= static_cast<long>(w[2] >> 16)) return {};
    if (!travel) return w[1] >> 31 != 0 ? negative(f.axis) : f.axis;
    const double turn = product(f.axis, *travel);
    if (std::abs(turn) * 32767.0 * 32767.0 <= c_.how.min_dot + 1e-3) return {};
    return turn < 0 ? negative(f.axis) : f.axis;
  }

  /// The mean of a direction and that of a sample one step ahead.
  vector mean_with_next(const vector& p, const vector& next, int half, std::size_t step, const vector& travel) const {
    vector ahead = p;
    for (std::size_t d = 0; d < 3; ++d) ahead[d] += next[d] * 32767.0 * static_cast<double>(c_.how.step_voxels[d]);
    const auto fibres = draw_fibres(ahead, half, 3, step);
    vector there{};
    if (fibres) there = choose(*fibres, step == 0, travel, words(half, 1, step)[3]).axis;
    if (there == vector{} && c_.how.averaging == step_mean::with_axis) there = {0, 0, 1};
    if (there == vector{}) return next;
    if (product(there, next) < 0) there = negative(there);
    vector mean{};
    for (std::size_t d = 0; d < 3; ++d) mean[d] = next[d] + there[d];
    const double length = std::sqrt(product(mean, mean));
    for (double& m : mean) m = std::round(m / length * 32767) / 32767;
    return mean;
  }

  void test_masks(std::uint32_t marks, bool is_start, reference_half& h) const {
    if ((marks & mark::exclude) != 0 && !(is_start && c_.how.ignore_first_step)) h.excluded = true;
    if (is_start) return;
    for (std::size_t k = 0; k < h.passed.size(); ++k) {
      if ((marks >> (mark::first_include + static_cast<int>(k)) & 1u) == 0) continue;
      for (std::size_t before = 0; before < k; ++before) h.out_of_order = h.out_of_order || !h.passed[before];
      h.passed[k] = true;
    }
  }

  std::uint32_t exits_at(const vector& p) const {
    return c_.exits.empty() ? 0 : c_.exits[static_cast<std::size_t>(masks_at(p).place)];
  }

  /// Whether the last point of a half is the first one after a stay in a mask; a stay that began at the seed may end.
  bool has_left_a_mask(const std::vector<vector>& points) const {
    if (points.size() < 3) return false;
    for (std::uint32_t bit = 1; bit != 0; bit <<= 1) {
      if ((exits_at(points.back()) & bit) != 0 || (exits_at(points[points.size() - 2]) & bit) == 0) continue;
      std::size_t first = points.size() - 2;
      while (first > 0 && (exits_at(points[first - 1]) & bit) != 0) --first;
      if (first > 0) return true;
    }
    return false;
  }

  void follow(int half, reference_half& h) {
    std::optional<vector> travel;
    if (half == 1 && first_) travel = negative(*first_);
    std::map<cell, vector> cells;
    std::uint32_t exits = 0;
    vector p = start_;
    std::uint32_t number = 0;
    for (std::size_t n = 0; n < static_cast<std::size_t>(c_.how.max_points); ++n) {
      if (n > 0 && (at(h.points.back()).marks & mark::inside) == 0) return;
      if (n > 0 && c_.how.loop_check) {
        const cell here = {static_cast<long>(std::floor(p[0] / 5 + 0.5)), static_cast<long>(std::floor(p[1] / 5 + 0.5)),
                           static_cast<long>(std::floor(p[2] / 5 + 0.5))};
        if (cells.count(here) > 0 && product(cells[here], *travel) < 0) return;
        cells[here] = *travel;
      }
      const vector q = seed_point(p, n);
      const voxel_info here = masks_at(q);
      const crossed_surfaces crossed =
          n == 0 || !c_.mesh ? crossed_surfaces() : find_crossed(*c_.mesh, h.seed_points.back(), q);
      const std::uint32_t marks = here.marks | crossed.marks;
      h.points.push_back(p);
      h.seed_points.push_back(q);
      h.fibres.push_back(number);
      test_masks(marks, n == 0, h);
      if (has_left_a_mask(h.seed_points) || (exits & crossed.exits) != 0) {
        h.points.pop_back();
        h.seed_points.pop_back();
        h.fibres.pop_back();
        return;
      }
      exits |= crossed.exits;
      const std::uint32_t region = here.marks >> mark::region;
      if (n > 0 && region != 0 && region != from_.region) h.other_region = true;
      if (n > (c_.how.ignore_first_step ? 1 : 0) && (marks & mark::stop) != 0) return;
      if ((at(p).marks & mark::inside) == 0) return;
      const auto fibres = draw_fibres(p, half, 0, n);
      if (!fibres) return;
      auto next = next_direction(*fibres, half, n, travel, number);
      if (next && c_.how.averaging != step_mean::none)
        next = mean_with_next(p, *next, half, n, travel.value_or(vector{}));
      if (!next) return;
      if (half == 0 && n == 0) first_ = next;
      travel = next;
      for (std::size_t d = 0; d < 3; ++d) p[d] += (*next)[d] * 32767.0 * static_cast<double>(c_.how.step_voxels[d]);
    }
  }

  fate judge_half(const reference_half& h) const {
    const walk_settings& how = c_.how;
    if (h.excluded || static_cast<std::int32_t>(h.points.size()) - 1 < how.min_steps) return fate::no;
    if (how.connectome && !h.other_region) return fate::no;
    if (how.includes == 0) return fate::yes;
    const auto passed = static_cast<std::uint32_t>(std::count(h.passed.begin(), h.passed.end(), true));
    if (passed == 0 || (how.ordered && h.out_of_order)) return fate::no;
    if (how.rule == include_rule::one || passed == how.includes) return fate::yes;
    return how.each_half ? fate::no : fate::later;
  }

  const track_case& c_;
  const seed& from_;
  std::uint32_t number_;
  seed_space space_;
  vector start_{}, seed_start_{};
  std::optional<vector> first_;
};

}  // namespace

reference_streamline draw_reference(const track_case& c, const seed& from, std::uint32_t number) {
  return drawing(c, from, number).run();
}

namespace {

/// Adds what one streamline of seed number `seed_number` visits.
class reference_counter {
 public:
  reference_counter(const track_case& c, std::size_t seed_number, case_counts& sums)
      : c_(c), own_(c.seeds[seed_number].region), row_(c.row(seed_number) * c.columns()), sums_(sums) {}

  void add(const reference_half& h) {
    for (std::size_t n = 0; n < h.points.size(); ++n) {
      const auto& p = h.seed_points[n];
      if (n == 1 && start_) add_direction(*std::exchange(start_, std::nullopt), h.points, 1);
      if (is_outside(p)) continue;
      const std::size_t v = c_.index(static_cast<int>(std::lround(p[0])), static_cast<int>(std::lround(p[1])),
                                     static_cast<int>(std::lround(p[2])));
      if (n > 0) add_hits(v, n);
      if (n > 0 && c_.mesh)
        for (const std::uint32_t target : find_crossed(*c_.mesh, h.seed_points[n - 1], p).targets) hit(target, n);
      if (!visited_.insert(v).second) continue;
      ++sums_.density[v], sums_.length[v] += n;
      if (n > 0) add_direction(v, h.points, n);
      if (n == 0) start_ = v;
    }
  }

 private:
  bool is_outside(const std::array<double, 3>& p) const {
    bool outside = false;
    for (std::size_t d = 0; d < 3; ++d) outside |= std::lround(p[d]) < 0 || std::lround(p[d]) >= c_.size[d];
    return outside;
  }

  void add_hits(std::size_t v, std::size_t n) {
    std::vector<std::uint32_t> columns;
    const std::uint32_t region = (c_.mask_voxels.empty() ? c_.voxels : c_.mask_voxels)[v].marks >> mark::region;
    if (region != 0 && region != own_ && c_.regions > 0) columns.push_back(region - 1);
    for (std::uint32_t t = 0; t < c_.targets.size(); ++t)
      if (std::count(c_.targets[t].begin(), c_.targets[t].end(), v) > 0) columns.push_back(t);
    for (const std::uint32_t column : columns) hit(column, n);
  }

  void hit(std::uint32_t column, std::size_t n) {
    if (reached_.insert(column).second) ++sums_.hits[row_ + column], sums_.hit_length[row_ + column] += n;
  }

  /// Products of the components of the step to point n, in the kernel's integers.
  void add_direction(std::size_t v, const std::vector<vector>& points, std::size_t n) {
    std::array<std::int32_t, 3> d{};
    for (std::size_t i = 0; i < 3; ++i)
      d[i] = static_cast<std::int32_t>(
          std::lround((points[n][i] - points[n - 1][i]) / static_cast<double>(c_.how.step_voxels[i])));
    const std::int32_t products[] = {d[0] * d[0], d[1] * d[1], d[2] * d[2], d[0] * d[1], d[0] * d[2], d[1] * d[2]};
    for (std::size_t i = 0; i < direction_products; ++i)
      sums_.directions[v * direction_products + i] += to_sum(products[i]);
  }

  const track_case& c_;
  std::uint32_t own_;
  std::size_t row_;
  case_counts& sums_;
  std::set<std::size_t> visited_;
  std::set<std::uint32_t> reached_;
  std::optional<std::size_t> start_;
};

}  // namespace

case_counts count_reference(const track_case& c, std::uint64_t per_seed) {
  case_counts sums = no_counts(c);
  for (std::size_t i = 0; i < c.seeds.size(); ++i)
    for (std::uint64_t number = 0; number < per_seed; ++number) {
      const reference_streamline s = draw_reference(c, c.seeds[i], static_cast<std::uint32_t>(number));
      if (s.counted[0] || s.counted[1]) ++sums.accepted[i];
      reference_counter counter(c, i, sums);
      for (std::size_t half = 0; half < 2; ++half) {
        sums.walked += s.half[half].points.size() - 1;
        if (s.counted[half]) counter.add(s.half[half]);
      }
    }
  return sums;
}

namespace {

std::int32_t column_at(const column_grid& grid, const std::array<double, 3>& point) {
  std::array<long, 3> v{};
  for (std::size_t d = 0; d < 3; ++d)
    v[d] = static_cast<long>(std::floor(point[d] * static_cast<double>(grid.to_voxel.rows[d][d]) +
                                        static_cast<double>(grid.to_voxel.rows[d][3]) + 0.5));
  for (std::size_t d = 0; d < 3; ++d)
    if (v[d] < 0 || v[d] >= grid.size[d]) return -1;
  return grid.column[(v[2] * grid.size[1] + v[1]) * grid.size[0] + v[0]];
}

}  // namespace

std::map<std::uint32_t, std::int64_t> find_fibre_crossings(const track_case& c, const reference_streamline& s) {
  std::map<std::uint32_t, std::int64_t> found;
  std::set<std::int32_t> visited;
  const column_grid grid = c.input(1, 1).matrix;
  for (std::size_t half = 0; half < 2; ++half) {
    const reference_half& h = s.half[half];
    for (std::size_t n = 0; s.counted[half] && n < h.points.size(); ++n) {
      const std::int32_t voxel = column_at(grid, h.points[n]);
      if (voxel < 0 || !visited.insert(voxel).second) continue;
      const std::uint32_t fibre = h.fibres[std::min(n + 1, h.points.size() - 1)];
      const auto steps = static_cast<std::int64_t>(n);
      found.insert(
          {fibre_columns * static_cast<std::uint32_t>(voxel) + std::min(fibre, 2u), half == 0 ? steps : -steps});
    }
  }
  return found;
}

std::map<std::uint32_t, std::int64_t> find_crossings(const track_case& c, std::size_t seed_number,
                                                     const reference_streamline& s) {
  std::map<std::uint32_t, std::int64_t> found;
  std::size_t total = 0;
  for (std::size_t half = 0; half < 2; ++half) total += s.counted[half] ? s.half[half].points.size() - 1 : 0;
  if (static_cast<std::int32_t>(total) < c.how.min_total) return found;
  const column_grid grid = c.input(1, 1).matrix;
  for (std::size_t half = 0; half < 2; ++half)
    for (std::size_t n = grid.after_start ? 1 : 0; s.counted[half] && n < s.half[half].points.size(); ++n) {
      const std::int32_t column = column_at(grid, s.half[half].seed_points[n]);
      if (column < 0 || (grid.square && static_cast<std::size_t>(column) == seed_number)) continue;
      const auto steps = static_cast<std::int64_t>(n);
      found.insert({static_cast<std::uint32_t>(column), half == 0 ? steps : -steps});
    }
  return found;
}

}  // namespace voxherd::track
