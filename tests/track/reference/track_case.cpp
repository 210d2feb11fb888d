#include "tests/track/reference/track_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace voxherd::track {

track_case::track_case(std::array<std::int32_t, 3> box, std::int32_t samples, std::int32_t fibre_count)
    : size(box),
      voxels(static_cast<std::size_t>(box[0]) * static_cast<std::size_t>(box[1]) * static_cast<std::size_t>(box[2])),
      fibres(voxels.size() * static_cast<std::size_t>(samples) * static_cast<std::size_t>(fibre_count)) {
  how.samples = samples;
  how.fibres = fibre_count;
  for (float& step : how.step_voxels) step = 0.5f / direction_unit;
  how.min_dot = static_cast<std::int32_t>(0.2 * direction_unit * direction_unit);
  how.min_fraction = static_cast<std::uint32_t>(0.01 * fraction_unit);
  how.random_seed = 12345;
  std::int32_t place = 0;
  for (int z = 0; z < box[2]; ++z)
    for (int y = 0; y < box[1]; ++y)
      for (int x = 0; x < box[0]; ++x) {
        const bool outermost = x == 0 || y == 0 || z == 0 || x == box[0] - 1 || y == box[1] - 1 || z == box[2] - 1;
        voxels[index(x, y, z)] = {place++, outermost ? 0 : mark::inside};
      }
}

std::size_t track_case::index(int x, int y, int z) const {
  return static_cast<std::size_t>((z * size[1] + y) * size[0] + x);
}

void track_case::set_fibre(int k, double fraction, const direction_at& at) {
  for (int z = 0; z < size[2]; ++z)
    for (int y = 0; y < size[1]; ++y)
      for (int x = 0; x < size[0]; ++x)
        for (int s = 0; s < how.samples; ++s) {
          const std::array<double, 3> d = at(x, y, z, s);
          const auto whole = [&](std::size_t i) {
            return static_cast<std::int16_t>(std::lround(d[i] * direction_unit));
          };
          const std::size_t row = index(x, y, z) * static_cast<std::size_t>(how.samples) + static_cast<std::size_t>(s);
          fibres[row * static_cast<std::size_t>(how.fibres) + static_cast<std::size_t>(k)] = {
              whole(0), whole(1), whole(2), static_cast<std::uint16_t>(std::lround(fraction * fraction_unit))};
        }
}

void track_case::add_seed(int x, int y, int z, std::uint32_t region) {
  seeds.push_back({{static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)},
                   static_cast<std::uint32_t>(index(x, y, z)),
                   region});
}

void track_case::set_coarse_matrix() {
  matrix = {};
  matrix_columns_.clear();
  for (std::size_t d = 0; d < 3; ++d) {
    matrix.size[d] = (size[d] + 1) / 2;
    matrix.to_voxel.rows[d][d] = 0.5f;
    matrix.to_voxel.rows[d][3] = -0.25f;
    matrix.columns = (d == 0 ? 1 : matrix.columns) * static_cast<std::uint32_t>(matrix.size[d]);
  }
  for (std::uint32_t i = 0; i < matrix.columns; ++i) matrix_columns_.push_back(static_cast<std::int32_t>(i));
}

void track_case::set_fibre_matrix() {
  set_coarse_matrix();
  matrix.by_fibre = true;
  matrix.columns *= fibre_columns;
}

void track_case::set_seed_matrix() {
  matrix = {};
  matrix.square = true;
  matrix.columns = static_cast<std::uint32_t>(seeds.size());
  matrix_columns_.assign(voxels.size(), -1);
  for (std::size_t d = 0; d < 3; ++d) matrix.size[d] = size[d], matrix.to_voxel.rows[d][d] = 1;
  for (std::size_t i = 0; i < seeds.size(); ++i) matrix_columns_[seeds[i].index] = static_cast<std::int32_t>(i);
}

namespace {

/// Displacements with a margin without any, on a grid whose points are 1.5 voxels apart.
displacement_field make_sines(const std::array<std::int32_t, 3>& size, double voxels,
                              std::vector<displacement>& values) {
  displacement_field field;
  for (std::size_t d = 0; d < 3; ++d) {
    field.size[d] = size[d] * 2 / 3 + 4;
    field.to_field.rows[d][d] = 1 / 1.5f;
    field.to_field.rows[d][3] = 1;
  }
  for (int z = 0; z < field.size[2]; ++z)
    for (int y = 0; y < field.size[1]; ++y)
      for (int x = 0; x < field.size[0]; ++x) {
        const bool outermost =
            x == 0 || y == 0 || z == 0 || x == field.size[0] - 1 || y == field.size[1] - 1 || z == field.size[2] - 1;
        const auto wave = [&](double phase) { return outermost ? 0 : static_cast<float>(voxels * std::sin(phase)); };
        values.push_back({{wave(0.7 * y), wave(0.9 * z + 1), wave(0.6 * x + 2)}});
      }
  return field;
}

}  // namespace

