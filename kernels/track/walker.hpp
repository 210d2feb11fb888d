#pragma once

#include "kernels/portable/draws.hpp"
#include "kernels/track/met_surfaces.hpp"
#include "kernels/track/stamped_table.hpp"
#include "kernels/track/visit_counter.hpp"
#include "kernels/track/walker_parts.hpp"

namespace voxherd::track {

/// Where the masks and counts of a walker may be. A walker for less needs fewer registers on a GPU.
enum class mask_places : std::uint8_t {
  samples_image,  ///< voxels of the samples' image
  seeds_image,    ///< or of another one
  surfaces,       ///< or surfaces
  /// or surfaces, and a matrix has columns by fibre or at the ends of streamlines, or takes one corner of each triangle
  special_matrices,
};

/// Draws one streamline, point after point: two halves from the same start in opposite directions through random
/// samples of the posterior (Behrens 2003, Magn Reson Med 50:1077; several fibres: Behrens 2007, NeuroImage 34:144).
/// All random numbers follow from the seed value, the seed's voxel, the streamline's number, the half and the step.
template <mask_places places, bool can_note>
class walker_among {
 public:
  VOXHERD_FUNCTION walker_among(const field_view& field, const walk_settings& how,
                                const stamped_table<visit_entry>& visits, const stamped_table<cell_entry>& cells)
      : field_(&field), how_(&how), counter_(field, visits), cells_(cells) {}

  /// `counting`: the halves to be counted, as counted_halves() returns; 0: only decide which to count.
  VOXHERD_FUNCTION void begin(const seed& from, std::uint32_t number, unsigned counting, const walk_output& out) {
    seed_ = from;
    number_ = number;
    counting_ = counting;
    has_first_ = false;
    passed_ = 0;
    walked_ = 0;
    counter_.begin(from.region, out);
    place_start();
    begin_half(0);
  }

  /// Goes to the next point, which may be the start of a half. Returns false when the streamline is complete.
  VOXHERD_INLINED bool advance() {
    if (is_at_end() && !end_half()) return false;
    go();
    return true;
  }

  /// Whether the half has ended.
  VOXHERD_FUNCTION bool is_at_end() const { return !at_start_ && !moving_; }

  /// Begins the other half. Returns false when the streamline is complete.
  VOXHERD_INLINED bool end_half() {
    if (places == mask_places::special_matrices) counter_.leave_voxel(fibre_);
    record_.steps = point_;
    record_.passed = passed_;
    const half_fate fate = judge(record_, *how_);
    if (half_ == 0) {
      first_steps_ = point_;
      first_fate_ = fate;
    } else {
      second_fate_ = fate;
    }
    // The masks that such a half has passed do not count for the other half.
    if (record_.excluded || (how_->ordered && record_.out_of_order)) passed_ = passed_before_;
    walked_ += static_cast<std::uint64_t>(point_);
    if (half_ == 1 || counting_ == 1) {
      if (places == mask_places::special_matrices && counting_ != 0) count_ends();
      return false;
    }
    if (places == mask_places::special_matrices) copy_point(seed_point_, first_end_);
    begin_half(1);
    return true;
  }

  /// Goes to the next point of a half that has not ended. On a GPU its parts are in one place each, so that all lanes
  /// of a warp run them together and their variables are in registers.
  VOXHERD_INLINED void go() {
    const bool arrives = at_start_ || step();
    at_start_ = false;
    if (arrives) arrive();
  }

  VOXHERD_FUNCTION unsigned counting() const { return counting_; }
  VOXHERD_FUNCTION unsigned counted() const { return counted_halves(first_fate_, second_fate_); }
  /// Counts what has been noted while counting() was 0, as visit_counter::count_notes().
  VOXHERD_FUNCTION bool count_notes(unsigned halves) { return counter_.count_notes(halves); }
  VOXHERD_FUNCTION std::uint32_t crossings() const { return counter_.crossings(); }
  VOXHERD_FUNCTION std::uint64_t walked() const { return walked_; }
  /// Steps of the halves that count.
  VOXHERD_FUNCTION std::int32_t counted_steps() const {
    return ((counted() & 1u) != 0 ? first_steps_ : 0) + ((counted() & 2u) != 0 ? point_ : 0);
  }
  VOXHERD_FUNCTION const stamped_table<visit_entry>& visits() const { return counter_.visits(); }
  VOXHERD_FUNCTION const stamped_table<cell_entry>& cells() const { return cells_; }
  VOXHERD_FUNCTION const walk_output& output() const { return counter_.output(); }

