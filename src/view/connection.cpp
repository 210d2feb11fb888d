#include "src/view/connection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/clock.hpp"
#include "src/analyses/connect/pathway.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/tensor_file.hpp"
#include "src/scan/white_matter.hpp"
#include "src/show/fibres.hpp"

namespace voxherd::view {

namespace {

/// Both parts of a path lead from its voxel to an end: the first one is reversed.
void append_fibres(std::span<const float> to_from, std::span<const float> to_to, fibre_set& f) {
  for (std::size_t p = to_from.size() / 3; p > 0; --p)
    f.position_mm.insert(f.position_mm.end(), to_from.begin() + static_cast<std::ptrdiff_t>(3 * (p - 1)),
                         to_from.begin() + static_cast<std::ptrdiff_t>(3 * p));
  f.position_mm.insert(f.position_mm.end(), to_to.begin() + 3, to_to.end());
  f.offsets.push_back(f.position_mm.size() / 3);
}

fibre_set trace_through(const connect::solver& solver, const std::vector<planned_path>& paths) {
  std::vector<connect::path_request> asked;
  std::vector<std::uint64_t> offsets{0};
  for (const planned_path& p : paths)
    for (std::size_t part = 0; part < 2; ++part) {
      asked.push_back({p.fronts[part], p.voxel});
      offsets.push_back(offsets.back() + p.steps[part] + 1);
    }
  std::vector<float> points(3 * offsets.back());
  if (!asked.empty()) solver.trace_paths(asked, {}, offsets, points.data());
  const auto part = [&](std::size_t i) {
    return std::span<const float>(points).subspan(3 * offsets[i], 3 * (offsets[i + 1] - offsets[i]));
  };
  fibre_set f;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    append_fibres(part(2 * i), part(2 * i + 1), f);
    f.cost.push_back(paths[i].cost);
  }
  return f;
}

}  // namespace

connection_request make_connection_request(const asked_connection& asked, const connect_request& base) {
  connection_request r{asked.from, asked.to, base};
  connect_options().read_stored(asked.options, r.options);
  if (!r.options.has_min_FA()) r.options.within_FA.reset();  // no word of the command line
  return r;
}

void set_end(const chosen_end& end, end_side side, const std::string& parcellation, connect_request& r) {
  const bool from = side == end_side::from;
  const bool is_region = !end.point_mm;
  (from ? r.from_point : r.to_point) = end.point_mm;
  (from ? r.from : r.to) = is_region ? parcellation : "";
  (from ? r.from_labels : r.to_labels) = is_region ? std::vector{end.label} : std::vector<std::int32_t>();
}

connection_solver::connection_solver(const connect_request& request, tensor_source&& tensors,
                                     const std::string& parcellation, const device& d)
    : request_(connect_options().complete(request)), device_(d) {
  in_.options = make_connect_settings(request_);
  in_.grid = tensors.grid;
  find_passable_voxels(tensors, in_);
  in_.image = std::move(tensors.image);
  voxels_ = in_.voxels;
  FA_ = measured_FA(in_.image, voxels_);
  white_matter_ = find_white_matter(in_.image, white_matter_FA);
  if (!parcellation.empty()) parcellation_ = read_labels(parcellation, in_.grid, label_kind::labels);
  prepare(request_);
}

void connection_solver::choose_voxels(const connect_request& request) {
  in_.options = make_connect_settings(request);
  in_.regions = {};
  in_.voxels = voxels_;
  for (const std::uint64_t v : voxels_) in_.inside[v] = 1;
  leave_out_grey_matter(in_.image, in_);
  passable_FA_ = measured_FA(in_.image, in_.voxels);
  space_ = std::make_unique<voxel_neighbours>(in_.grid.size, in_.voxels);
}

std::vector<float> connection_solver::spread(std::span<const float> values) const {
  std::vector<float> all(voxels_.size(), std::numeric_limits<float>::quiet_NaN());
  std::size_t n = 0;  // both lists increase
  for (std::size_t i = 0; i < voxels_.size() && n < values.size(); ++i)
    if (voxels_[i] == in_.voxels[n]) all[i] = values[n++];
  return all;
}

void connection_solver::prepare(const connect_request& request) {
  field_.reset();
  solver_.reset();
  choose_voxels(request);
  request_ = request;
  std::uint64_t repaired = 0;
  field_ = make_front_field(in_, device_, repaired);
  warn_repaired(repaired, in_.image, in_.options.how.min_eigenvalue, "max ratio");
  solver_ = connect::make_solver(device_, field_->view(), in_.options.solver);
}

void connection_solver::choose(end_side side, const chosen_end& end) {
  if (!end.point_mm) {
    if (!parcellation_) refuse_usage("there is no parcellation; give a point, or --parcellation");
    check_labels(*parcellation_, {end.label}, side == end_side::from ? "from" : "to");
  }
  set_end(end, side, parcellation_ ? parcellation_->path : "", in_.options);
}

std::uint64_t connection_solver::voxel_at(end_side side, const point_in_mm& mm) const {
  const char* name = side == end_side::from ? "From" : "To";
  const auto voxel = find_voxel(in_.grid, grid_space(in_.grid).to_index(mm));
  if (!voxel || in_.image.inside[*voxel] == 0) refuse_data("{}: no tensor here; click inside the brain", name);
  if (in_.inside[*voxel] == 0)
    refuse_data("{}: no path may pass here; click in white matter, or allow a lower FA", name);
  return *voxel;
}

