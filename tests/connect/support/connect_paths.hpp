#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/connect/flow.hpp"
#include "kernels/connect/lattice_builder.hpp"
#include "kernels/connect/path.hpp"
#include "kernels/device/each_cpu.hpp"
#include "tests/connect/support/connect_case.hpp"

/// Paths through given arrival times, without a solver, and through a solver's.
namespace voxherd::reference {

struct followed_path {
  connect::path_score score;
  std::vector<vec3> points_mm;
};

/// One front with given arrival times.
class path_bench {
 public:
  explicit path_bench(const connect_case& c) : case_(c), numbers_(mask_numbers(c)) {
    lattice_ = connect::build_lattice(c.field(), 2);
  }

  const connect::lattice& lattice() const { return lattice_; }
  const connect::front_start& started() const { return started_; }
  std::uint32_t number(const vec3& voxel) const { return numbers_[case_.linear(voxel)]; }
  std::uint32_t cell(const vec3& voxel) const { return lattice_.cell_of_number[number(voxel)]; }
  /// Writable.
  connect::flow& flow_at(const vec3& voxel) { return flows_[cell(voxel)]; }

  void set_front(const starts& front, const std::function<double(const vec3&)>& arrival) {
    std::vector<float> u(lattice_.cells(), connect::unreached);
    for (const vec3& place : places_inside(case_)) u[cell(place)] = static_cast<float>(arrival(place));
    started_ = connect::find_front_starts(lattice_, make_fronts({front}))[0];
    flows_.resize(u.size());
    each_on_cpu(2, static_cast<std::uint32_t>(u.size()),
                connect::flow_maker{lattice_.view(), u.data(), 0, flows_.data()});
  }

  followed_path follow(const vec3& voxel, const connect::path_settings& how = {}) const {
    const connect::path_request request{0, number(voxel)};
    followed_path path;
    const double axes[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, origin[3] = {0, 0, 0};
    connect::path_follower f = connect::make_follower(how, axes, origin);
    f.lattice = lattice_.view();
    f.flows = flows_.data();
    f.started = &started_;
    f.fronts = 1;
    f.requests = &request;
    f.cell_of_number = lattice_.cell_of_number.data();
    f.scores = &path.score;
    f(0);
    const std::uint64_t offsets[2] = {7, 7 + path.score.steps + 1};  // they need not start at 0
    std::vector<float> points(3 * (path.score.steps + 1), NAN);
    f.scores = nullptr;
    f.offsets = offsets;
    f.world_mm = points.data();
    f(0);
    for (std::size_t i = 0; i < points.size(); i += 3)
      path.points_mm.push_back({points[i], points[i + 1], points[i + 2]});
    return path;
  }

 private:
  connect_case case_;
  std::vector<std::uint32_t> numbers_;
  connect::lattice lattice_;
  connect::front_start started_{};
  std::vector<connect::flow> flows_;
};

/// Paths of the fronts of a solver's last solution.
inline std::vector<followed_path> followed(const connect::solver& solver,
                                           const std::vector<connect::path_request>& requests,
                                           const connect::path_settings& how = {}) {
  std::vector<connect::path_score> scores(requests.size());
  solver.score_paths(requests, how, scores.data());
  std::vector<std::uint64_t> offsets{0};
  for (const auto& s : scores) offsets.push_back(offsets.back() + s.steps + 1);
  std::vector<float> points(3 * offsets.back(), NAN);
  solver.trace_paths(requests, how, offsets, points.data());
  std::vector<followed_path> paths;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    paths.push_back({scores[i], {}});
    for (std::uint64_t p = offsets[i]; p < offsets[i + 1]; ++p)
      paths.back().points_mm.push_back({points[3 * p], points[3 * p + 1], points[3 * p + 2]});
  }
  return paths;
}

inline double length_of(const std::vector<vec3>& points) {
  double length = 0;
  for (std::size_t i = 1; i < points.size(); ++i) length += norm(points[i] - points[i - 1]);
  return length;
}

/// Voxels of the mask at every `step`-th position.
inline std::vector<vec3> scattered_voxels(const connect_case& c, std::size_t step) {
  std::vector<vec3> voxels;
  for (std::size_t z = 0; z < c.size[2]; z += step)
    for (std::size_t y = 0; y < c.size[1]; y += step)
      for (std::size_t x = 0; x < c.size[0]; x += step) {
        const vec3 v{double(x), double(y), double(z)};
        if (c.has(v)) voxels.push_back(v);
      }
  return voxels;
}

}  // namespace voxherd::reference