  // For tests against the reference.
  VOXHERD_FUNCTION int half() const { return half_; }
  VOXHERD_FUNCTION bool moving() const { return moving_; }
  VOXHERD_FUNCTION std::int32_t point() const { return point_; }
  VOXHERD_FUNCTION float position(int axis) const { return position_[axis]; }
  VOXHERD_FUNCTION float seed_point(int axis) const { return seed_point_[axis]; }
  VOXHERD_FUNCTION half_fate fate(int half) const { return half == 0 ? first_fate_ : second_fate_; }

 private:
  /// What a block of four random words is for.
  enum class purpose : std::uint32_t { sample = 0, choice = 1, start = 2, trial = 3 };

  struct drawn_sample {
    voxel_info voxel;
    std::uint32_t number;
  };

  /// The place of random words in the seed's stream; those of the next step are step_words::stride further.
  VOXHERD_FUNCTION std::uint64_t place_of_words(purpose why, std::int32_t step) const {
    const std::uint32_t code = (static_cast<std::uint32_t>(step) << 3) | (static_cast<std::uint32_t>(half_) << 2) |
                               static_cast<std::uint32_t>(why);
    return static_cast<std::uint64_t>(number_) << 32 | code;
  }

  VOXHERD_FUNCTION philox4x32_ctr_t words(purpose why, std::int32_t step) const {
    return draw_words(how_->random_seed, seed_.index, place_of_words(why, step));
  }

  /// The seed, or a point uniform in a ball around it.
  VOXHERD_FUNCTION void place_start() {
    half_ = 0;
    float offset[3] = {};
    for (std::int32_t attempt = 0; how_->random_start; ++attempt) {
      const philox4x32_ctr_t w = words(purpose::start, attempt);
      for (int d = 0; d < 3; ++d) offset[d] = lane::fma(2.0f, to_share(w.v[d]), -1.0f);
      const float square = lane::fma(offset[0], offset[0], lane::fma(offset[1], offset[1], offset[2] * offset[2]));
      if (square <= 1.0f) break;
    }
    for (int d = 0; d < 3; ++d) seed_start_[d] = lane::fma(offset[d], how_->radius_voxels[d], seed_.position[d]);
    has_seed_space() ? map_point(field_->space.to_samples, seed_start_, start_) : copy_point(seed_start_, start_);
  }

  VOXHERD_FUNCTION static void copy_point(const float (&from)[3], float (&to)[3]) {
    for (int d = 0; d < 3; ++d) to[d] = from[d];
  }

  /// By copies: members whose address is passed to a function would not be in a GPU's registers.
  VOXHERD_FUNCTION static void map_point(const point_warp& map, const float (&from)[3], float (&to)[3]) {
    float point[3], mapped[3];
    copy_point(from, point);
    map.map(point, mapped);
    copy_point(mapped, to);
  }

  /// Whether seeds, masks and counts are in another image than the samples.
  VOXHERD_FUNCTION bool has_seed_space() const {
    return places != mask_places::samples_image && field_->space.voxels != nullptr;
  }

  /// The point in the seeds' image. The start is exact, not mapped there and back.
  VOXHERD_FUNCTION void find_seed_point() {
    if (!has_seed_space()) return copy_point(position_, seed_point_);
    point_ > 0 ? map_point(field_->space.to_seeds, position_, seed_point_) : copy_point(seed_start_, seed_point_);
  }

