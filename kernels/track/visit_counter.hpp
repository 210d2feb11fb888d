#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/portable/contract.hpp"
#include "kernels/track/field.hpp"
#include "kernels/track/met_surfaces.hpp"
#include "kernels/track/stamped_table.hpp"
#include "kernels/track/tally_list.hpp"

namespace voxherd::track {

/// The first visit of a streamline to what its key in the table of visits stands for, at a point of it.
struct visit_note {
  std::uint32_t key;
  std::int32_t point;
};
/// Notes for which a list has room. A streamline with more of them is drawn again to be counted.
constexpr std::uint32_t max_notes = 512;

/// Where the counts of a walker's streamline go.
struct walk_output {
  const counters* to = nullptr;   ///< counters of the first group; null: nowhere
  std::size_t row = 0;            ///< row of the streamline's group after the first
  std::size_t seed_row = 0;       ///< row of the seed in all rows of seeds
  std::size_t matrix_row = 0;     ///< row of the seed in `cells`
  std::uint32_t columns = 0;      ///< number of columns of `hits`: regions or targets
  crossing* crossings = nullptr;  ///< list of the voxels of a matrix, with room for all points; null: not wanted
  std::int32_t own_column = -1;   ///< column of the seed itself in a matrix, which is not counted; -1: none
  visit_note* notes = nullptr;    ///< list for visits that are not counted yet; null: all are counted at once
};

/// Counts what one streamline visits, each voxel, region and target once. `can_note`: it may take notes; without, it
/// needs fewer registers on a GPU.
template <bool can_note>
class visit_counter {
 public:
  VOXHERD_FUNCTION visit_counter(const field_view& field, const stamped_table<visit_entry>& visits)
      : field_(&field), visits_(visits) {}

  VOXHERD_FUNCTION void begin(std::uint32_t own_region, const walk_output& out) {
    own_region_ = own_region;
    out_ = out;
    more_than_places_ = out.to != nullptr && (out.columns > 0 || out.crossings != nullptr ||
                                              out.to->want<cell_visit>() || out.to->want<place_direction>());
    last_place_ = -1;
    start_place_ = -1;
    last_column_ = last_pair_column_ = -1;
    last_fibre_voxel_ = entered_voxel_ = -1;
    crossings_ = 0;
    notes_ = 0;
    visits_.clear();
  }

  VOXHERD_FUNCTION void begin_half(int half) {
    half_ = half;
    if (half == 1) first_notes_ = notes_;
  }

  /// Whether visits are noted until it is known which halves count.
  VOXHERD_FUNCTION bool takes_notes() const { return can_note && out_.notes != nullptr; }

  /// Counts what has been noted of these halves. Returns false if the streamline must be drawn again for it.
  VOXHERD_FUNCTION bool count_notes(unsigned halves) {
    const bool only_first = halves == 1 && out_.crossings == nullptr;
    if (!takes_notes() || notes_ > max_notes || !(halves == 3 || only_first)) return false;
    const std::uint32_t end = only_first ? first_notes_ : notes_;
    for (std::uint32_t i = 0; i < end; ++i) add_noted(out_.notes[i]);
    return true;
  }

  /// Voxels in the list of crossings.
  VOXHERD_FUNCTION std::uint32_t crossings() const { return crossings_; }

  VOXHERD_FUNCTION const walk_output& output() const { return out_; }
  VOXHERD_FUNCTION const stamped_table<visit_entry>& visits() const { return visits_; }