connection_solver::arrival_pair connection_solver::solve_fronts(const std::function<bool()>& is_replaced) {
  const std::size_t voxels = in_.voxels.size();
  field_->starts = find_starts(in_, field_->grid, [&](std::size_t voxel) { return field_->view().tensor_of(voxel); });
  solver_->set_regions(in_.regions);
  solver_->stop_when(is_replaced);
  const connect::solve_report report = solver_->solve(field_->starts);
  if (is_replaced && is_replaced()) throw replaced{};
  if (!report.converged) throw failure(exit_status::internal_error, "arrival times have not converged");
  last_.device_seconds = report.seconds;
  const auto scale = static_cast<float>(field_->cost_scale);
  last_.table = make_region_table(*solver_, 2, 2, scale);
  arrival_pair times{std::vector<float>(voxels), std::vector<float>(voxels)};
  solver_->arrivals(0, 1, times.from.data());
  solver_->arrivals(1, 1, times.to.data());
  for (std::vector<float>* u : {&times.from, &times.to})
    for (float& x : *u) x *= scale;
  return times;
}

const connection& connection_solver::solve(const connection_request& request, std::function<bool()> is_replaced) {
  const auto stop_if_replaced = [&] {
    if (is_replaced && is_replaced()) throw replaced{};
  };
  last_.number = 0;
  lap_timer timer;
  const auto& options = connect_options();
  if (!solver_ || options.words(request.options) != options.words(request_)) prepare(request.options);
  last_.field_seconds = timer.lap();
  stop_if_replaced();
  choose(end_side::from, request.from);
  choose(end_side::to, request.to);
  const auto voxels_at = [&](end_side side, const chosen_end& end) {
    return end.point_mm ? std::vector{voxel_at(side, *end.point_mm)} : parcellation_->voxels_with({end.label});
  };
  const auto from = voxels_at(end_side::from, request.from), to = voxels_at(end_side::to, request.to);
  set_ends(from, to, in_);
  arrival_pair times = solve_fronts(is_replaced);
  last_.front_seconds = timer.lap();
  last_.way = find_pathway(std::move(times.from), std::move(times.to), last_.table, in_.regions, *space_, passable_FA_,
                           in_.options.epsilon);
  stop_if_replaced();
  last_.level = joining_levels(last_.way, in_.regions, *space_, largest_epsilon);
  last_.path_mm = trace_least_path(*solver_, last_.table);
  last_.path_FA = mean_along(last_.path_mm, in_.grid, voxels_, FA_);
  last_.part_outside = part_outside(white_matter_, voxels_of(last_.way, in_.voxels));
  last_.pathway_seconds = timer.lap();
  last_.number = ++solved_;
  return last_;
}

const connection& connection_solver::last() const {
  if (last_.number == 0) refuse_usage("no connection has been solved yet");
  return last_;
}

void connection_solver::check_is_last(std::uint64_t connection) const {
  if (last_.number == 0 || connection != last_.number) refuse_usage("connection: another one has been solved since");
}

bool connection_solver::is_on_pathway(std::size_t voxel, double epsilon) const {
  const double limit = (1 + epsilon) * (1 + last_.way.cost.joining_excess) - 1;
  return static_cast<double>(last_.level[voxel]) <= limit;
}

std::vector<std::uint32_t> connection_solver::pathway_voxels(std::uint64_t connection, double epsilon) const {
  check_is_last(connection);
  std::vector<std::uint32_t> voxels;
  for (std::size_t v = 0; v < last_.level.size(); ++v)
    if (is_on_pathway(v, epsilon)) voxels.push_back(static_cast<std::uint32_t>(v));
  return voxels;
}

fibre_set connection_solver::trace(const fibre_request& request) {
  check_is_last(request.connection);
  pathway& p = last_.way;
  for (std::size_t v = 0; v < p.inside.size(); ++v) p.inside[v] = is_on_pathway(v, request.epsilon) ? 1 : 0;
  return trace_through(*solver_, plan_paths(p, in_, *field_, *solver_, request.count));
}

std::vector<float> trace_least_path(const connect::solver& solver, const region_table& table) {
  constexpr std::size_t pair = 1;  // entry of the table of two regions: front 0 at region 1
  const auto end = static_cast<connect::path_end>(table.path_end[pair]);
  if (end == connect::path_end::never_reached) return {};
  const connect::path_request request{0, table.best_voxel[pair]};
  const std::uint64_t offsets[] = {0, table.path_steps[pair] + 1};
  std::vector<float> points(3 * offsets[1]);
  solver.trace_paths({&request, 1}, {}, offsets, points.data());
  return points;
}

double mean_along(std::span<const float> path_mm, const image_grid& grid, std::span<const std::uint64_t> voxels,
                  std::span<const float> values) {
  const grid_space space(grid);
  double sum = 0, length = 0;
  for (std::size_t p = 3; p + 3 <= path_mm.size(); p += 3) {
    vector3 ends[2];
    for (std::size_t d = 0; d < 3; ++d)
      for (std::size_t e = 0; e < 2; ++e) ends[e][d] = static_cast<double>(path_mm[p - 3 + 3 * e + d]);
    const double mm = std::hypot(ends[1][0] - ends[0][0], ends[1][1] - ends[0][1], ends[1][2] - ends[0][2]);
    report::walk_segment(space.to_index(ends[0]), space.to_index(ends[1]), [&](const auto& at, double part) {
      const auto voxel =
          find_voxel(grid, {static_cast<double>(at[0]), static_cast<double>(at[1]), static_cast<double>(at[2])});
      const auto found = std::lower_bound(voxels.begin(), voxels.end(), voxel.value_or(~std::uint64_t{0}));
      if (found == voxels.end() || *found != voxel) return;
      sum += part * mm * static_cast<double>(values[static_cast<std::size_t>(found - voxels.begin())]);
      length += part * mm;
    });
  }
  return sum / length;
}

}  // namespace voxherd::view
