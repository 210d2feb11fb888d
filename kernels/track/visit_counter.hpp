#pragma once

#include "kernels/track/counters.hpp"
#include "kernels/track/field.hpp"
#include "kernels/track/stamped_table.hpp"

namespace voxherd::track {

/// Where the counts of a walker's streamline go.
struct walk_output {
  const counters* to = nullptr;   ///< counters of the first group; null: nowhere
  std::size_t row = 0;            ///< row of the streamline's group after the first
  std::size_t seed_row = 0;       ///< row of the seed in all rows of seeds
  std::uint32_t columns = 0;      ///< number of columns of `hits`: regions or targets
  crossing* crossings = nullptr;  ///< list of the voxels of a matrix, with room for all points; null: not wanted
  std::int32_t own_column = -1;   ///< column of the seed itself in a matrix, which is not counted; -1: none
};

/// Counts what one streamline visits, each voxel, region and target once.
class visit_counter {
 public:
  VOXHERD_FUNCTION visit_counter(const field_view& field, const stamped_table<visit_entry>& visits)
      : field_(&field), visits_(visits) {}

  VOXHERD_FUNCTION void begin(std::uint32_t own_region, const walk_output& out) {
    own_region_ = own_region;
    out_ = out;
    more_than_density_ = out.to != nullptr && (out.columns > 0 || out.to->cells != nullptr ||
                                               out.crossings != nullptr || out.to->directions != nullptr);
    last_place_ = -1;
    start_place_ = -1;
    last_column_ = last_pair_column_ = -1;
    crossings_ = 0;
    visits_.clear();
  }

  VOXHERD_FUNCTION void begin_half(int half) { half_ = half; }

  /// Voxels in the list of crossings.
  VOXHERD_FUNCTION std::uint32_t crossings() const { return crossings_; }

  VOXHERD_FUNCTION const walk_output& output() const { return out_; }
  VOXHERD_FUNCTION const stamped_table<visit_entry>& visits() const { return visits_; }

  /// A point of a half that counts; `travel`: the direction of the step to it, if `point` is not 0.
  VOXHERD_FUNCTION void count(const voxel_info& at, std::int32_t point, const direction& travel,
                              const float (&position)[3]) {
    if (more_than_density_) count_more(at, point, travel, position);
    if (at.place < 0 || at.place == last_place_ || out_.to == nullptr) return;
    assert(static_cast<std::uint32_t>(at.place) < field_->places);
    last_place_ = at.place;
    bool first_visit = false;
    (void)visits_.find(static_cast<std::uint32_t>(at.place), first_visit);
    if (!first_visit) return;
    const std::size_t place = out_.row * field_->places + static_cast<std::size_t>(at.place);
    add(element(out_.to->density, place), 1u);
    add(element(out_.to->length, place), static_cast<std::uint64_t>(point));
    if (out_.to->directions == nullptr) return;
    if (point > 0) {
      add_direction(at.place, travel);
    } else {
      start_place_ = at.place;  // has the direction of the first step
    }
  }

 private:
  VOXHERD_FUNCTION void count_more(const voxel_info& at, std::int32_t point, const direction& travel,
                                   const float (&position)[3]) {
    if (out_.to->cells != nullptr || out_.crossings != nullptr) visit_columns(point, position);
    if (out_.columns > 0 && point > 0) reach(at, point);
    if (start_place_ >= 0 && point > 0) {
      add_direction(start_place_, travel);
      start_place_ = -1;
    }
  }

  VOXHERD_FUNCTION void visit_columns(std::int32_t point, const float (&position)[3]) {
    visit_column(field_->matrix.find(position), 0, point, last_column_);
    if (field_->pair_columns.columns > 0)
      visit_column(field_->pair_columns.find(position), field_->matrix.columns, point, last_pair_column_);
  }

  /// `before`: columns of the grids before that of the column; `last`: its column at the last point.
  VOXHERD_FUNCTION void visit_column(std::int32_t column, std::uint32_t before, std::int32_t point,
                                     std::int32_t& last) {
    if (column == last) return;
    last = column;
    if (column < 0 || column == out_.own_column) return;
    bool first_visit = false;
    const std::uint32_t number = before + static_cast<std::uint32_t>(column);
    (void)visits_.find(field_->places + 1 + out_.columns + number, first_visit);
    if (!first_visit) return;
    if (out_.crossings != nullptr) out_.crossings[crossings_++] = {number, half_ == 0 ? point : -point};
    const std::size_t cell = out_.row * field_->matrix.columns + static_cast<std::size_t>(column);
    add(element(out_.to->cells, cell), 1u);
    add(element(out_.to->cell_length, cell), static_cast<std::uint64_t>(point));
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
    (void)visits_.find(field_->places + 1 + column, first_visit);
    if (!first_visit) return;
    const std::size_t at = out_.seed_row * out_.columns + column;
    add(element(out_.to->hits, at), 1u);
    add(element(out_.to->hit_length, at), static_cast<std::uint64_t>(point));
  }

  /// Adds the products of the components; a direction and its opposite give the same.
  VOXHERD_FUNCTION void add_direction(std::int32_t place, const direction& d) const {
    const std::size_t row = out_.row * field_->places + static_cast<std::size_t>(place);
    std::uint64_t* sums = out_.to->directions + row * direction_products;
    const std::int32_t products[direction_products] = {d.x * d.x, d.y * d.y, d.z * d.z,
                                                       d.x * d.y, d.x * d.z, d.y * d.z};
    for (int i = 0; i < direction_products; ++i) add(sums + i, to_sum(products[i]));
  }

  const field_view* field_;
  stamped_table<visit_entry> visits_;
  walk_output out_;
  bool more_than_density_ = false;
  std::uint32_t own_region_ = 0;
  std::int32_t last_place_ = -1;
  std::int32_t last_column_ = -1, last_pair_column_ = -1;
  std::uint32_t crossings_ = 0;
  int half_ = 0;
  std::int32_t start_place_ = -1;  ///< place of a start whose direction is not known yet; -1: none
};

}  // namespace voxherd::track