  /// A point of a half that counts, in voxels of the seeds' image; `travel`: the direction of the step to it, if
  /// `point` is not 0. `is_special`: columns may be by fibre, for count_fibre().
  template <bool is_special>
  VOXHERD_INLINED void count(const voxel_info& at, std::int32_t point, const direction& travel,
                             const float (&position)[3]) {
    if (more_than_places_) count_more<is_special>(at, point, travel, position);
    if (at.place < 0 || at.place == last_place_ || out_.to == nullptr) return;
    assert(static_cast<std::uint32_t>(at.place) < field_->places);
    last_place_ = at.place;
    bool first_visit = false;
    (void)visits_.find(static_cast<std::uint32_t>(at.place), first_visit);
    if (!first_visit) return;
    if (takes_notes()) return note(static_cast<std::uint32_t>(at.place), point);
    add_place(static_cast<std::uint32_t>(at.place), point);
    if (!out_.to->want<place_direction>()) return;
    if (point > 0) {
      add_direction(at.place, travel);
    } else {
      start_place_ = at.place;  // has the direction of the first step
    }
  }

  /// The surfaces that the step to a point of such a half crosses. `is_special`: a triangle may have one corner only.
  template <bool is_special>
  VOXHERD_FUNCTION void count_crossed(const met_surfaces& met, const step_line& line, std::int32_t point) {
    if (!more_than_places_) return;
    surface_triangle triangle;
    if (met.numbers != nullptr) {
      for (std::uint32_t i = 0; i < met.crossed; ++i) {
        triangle = field_->surfaces.triangles[met.numbers[i]];
        count_triangle<is_special>(triangle, met.numbers[i], line, point);
      }
      return;
    }
    surface_search search(field_->surfaces, line);
    for (std::uint32_t number = 0; search.find_next(field_->surfaces, triangle, number);)
      count_triangle<is_special>(triangle, number, line, point);
  }

  /// For columns by fibre: a point of such a half, in voxels of the samples' image. A voxel is counted with the fibre
  /// that the streamline follows from its first point there. `fibre`: of the step to this point.
  VOXHERD_FUNCTION void count_fibre(const float (&position)[3], std::int32_t point, std::uint32_t fibre) {
    if (out_.to == nullptr || (!out_.to->want<cell_visit>() && out_.crossings == nullptr)) return;
    if (!fibre_grid().by_fibre) return;
    leave_voxel(fibre);
    const std::int32_t voxel = fibre_grid().find(position);
    if (voxel < 0 || voxel == last_fibre_voxel_) return;
    last_fibre_voxel_ = voxel;
    bool first_visit = false;
    (void)visits_.find(field_->places + 1 + out_.columns + rows_before() + static_cast<std::uint32_t>(voxel),
                       first_visit);
    if (first_visit) entered_voxel_ = voxel, entered_at_ = point;
  }

  /// Counts the voxel of the last point, if it was its first one there. `fibre`: of the step from this point, or of the
  /// last step of the half.
  VOXHERD_FUNCTION void leave_voxel(std::uint32_t fibre) {
    if (entered_voxel_ < 0) return;
    const std::uint32_t last = fibre_columns - 1;
    const std::uint32_t column =
        static_cast<std::uint32_t>(entered_voxel_) * fibre_columns + (fibre < last ? fibre : last);
    entered_voxel_ = -1;
    if (out_.crossings != nullptr)
      out_.crossings[crossings_++] = {rows_before() + column, half_ == 0 ? entered_at_ : -entered_at_};
    add_cell(column, entered_at_);
  }

  /// For columns at ends: the two ends of a streamline that counts, in voxels of the seeds' image, and the steps from
  /// the seed to them.
  VOXHERD_FUNCTION void count_ends(const float (&first)[3], std::int32_t first_steps, const float (&second)[3],
                                   std::int32_t second_steps) {
    if (!field_->matrix.at_ends || out_.crossings == nullptr) return;
    half_ = 0;
    add_column(field_->matrix.find_nearest(first), 0, first_steps, no_triangle);
    half_ = 1;
    add_column(field_->matrix.find_nearest(second), 0, second_steps, no_triangle);
  }

 private:
  VOXHERD_FUNCTION void note(std::uint32_t key, std::int32_t point) {
    if (notes_ < max_notes) out_.notes[notes_] = {key, point};
    ++notes_;
  }

