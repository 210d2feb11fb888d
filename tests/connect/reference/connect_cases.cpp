#include "tests/connect/reference/connect_cases.hpp"

#include <numbers>

namespace voxherd::reference {

connect::speed_field connect_case::field() const {
  return {size, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}, tensors, inside};
}

std::size_t connect_case::linear(const vec3& x) const {
  const auto nearest = [](double c) { return static_cast<std::size_t>(std::lround(c)); };
  return (nearest(x[2]) * size[1] + nearest(x[1])) * size[0] + nearest(x[0]);
}

bool connect_case::has(const vec3& x) const {
  for (std::size_t d = 0; d < 3; ++d)
    if (std::lround(x[d]) < 0 || std::lround(x[d]) >= long(size[d])) return false;
  return inside[linear(x)] != 0;
}

connect_case sampled_case(const std::string& name, std::shared_ptr<const tensor_formula> f, const sampling_grid& grid,
                          const vec3& source) {
  connect_case c{name, grid.size, {}, {}, source, {}};
  const mat3 to_voxel = inverse(grid.axes);
  for (std::uint64_t z = 0; z < grid.size[2]; ++z)
    for (std::uint64_t y = 0; y < grid.size[1]; ++y)
      for (std::uint64_t x = 0; x < grid.size[0]; ++x) {
        const mat3 S = to_voxel * f->D(grid.world({double(x), double(y), double(z)})) * transposed(to_voxel);
        for (const double s : {S[0][0], S[0][1], S[0][2], S[1][1], S[1][2], S[2][2], 0.0, 0.0})
          c.tensors.push_back(static_cast<float>(s));
      }
  c.inside.assign(c.tensors.size() / 8, 1);
  if (auto solved = std::dynamic_pointer_cast<const solved_field>(f))
    c.distance = [solved, grid](const vec3& from, const vec3& to) {
      return solved->distance(grid.world(from), grid.world(to));
    };
  return c;
}

mat3 fibre_tensor(const vec3& t, double ratio) {
  return 1 / ratio * identity3 + (1 - 1 / ratio) * outer(unit(t), unit(t));
}