void track_case::set_warp() {
  mask_voxels = voxels;
  for (voxel_info& v : voxels) v.marks &= mark::inside;
  for (std::size_t d = 0; d < 3; ++d) space.size[d] = size[d];
  space.to_samples.affine = {{{1, 0.1f, 0, 0.2f}, {-0.1f, 1, 0, 0.3f}, {0, 0, 1, 0.1f}}};
  space.to_seeds.affine = {
      {{0.990099f, -0.0990099f, 0, -0.168317f}, {0.0990099f, 0.990099f, 0, -0.316832f}, {0, 0, 1, -0.1f}}};
  space.to_samples.field = make_sines(size, 0.8, to_samples_);
  space.to_seeds.field = make_sines(size, -0.8, to_seeds_);
}

field_view track_case::view() const { return host_field(input(1, 1)); }

track_input track_case::input(std::uint64_t per_seed, std::uint64_t per_group) const {
  track_input in;
  for (std::size_t d = 0; d < 3; ++d) in.size[d] = size[d];
  in.voxels = voxels;
  in.fibres = fibres;
  in.space = space;
  in.space.voxels = mask_voxels.empty() ? nullptr : mask_voxels.data();
  in.space.to_samples.field.values = to_samples_.empty() ? nullptr : to_samples_.data();
  in.space.to_seeds.field.values = to_seeds_.empty() ? nullptr : to_seeds_.data();
  in.places = static_cast<std::uint32_t>(voxels.size());
  in.columns = columns();
  in.exits = exits;
  in.matrix = matrix;
  in.matrix.column = matrix_columns_.empty() ? nullptr : matrix_columns_.data();
  target_begin_.assign(targets.empty() ? 0 : 1, 0);
  target_list_.clear();
  for (std::size_t v = 0; v < voxels.size() && !targets.empty(); ++v) {
    for (std::uint32_t t = 0; t < targets.size(); ++t)
      if (std::count(targets[t].begin(), targets[t].end(), v) > 0) target_list_.push_back(t);
    target_begin_.push_back(static_cast<std::uint32_t>(target_list_.size()));
  }
  in.target_begin = target_begin_;
  in.targets = target_list_;
  if (mesh) in.surfaces = mesh->input();
  in.seeds = seeds;
  in.how = how;
  in.plan = {seeds.size(), per_seed, per_group};
  return in;
}

case_counts no_counts(const track_case& c) {
  case_counts zero;
  const std::size_t places = c.voxels.size(), cells = (c.regions > 0 ? c.regions : c.seeds.size()) * c.columns();
  zero.density.resize(places), zero.length.resize(places), zero.directions.resize(places * direction_products);
  zero.accepted.resize(c.seeds.size()), zero.hits.resize(cells), zero.hit_length.resize(cells);
  return zero;
}

namespace {

/// Memory for the arrays of all tallies but those of a matrix.
class count_memory {
 public:
  count_memory(const track_input& in, bool with_directions) : extents_(make_extents(in.plan, in.places, in.columns)) {
    for (std::size_t i = 0; i < counters::array_count; ++i) {
      const count_array& array = all_counts::table[i];
      if (array.by == counted_by::cell || (array.name == std::string("directions") && !with_directions)) continue;
      numbers_[i].resize(in.plan.groups() * extents_.bytes(array) / sizeof(std::uint32_t));
      all_.array[i] = numbers_[i].data();
    }
  }
  const counters& all() const { return all_; }
  counters group(std::size_t number) const { return all_.row(number, extents_); }

  /// Whether all arrays that this has are the same.
  bool is_part_of(const count_memory& other) const {
    for (std::size_t i = 0; i < counters::array_count; ++i)
      if (all_.array[i] != nullptr && numbers_[i] != other.numbers_[i]) return false;
    return true;
  }

 private:
  count_extents extents_;
  std::array<std::vector<std::uint32_t>, counters::array_count> numbers_;
  counters all_;
};

}  // namespace