  VOXHERD_FUNCTION void begin_half(int half) {
    half_ = half;
    point_ = 0;
    for (int d = 0; d < 3; ++d) position_[d] = start_[d];
    record_ = {};
    counter_.begin_half(half);
    passed_before_ = passed_;
    if (half == 1 && how_->each_half) passed_ = 0;
    has_travel_ = half == 1 && has_first_;
    travel_ = -first_;
    fibre_ = 0;
    cells_.clear();
    moving_ = false;
    at_start_ = true;
  }

  VOXHERD_FUNCTION bool counts() const { return (counting_ >> half_ & 1u) != 0; }

  /// Whether the half may go on in its cell; remembers the direction there.
  VOXHERD_INLINED bool enter_cell() {
    std::uint32_t key = 0;
    for (int d = 2; d >= 0; --d) {
      const auto cells = static_cast<std::uint32_t>(field_->size[d]) / 5 + 3;
      const auto cell = static_cast<std::int32_t>(lane::floor(lane::fma(position_[d], 0.2f, 0.5f))) + 1;
      key = key * cells + static_cast<std::uint32_t>(cell);
    }
    bool added = false;
    cell_entry& last = cells_.find(key, added);
    if (!added && dot({last.x, last.y, last.z}, travel_) < 0) return false;
    last.x = static_cast<std::int16_t>(travel_.x);
    last.y = static_cast<std::int16_t>(travel_.y);
    last.z = static_cast<std::int16_t>(travel_.z);
    return true;
  }

  /// Adds the point, draws the sample of the next step, and tests the masks.
  VOXHERD_INLINED void arrive() {
    moving_ = false;
    // Both voxels are requested before the first one is used, so that the reads overlap.
    const voxel_info own =
        look_up(*field_, nearest_voxel(position_[0]), nearest_voxel(position_[1]), nearest_voxel(position_[2]));
    const drawn_sample drawn =
        draw(position_, sample_words_.at(how_->random_seed, seed_.index, place_of_words(purpose::sample, point_)));
    if (point_ > 0 && how_->loop_check && !enter_cell()) {
      --point_;  // the point is not part of the half
      return;
    }
    const float before[3] = {seed_point_[0], seed_point_[1], seed_point_[2]};
    find_seed_point();
    voxel_info at = has_seed_space() ? field_->space.find(seed_point_) : own;
    const met_surfaces met = meet(before);
    at.marks |= met.marks;
    if ((at.marks & mark::exclude) != 0 && (point_ > 0 || !how_->ignore_first_step)) record_.excluded = true;
    if (point_ > 0) pass(at.marks);
    if ((field_->exits != nullptr && !stay(at)) || !stay_between(met.exits)) {
      --point_;
      if (places == mask_places::special_matrices) copy_point(before, seed_point_);
      return;
    }
    const std::uint32_t region = at.marks >> mark::region;
    if (region != 0 && region != seed_.region && point_ > 0) record_.other_region = true;
    if (met.other_region != 0) record_.other_region = true;
    // A rejected half is repeated only up to its first step, which the other one needs.
    const bool needed = counting_ == 0 ? !record_.excluded : counts() || point_ == 0;
    const bool stopped = (at.marks & mark::stop) != 0 && point_ > (how_->ignore_first_step ? 1 : 0);
    if (needed && !stopped && (own.marks & mark::inside) != 0 && point_ + 1 < how_->max_points) begin_step(drawn);
    // After the next sample has been asked for.
    if (!counts() && !counter_.takes_notes()) return;
    constexpr bool is_special = places == mask_places::special_matrices;
    counter_.template count<is_special>(at, point_, travel_, seed_point_);
    if (met.any) counter_.template count_crossed<is_special>(met, line_from(before), point_);
    if (is_special) count_fibre();
  }