namespace connect_cases {
namespace {

/// Voxels of 64 / side; the centre of voxel (0, 0, 0) is at 0 for every side, so that integer positions of side 64 are
/// voxels of its multiples.
sampling_grid cube(std::uint64_t side, const vec3& origin = {}) {
  return {{side, side, side}, 64.0 / double(side) * identity3, origin};
}

connect_case from_place(const std::string& name, std::shared_ptr<const tensor_formula> f, const sampling_grid& grid,
                        const vec3& place) {
  return sampled_case(name, std::move(f), grid, double(grid.size[0]) / 64 * place);
}

const vec3 helix_axis{31.5, 31.5, 0}, helix_start{48, 31, 4};
constexpr double helix_pitch = 24, helix_rise = helix_pitch / (2 * std::numbers::pi);

/// Restricts the mask to the voxels for which `keep` is true.
template <class Keep>
connect_case carved(connect_case c, const std::string& name, const vec3& source, Keep&& keep) {
  c.name = name, c.source = source, c.distance = {};
  std::size_t i = 0;
  for (std::uint64_t z = 0; z < c.size[2]; ++z)
    for (std::uint64_t y = 0; y < c.size[1]; ++y)
      for (std::uint64_t x = 0; x < c.size[0]; ++x, ++i) c.inside[i] = keep(x, y, z) ? 1 : 0;
  return c;
}

/// The same tensor in every voxel, for every side.
connect_case filled(const mat3& S, std::uint64_t side) {
  return sampled_case("", std::make_shared<constant_field>(S), {{side, side, side}, identity3, {}}, {});
}

}  // namespace

connect_case constant(const mat3& S, std::uint64_t side) {
  return from_place("constant", std::make_shared<constant_field>(S), cube(side), {32, 32, 32});
}

connect_case paper_example(std::uint64_t side) {
  connect_case c = constant({{{1, 0.9, 0.9}, {0.9, 1, 0.9}, {0.9, 0.9, 1}}}, side);
  c.name = "paper_example";
  return c;
}

connect_case half_space(std::uint64_t side) {
  return from_place("half_space", std::make_shared<hyperbolic_field>(32), cube(side, {0, 0, 8}), {32, 32, 24});
}

connect_case fish_eye(std::uint64_t side) {
  return from_place("fish_eye", std::make_shared<fish_eye_field>(40, 1, vec3{32, 32, 32}), cube(side), {20, 24, 28});
}

connect_case pullback(std::uint64_t side) {
  return from_place("pullback", std::make_shared<pullback_field>(), cube(side), {32, 32, 32});
}

connect_case helix(double across, std::uint64_t side) {
  return from_place("helix", std::make_shared<helix_field>(1, across, helix_rise, helix_axis), cube(side), helix_start);
}

vec3 on_helix(double turns) {
  const vec3 r = helix_start - helix_axis;
  const double angle = 2 * std::numbers::pi * turns, c = std::cos(angle), s = std::sin(angle);
  return helix_axis + vec3{c * r[0] - s * r[1], s * r[0] + c * r[1], r[2] + helix_pitch * turns};
}

double helix_length(double turns) {
  const vec3 r = helix_start - helix_axis;
  return 2 * std::numbers::pi * turns * std::sqrt(r[0] * r[0] + r[1] * r[1] + helix_rise * helix_rise);
}

/// The corridor runs along x in the middle; without it the rooms are quarters or eighths of the cube.
connect_case two_rooms(passage how, const mat3& S, std::uint64_t side) {
  const std::uint64_t half = side / 2;
  const vec3 source{2, 3, 4};
  if (how == passage::edge)
    return carved(filled(S, side), "two_rooms_edge", source,
                  [=](auto x, auto y, auto) { return (x < half) == (y < half); });
  if (how == passage::corner)
    return carved(filled(S, side), "two_rooms_corner", source, [=](auto x, auto y, auto z) {
      return (x < half && y < half && z < half) || (x >= half && y >= half && z >= half);
    });
  if (how == passage::wall)
    return carved(filled(S, side), "two_rooms_wall", source, [=](auto x, auto y, auto) { return x + y != side; });
  return carved(filled(S, side), "two_rooms", source,
                [=](auto x, auto y, auto z) { return x < half - 4 || x >= half + 4 || (y == half && z == half); });
}

std::array<vec3, 2> corridor_ends(std::uint64_t side) {
  const double half = double(side / 2);
  return {vec3{half - 4, half, half}, vec3{half + 3, half, half}};
}

vec3 other_room(passage how, std::uint64_t side) {
  const double far = double(side) - 3;
  return how == passage::corridor ? vec3{far, 5, far} : vec3{far, far, far};
}

connect_case island(const mat3& S, std::uint64_t side) {
  const std::uint64_t shore = side * 3 / 5;
  return carved(filled(S, side), "island", {3, 3, 3}, [=](auto x, auto y, auto z) {
    return (x < shore && y < shore && z < shore) || (x > shore && y > shore && z > shore);
  });
}

vec3 on_island(std::uint64_t side) { return {double(side) - 2, double(side) - 3, double(side) - 2}; }

connect_case ragged() {
  const sampling_grid grid{{23, 18, 26}, 2 * identity3, {5, 11, 3}};
  const vec3 source{11, 9, 12};
  return carved(sampled_case("", std::make_shared<pullback_field>(), grid, source), "ragged", source,
                [](auto x, auto y, auto z) {
                  const std::uint64_t hash = (x * 73856093 ^ y * 19349663 ^ z * 83492791) * 0x9e3779b97f4a7c15u >> 40;
                  return hash % 5 != 0 || (x == 11 && y == 9 && z == 12);
                });
}

}  // namespace connect_cases
}  // namespace voxherd::reference