  // The keys of places, columns of hits, and columns of a matrix follow each other.
  VOXHERD_FUNCTION std::uint32_t hit_key(std::uint32_t column) const { return field_->places + 1 + column; }
  VOXHERD_FUNCTION std::uint32_t cell_key(std::uint32_t column) const { return hit_key(out_.columns) + column; }

  VOXHERD_FUNCTION void add_noted(const visit_note& visit) const {
    if (visit.key < field_->places) return add_place(visit.key, visit.point);
    if (visit.key < cell_key(0)) return add_hit(visit.key - hit_key(0), visit.point);
    add_cell(visit.key - cell_key(0), visit.point);
  }

  VOXHERD_FUNCTION void add_place(std::uint32_t place, std::int32_t point) const {
    out_.to->add(place_visit{out_.row * field_->places + place, point});
  }

  VOXHERD_FUNCTION void add_hit(std::uint32_t column, std::int32_t point) const {
    out_.to->add(column_visit{out_.seed_row * out_.columns + column, point});
  }

  VOXHERD_FUNCTION void add_cell(std::uint32_t column, std::int32_t point) const {
    out_.to->add(cell_visit{out_.matrix_row * field_->matrix.columns + column, point});
  }

  VOXHERD_FUNCTION const column_grid& fibre_grid() const {
    return field_->matrix.by_fibre ? field_->matrix : field_->pair_columns;
  }
  /// Columns of the grid before the one by fibre.
  VOXHERD_FUNCTION std::uint32_t rows_before() const { return field_->matrix.by_fibre ? 0 : field_->matrix.columns; }

  template <bool is_special>
  VOXHERD_FUNCTION void count_more(const voxel_info& at, std::int32_t point, const direction& travel,
                                   const float (&position)[3]) {
    if (out_.to->want<cell_visit>() || out_.crossings != nullptr) visit_columns<is_special>(point, position);
    if (out_.columns > 0 && point > 0) reach(at, point);
    if (start_place_ >= 0 && point > 0) {
      add_direction(start_place_, travel);
      start_place_ = -1;
    }
  }

  /// One triangle that a step to a point crosses.
  template <bool is_special>
  VOXHERD_FUNCTION void count_triangle(const surface_triangle& triangle, std::uint32_t number, const step_line& line,
                                       std::int32_t point) {
    const surface_use& use = field_->surfaces.uses[triangle.surface];
    const std::uint32_t region = use.marks >> mark::region;
    if (out_.columns > 0 && region != 0 && region != own_region_) hit(region - 1, point);
    for (std::uint32_t i = use.first_target; out_.columns > 0 && i < use.end_target; ++i)
      hit(field_->surfaces.targets[i], point);
    if (!out_.to->want<cell_visit>() && out_.crossings == nullptr) return;
    if (triangle.tips != 0 && is_at_tip(triangle)) return;
    const int one =
        is_special && field_->surfaces.one_corner ? find_nearest_corner(field_->surfaces, triangle, line) : -1;
    for (int i = 0; i < 3; ++i) {
      if (is_special && one >= 0 && i != one) continue;
      visit_vertex(field_->matrix, 0, triangle.corner[i], number, point);
      visit_vertex(field_->pair_columns, field_->matrix.columns, triangle.corner[i], number, point);
    }
  }

  /// Whether the seed is a corner of this triangle only: it does not connect the seed with its other corners.
  VOXHERD_FUNCTION bool is_at_tip(const surface_triangle& triangle) const {
    if (out_.own_column < 0 || field_->matrix.vertex_column == nullptr) return false;
    for (int i = 0; i < 3; ++i)
      if ((triangle.tips >> i & 1u) != 0 && field_->matrix.vertex_column[triangle.corner[i]] == out_.own_column)
        return true;
    return false;
  }

  VOXHERD_FUNCTION void visit_vertex(const column_grid& grid, std::uint32_t before, std::uint32_t vertex,
                                     std::uint32_t triangle, std::int32_t point) {
    if (grid.vertex_column != nullptr) add_column(grid.vertex_column[vertex], before, point, triangle);
  }