  /// The ends of the halves that count; where one does not, the streamline ends at its start.
  VOXHERD_FUNCTION void count_ends() {
    float first[3], second[3];
    copy_point(seed_start_, first);
    copy_point(seed_start_, second);
    if ((counting_ & 1u) != 0) half_ == 0 ? copy_point(seed_point_, first) : copy_point(first_end_, first);
    if ((counting_ & 2u) != 0) copy_point(seed_point_, second);
    counter_.count_ends(first, (counting_ & 1u) != 0 ? first_steps_ : 0, second, (counting_ & 2u) != 0 ? point_ : 0);
  }

  VOXHERD_FUNCTION void count_fibre() {
    float point[3];
    copy_point(position_, point);
    counter_.count_fibre(point, point_, fibre_);
  }

  VOXHERD_FUNCTION step_line line_from(const float (&before)[3]) const {
    return {{before[0], before[1], before[2]}, {seed_point_[0], seed_point_[1], seed_point_[2]}};
  }

  /// The surfaces that the step to this point crosses; the start crosses none.
  VOXHERD_FUNCTION met_surfaces meet(const float (&before)[3]) const {
    if (places < mask_places::surfaces || field_->surfaces.cell_begin == nullptr) return {};
    const step_line line = line_from(before);
    return meet_surfaces(field_->surfaces, line, seed_.region, point_ > 0 && is_near(field_->surfaces, line));
  }

  /// Of a surface that must not be left, a half may cross one side only.
  VOXHERD_FUNCTION bool stay_between(std::uint32_t crossed) {
    if (point_ == 0) crossed_ = 0;
    const bool stays = (crossed_ & crossed) == 0;
    crossed_ |= crossed;
    return stays;
  }

  /// Whether the half is still in all masks that it must not leave.
  VOXHERD_FUNCTION bool stay(const voxel_info& at) {
    const std::uint32_t here = at.place < 0 ? 0 : field_->exits[at.place];
    if (point_ == 0) exits_.begin(here);
    return exits_.move(here);
  }

  VOXHERD_FUNCTION void pass(std::uint32_t marks) {
    const std::uint32_t here = marks >> mark::first_include & ((1u << how_->includes) - 1);
    if (here == 0) return;
    for (std::uint32_t k = 0; k < how_->includes; ++k) {
      if ((here >> k & 1u) == 0) continue;
      const std::uint32_t before = (1u << k) - 1;
      if ((passed_ & before) != before) record_.out_of_order = true;
      passed_ |= 1u << k;
    }
  }

  /// Asks for the sample of the next step.
  VOXHERD_FUNCTION void begin_step(const drawn_sample& drawn) {
    fibres_ = find_fibres(drawn);
    moving_ = fibres_ != nullptr;
#if defined(__CUDA_ARCH__)
    if (moving_) asm volatile("prefetch.global.L1 [%0];" ::"l"(fibres_));
#else
    __builtin_prefetch(fibres_);
#endif
  }

  /// One of the eight voxels around the point, with the probabilities of linear interpolation, and one of its samples.
  VOXHERD_INLINED drawn_sample draw(const float (&position)[3], const philox4x32_ctr_t& w) const {
    std::int32_t voxel[3];
    for (int d = 0; d < 3; ++d) {
      const float low = lane::floor(position[d]);
      voxel[d] = static_cast<std::int32_t>(low) + (to_share(w.v[d]) < position[d] - low ? 1 : 0);
    }
    const auto samples = static_cast<std::uint32_t>(how_->samples);
    const std::uint32_t sample =
        how_->half_weight_ends
            ? static_cast<std::uint32_t>((static_cast<std::uint64_t>(w.v[3]) * (samples - 1) + 0x80000000u) >> 32)
            : pick(w.v[3], samples);
    return {look_up(*field_, voxel[0], voxel[1], voxel[2]), sample};
  }

  /// Null outside the mask.
  VOXHERD_FUNCTION const packed_fibre* find_fibres(const drawn_sample& drawn) const {
    if ((drawn.voxel.marks & mark::inside) == 0) return nullptr;
    const auto samples = static_cast<std::size_t>(how_->samples);
    return field_->fibres + (static_cast<std::size_t>(drawn.voxel.place) * samples + drawn.number) *
                                static_cast<std::size_t>(how_->fibres);
  }