case_counts count_on(const device& d, const track_case& c, std::uint64_t per_seed, std::uint64_t per_group,
                     const matrix_parts& parts) {
  const track_input in = c.input(per_seed, per_group);
  const std::size_t rows = in.plan.seed_rows(), groups = in.plan.groups(), columns = in.columns;
  const count_memory counted(in, true), noted(in, false);
  make_tracker(d, in)->track(0, groups, counted.all(), parts);
  // Without directions, streamlines with conditions are not drawn again but counted from notes.
  make_tracker(d, in)->track(0, groups, noted.all());
  EXPECT_TRUE(noted.is_part_of(counted));

  case_counts sums = no_counts(c);
  const auto add_row = [](std::vector<std::uint64_t>& to, const auto* from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  for (std::size_t g = 0; g < groups; ++g) {
    const counters of = counted.group(g);
    sums.walked += *of.values<"walked">();
    add_row(sums.density, of.values<"density">());
    add_row(sums.length, of.values<"length">());
    add_row(sums.directions, of.values<"directions">());
    for (std::size_t i = 0; i < rows && in.plan.first_seed(g) + i < c.seeds.size(); ++i) {
      const std::size_t seed_number = in.plan.first_seed(g) + i, to = c.row(seed_number) * columns;
      sums.accepted[seed_number] += of.values<"accepted">()[i];
      for (std::size_t k = 0; k < columns; ++k) {
        sums.hits[to + k] += of.values<"hits">()[i * columns + k];
        sums.hit_length[to + k] += of.values<"hit_length">()[i * columns + k];
      }
    }
  }
  return sums;
}

void expect_parts_drawn_with_counts(const device& d, track_case c) {
  constexpr std::uint64_t per_seed = 100, per_group = 300;
  const track_input in = c.input(per_seed, per_group);
  const auto alone = make_tracker(d, in);
  sparse_rows rows, rows_alone;
  std::vector<std::vector<pair_entry>> pairs, pairs_alone(in.plan.groups());
  const case_counts counts = count_on(d, c, per_seed, per_group);
  EXPECT_TRUE(count_on(d, c, per_seed, per_group, {&rows, nullptr}) == counts);
  EXPECT_TRUE(count_on(d, c, per_seed, per_group, {nullptr, &pairs}) == counts);
  alone->track_rows(0, c.seeds.size(), rows_alone);
  for (std::uint64_t g = 0; g < in.plan.groups(); ++g) alone->track_pairs(g, pairs_alone[g]);
  EXPECT_GT(rows.column.size(), 10u);
  EXPECT_EQ(rows.begin, rows_alone.begin);
  EXPECT_EQ(rows.column, rows_alone.column);
  EXPECT_EQ(rows.count, rows_alone.count);
  EXPECT_EQ(rows.steps, rows_alone.steps);
  EXPECT_EQ(pairs, pairs_alone);
}

case_counts count_on_cpu(const track_case& c, std::uint64_t per_seed, std::uint64_t per_group, int threads) {
  return count_on({backend::cpu, threads, 0}, c, per_seed, per_group);
}

track_case bent_case() {
  track_case c({14, 12, 11}, 7, 2);
  const auto unit = [](double x, double y, double z) {
    const double n = std::sqrt(x * x + y * y + z * z);
    return std::array<double, 3>{x / n, y / n, z / n};
  };
  c.set_fibre(0, 0.5, [&](int x, int y, int z, int s) {
    return unit(1, 0.15 * x - 0.8 + 0.08 * s, 0.1 * std::sin(y + s) + 0.02 * z);
  });
  c.set_fibre(1, 0.3, [&](int x, int y, int z, int s) {
    return unit(0.1 * std::cos(x + 2 * s), 1, 0.2 * z - 1 + 0.1 * s + 0.01 * y);
  });
  for (int z = 4; z < 7; ++z)
    for (int y = 4; y < 8; ++y) c.add_seed(6, y, z);
  c.how.max_points = 60;
  c.how.random_start = true;
  for (float& r : c.how.radius_voxels) r = 0.6f;
  c.how.first = first_fibre::weighted;
  c.how.loop_check = true;
  return c;
}

track_case bent_case_with_surfaces() {
  track_case c = bent_case();
  c.how.includes = 1;
  c.how.exclude = true;
  c.targets.resize(2);
  for (int y = 0; y < 12; ++y) c.targets[1].push_back(c.index(5, y, 5));
  const auto mesh = std::make_shared<track_mesh>(c.size);
  mesh->targets = {0};
  add_sphere(*mesh, {6.5f, 6, 5}, 4.2f, 2, {mark::stop, 0, 0, 0});
  add_sphere(*mesh, {8, 5, 3}, 1.5f, 2, {mark::exclude, 0, 0, 0});
  mesh->add_sheet(7.3f, {1u << mark::first_include, 0, 0, 0});
  const std::size_t first = mesh->vertices.size() / 3;
  add_sphere(*mesh, {6, 6, 6}, 2.2f, 2, {0, 1, 0, 0});
  mesh->add_sheet(8.1f, {0, 0, 0, 1});
  mesh->list_cells();
  for (std::size_t i = 0; i < c.seeds.size(); i += 2)
    for (std::size_t d = 0; d < 3; ++d) c.seeds[i].position[d] = mesh->vertices[3 * (first + 5 * i) + d];
  c.mesh = mesh;
  return c;
}

track_case bent_case_with_conditions(int combination) {
  track_case c = bent_case();
  for (int y = 1; y < 11; ++y)
    for (int z = 1; z < 10; ++z) {
      c.set_marks(10, y, z, 1u << mark::first_include);
      c.set_marks(3, y, z, 2u << mark::first_include);
      if (y > 8) c.set_marks(7, y, z, mark::exclude);
      if (z > 7) c.set_marks(8, y, z, mark::stop);
    }
  c.how.includes = combination == 0 ? 0 : 2;
  c.how.exclude = (combination & 1) != 0;
  c.how.rule = combination == 2 || combination == 3 ? include_rule::one : include_rule::all;
  c.how.each_half = combination == 3;
  c.how.ordered = combination == 4;
  return c;
}

}  // namespace voxherd::track