  template <bool is_special>
  VOXHERD_FUNCTION void visit_columns(std::int32_t point, const float (&position)[3]) {
    if (is_special && (field_->matrix.by_fibre || field_->matrix.at_ends)) return;
    if (point > 0 || !field_->matrix.after_start) visit_column(field_->matrix.find(position), 0, point, last_column_);
    if (field_->pair_columns.columns > 0 && !(is_special && field_->pair_columns.by_fibre))
      visit_column(field_->pair_columns.find(position), field_->matrix.columns, point, last_pair_column_);
  }

  /// `before`: columns of the grids before that of the column; `last`: its column at the last point.
  VOXHERD_FUNCTION void visit_column(std::int32_t column, std::uint32_t before, std::int32_t point,
                                     std::int32_t& last) {
    if (column == last) return;
    last = column;
    add_column(column, before, point, no_triangle);
  }

  VOXHERD_FUNCTION void add_column(std::int32_t column, std::uint32_t before, std::int32_t point,
                                   std::uint32_t triangle) {
    if (column < 0 || column == out_.own_column) return;
    bool first_visit = false;
    const std::uint32_t number = before + static_cast<std::uint32_t>(column);
    (void)visits_.find(cell_key(number), first_visit);
    if (!first_visit) {
      if (out_.crossings != nullptr && triangle != no_triangle) add_triangle(number, triangle);
      return;
    }
    if (out_.crossings != nullptr) out_.crossings[crossings_++] = {number, half_ == 0 ? point : -point, triangle};
    if (!out_.to->want<cell_visit>()) return;
    takes_notes() ? note(cell_key(number), point) : add_cell(number, point);
  }

  /// The streamline reaches a vertex again, perhaps by another triangle.
  VOXHERD_FUNCTION void add_triangle(std::uint32_t column, std::uint32_t triangle) {
    std::uint32_t i = crossings_;
    while (out_.crossings[i - 1].column != column) --i;
    if (out_.crossings[i - 1].triangle != triangle) out_.crossings[i - 1].triangle = no_triangle;
  }

  VOXHERD_FUNCTION void reach(const voxel_info& at, std::int32_t point) {
    const std::uint32_t region = at.marks >> mark::region;
    if (region != 0 && region != own_region_) hit(region - 1, point);
    if (field_->target_begin == nullptr || at.place < 0) return;
    for (std::uint32_t i = field_->target_begin[at.place]; i < field_->target_begin[at.place + 1]; ++i)
      hit(field_->targets[i], point);
  }

  VOXHERD_FUNCTION void hit(std::uint32_t column, std::int32_t point) {
    bool first_visit = false;
    (void)visits_.find(hit_key(column), first_visit);
    if (first_visit) takes_notes() ? note(hit_key(column), point) : add_hit(column, point);
  }

  VOXHERD_FUNCTION void add_direction(std::int32_t place, const direction& d) const {
    out_.to->add(place_direction{out_.row * field_->places + static_cast<std::size_t>(place), d});
  }

  const field_view* field_;
  stamped_table<visit_entry> visits_;
  walk_output out_;
  bool more_than_places_ = false;
  std::uint32_t own_region_ = 0;
  std::int32_t last_place_ = -1;
  std::int32_t last_column_ = -1, last_pair_column_ = -1;
  std::int32_t last_fibre_voxel_ = -1;
  std::int32_t entered_voxel_ = -1, entered_at_ = 0;  ///< not counted before its fibre is known; -1: none
  std::uint32_t crossings_ = 0;
  std::uint32_t notes_ = 0, first_notes_ = 0;  ///< of the streamline, of its first half
  int half_ = 0;
  std::int32_t start_place_ = -1;  ///< place of a start whose direction is not known yet; -1: none
};

}  // namespace voxherd::track