  VOXHERD_FUNCTION void move(const direction& to, float (&position)[3]) const {
    const std::int32_t components[3] = {to.x, to.y, to.z};
    for (int d = 0; d < 3; ++d)
      position[d] = lane::fma(static_cast<float>(components[d]), how_->step_voxels[d], position[d]);
  }

  /// The mean of a direction and that of a sample one step ahead, if there is one.
  VOXHERD_FUNCTION direction average_with_next(direction next, std::uint32_t word) const {
    float ahead[3] = {position_[0], position_[1], position_[2]};
    move(next, ahead);
    direction there;
    if (const packed_fibre* fibres = find_fibres(draw(ahead, words(purpose::trial, point_))); fibres != nullptr)
      there = choose_fibre(fibres, *how_, point_ == 0, travel_, word).axis();
    if (there.is_zero() && how_->averaging == step_mean::with_axis) there = {0, 0, direction_unit};
    return there.is_zero() ? next : mean_direction(next, there);
  }

  /// The number of a fibre of the drawn sample, from 0.
  VOXHERD_FUNCTION std::uint32_t find_number(const packed_fibre& fibre) const {
    std::uint32_t k = 0;
    while (!(fibres_[k] == fibre)) ++k;
    return k;
  }

  /// Returns whether there is a next point.
  VOXHERD_INLINED bool step() {
    moving_ = false;
    philox4x32_ctr_t w{};
    if (point_ == 0 || how_->stop_by_fraction) w = words(purpose::choice, point_);
    const packed_fibre fibre = choose_fibre(fibres_, *how_, point_ == 0, travel_, w.v[0]);
    direction next = fibre.axis();
    if (next.is_zero()) return false;
    if (how_->stop_by_fraction && fibre.fraction <= w.v[2] >> 16) return false;
    if (has_travel_) {
      const std::int32_t product = dot(next, travel_);
      if ((product < 0 ? -product : product) <= how_->min_dot) return false;
      if (product < 0) next = -next;
    } else if ((w.v[1] >> 31) != 0) {
      next = -next;
    }
    if (how_->averaging != step_mean::none) next = average_with_next(next, w.v[3]);
    if (half_ == 0 && point_ == 0) first_ = next, has_first_ = true;
    if (places == mask_places::special_matrices) fibre_ = find_number(fibre);
    travel_ = next;
    has_travel_ = true;
    move(next, position_);
    ++point_;
    return true;
  }

  const field_view* field_;
  const walk_settings* how_;
  visit_counter<can_note> counter_;
  step_words sample_words_;
  stamped_table<cell_entry> cells_;
  mask_exits exits_;
  std::uint32_t crossed_ = 0;  ///< surfaces that must not be left, crossed on this half
  seed seed_{};
  std::uint32_t number_ = 0;
  unsigned counting_ = 0;
  std::uint64_t walked_ = 0;

  int half_ = 0;
  std::int32_t point_ = 0;  ///< number of the current point of the half; 0: the start
  bool at_start_ = false;   ///< the start of the half is the next point
  bool moving_ = false;     ///< a sample for the next step is drawn
  bool has_first_ = false, has_travel_ = false;
  direction first_, travel_;
  std::uint32_t fibre_ = 0;                        ///< number of the one that the last step followed, from 0
  float start_[3] = {}, position_[3] = {};         ///< in voxels of the samples' image
  float seed_start_[3] = {}, seed_point_[3] = {};  ///< the same points in voxels of the seeds' image
  float first_end_[3] = {};                        ///< end of the first half there, for special matrices only
  const packed_fibre* fibres_ = nullptr;
  std::uint32_t passed_ = 0, passed_before_ = 0;
  half_record record_;
  std::int32_t first_steps_ = 0;  ///< number of steps of the first half
  half_fate first_fate_ = half_fate::reject, second_fate_ = half_fate::reject;
};

/// For all masks.
using walker = walker_among<mask_places::surfaces, true>;

}  // namespace voxherd::track
