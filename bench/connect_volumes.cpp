#include "bench/connect_volumes.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bench/brain.hpp"
#include "bench/connect_brain.hpp"
#include "kernels/tensor_field/field.hpp"

namespace voxherd::bench {

namespace {

using reference::vec3;
using reference::operator+;
using reference::operator-;
namespace cases = reference::connect_cases;

vec3 place_of(const reference::connect_case& c, std::size_t linear) {
  return {static_cast<double>(linear % c.size[0]), static_cast<double>(linear / c.size[0] % c.size[1]),
          static_cast<double>(linear / (c.size[0] * c.size[1]))};
}

/// For a case whose mask is the complete grid.
void add_exact(connect_volume& v) {
  v.exact.resize(v.of.inside.size());
  const auto count = static_cast<std::int64_t>(v.exact.size());
#pragma omp parallel for
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    v.exact[at] = v.of.distance(v.of.source, place_of(v.of, at));
  }
}

/// Exact times in the ball where they are known, otherwise those of the source's tensor.
void start_in_ball(connect_volume& v, double radius) {
  if (v.exact.empty()) {
    v.starts.starts = connect::starts_at_point(v.of.field(), v.of.source, radius);
  } else {
    for (std::uint32_t i = 0; i < v.exact.size(); ++i)
      if (reference::norm(place_of(v.of, i) - v.of.source) <= radius)
        v.starts.starts.push_back({i, static_cast<float>(v.exact[i])});
  }
  v.starts.offsets.push_back(v.starts.starts.size());
}

reference::connect_case cube(const std::string& kind, std::uint64_t side) {
  if (kind == "const") return cases::paper_example(side);
  if (kind == "tilted") return cases::constant(reference::fibre_tensor({1, 2, 3}, 100), side);
  if (kind == "half_space") return cases::half_space(side);
  if (kind == "pullback") return cases::pullback(side);
  throw std::invalid_argument("unknown volume " + kind);
}

reference::connect_case folded_sheet() {
  reference::connect_case c{"brain", brain_size, {}, brain_mask(), {}, {}};
  c.tensors.resize(8 * c.inside.size());
  for (std::size_t at = 0; at < c.inside.size(); ++at) {
    const brain_fibre fibre = c.inside[at] ? brain_fibre_at(at) : brain_fibre{{1, 0, 0}, 1};
    std::size_t n = 8 * at;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = i; j < 3; ++j)
        c.tensors[n++] = static_cast<float>((i == j) + (fibre.ratio - 1) * fibre.along[i] * fibre.along[j]);
  }
  return c;
}

/// Every region is the source of a front: arrival time 0 in all its voxels.
void start_in_regions(connect_volume& v, std::size_t fronts) {
  const std::vector<std::int32_t> label = brain_labels(fronts);
  std::vector<std::vector<std::uint32_t>> members(fronts);
  std::uint32_t number = 0;
  for (std::size_t at = 0; at < label.size(); ++at) {
    if (label[at] > 0) members[static_cast<std::size_t>(label[at]) - 1].push_back(number);
    number += v.of.inside[at];
  }
  for (const auto& voxels : members) {
    for (const std::uint32_t one : voxels) v.starts.starts.push_back({one, 0});
    v.starts.offsets.push_back(v.starts.starts.size());
    v.regions.voxels.insert(v.regions.voxels.end(), voxels.begin(), voxels.end());
    v.regions.offsets.push_back(v.regions.voxels.size());
  }
}

/// The part of the brain that is connected by faces to its first voxel of white matter.
void keep_connected(reference::connect_case& c, std::size_t first) {
  std::vector<std::uint8_t> reached(c.inside.size());
  std::vector<std::size_t> open{first};
  reached[first] = 1;
  const std::array<std::size_t, 3> stride{1, c.size[0], c.size[0] * c.size[1]};
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    for (std::size_t d = 0; d < 3; ++d) {
      const std::size_t x = at / stride[d] % c.size[d];
      for (const std::size_t next : {x > 0 ? at - stride[d] : at, x + 1 < c.size[d] ? at + stride[d] : at})
        if (c.inside[next] && !reached[next]) reached[next] = 1, open.push_back(next);
    }
  }
  c.inside = reached;
}

/// Tensors as `voxherd connect` prepares them.
reference::connect_case real_brain() {
  const brain& b = philips_brain();
  tensor_field::preparation how;
  how.metric = tensor_field::metric_kind::jeong, how.alpha = 3, how.min_eigenvalue = std::pow(100, -1.0 / 3);
  const auto prepared =
      tensor_field::make_field({backend::cpu, 1, 0}, b.image, {}, how, tensor_field::field_kind::tensor, false);
  reference::connect_case c{"philips", b.image.size, tensor_field::host_values(*prepared), b.image.inside, {}, {}};
  keep_connected(c, b.white_matter.front());
  return c;
}

/// From voxels of white matter, evenly spaced in its list.
void start_in_white_matter(connect_volume& v, std::size_t fronts) {
  std::vector<std::uint32_t> number(v.of.inside.size());
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < number.size(); ++i) number[i] = count, count += v.of.inside[i];
  const auto& white = philips_brain().white_matter;
  for (std::size_t k = 0; k < fronts; ++k) {
    v.starts.starts.push_back({number[white[(2 * k + 1) * white.size() / (2 * fronts)]], 0});
    v.starts.offsets.push_back(v.starts.starts.size());
  }
}

connect_volume make_volume(const std::string& name) {
  const std::size_t cut = name.find('/');
  const std::string kind = name.substr(0, cut);
  const std::uint64_t n = std::stoull(name.substr(cut + 1));
  connect_volume v{name, {}, {}, {}, {}};
  if (kind == "brain") {
    v.of = folded_sheet();
    start_in_regions(v, n);
  } else if (kind == "philips") {
    v.of = real_brain();
    start_in_white_matter(v, n);
  } else if (kind == "helix") {
    v.of = cases::helix(1 / static_cast<double>(n), 64);
    start_in_ball(v, 2);
  } else {
    v.of = cube(kind, n);
    add_exact(v);
    start_in_ball(v, static_cast<double>(n) / 32);
  }
  return v;
}

double trilinear(const std::vector<float>& values, const reference::connect_case& c, const vec3& p) {
  double sum = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    double weight = 1;
    vec3 at;
    for (std::size_t d = 0; d < 3; ++d) {
      const double low = std::floor(p[d]), part = p[d] - low;
      const bool upper = corner >> d & 1u;
      at[d] = low + upper;
      weight *= upper ? part : 1 - part;
    }
    if (weight > 0) sum += weight * static_cast<double>(values[c.linear(at)]);
  }
  return sum;
}

}  // namespace

std::shared_ptr<const connect_volume> connect_volume_named(const std::string& name) {
  static std::shared_ptr<const connect_volume> kept;
  if (!kept || kept->name != name) {
    kept.reset();  // before the next one allocates memory
    kept = std::make_shared<connect_volume>(make_volume(name));
  }
  return kept;
}

connect::start_list first_front(const connect::start_list& all) {
  const auto begin = all.starts.begin();
  return {{0, all.offsets[1]}, {begin, begin + static_cast<long>(all.offsets[1])}};
}

double relative_L1(const connect_volume& v, const std::vector<float>& arrivals) {
  double error = 0, all = 0;
  for (std::size_t i = 0; i < v.exact.size(); ++i)
    error += std::abs(static_cast<double>(arrivals[i]) - v.exact[i]), all += v.exact[i];
  return error / all;
}

double over_exact_along_fibre(const connect_volume& v, const std::vector<float>& arrivals) {
  const vec3 step = v.name.starts_with("const") ? vec3{1, 1, 1} : vec3{1, 2, 3};
  vec3 at = v.of.source;
  while (v.of.has(at + step)) at = at + step;
  const std::size_t voxel = v.of.linear(at);
  return static_cast<double>(arrivals[voxel]) / v.exact[voxel];
}

std::array<double, 3> over_helix_length(const connect_volume& v, const std::vector<float>& arrivals) {
  std::array<double, 3> over{};
  const double turns[] = {0.25, 0.5, 1};
  for (std::size_t i = 0; i < 3; ++i)
    over[i] = trilinear(arrivals, v.of, cases::on_helix(turns[i])) / cases::helix_length(turns[i]);
  return over;
}

void add_arrival_errors(const connect_volume& v, const std::vector<float>& arrivals,
                        std::vector<std::pair<std::string, double>>& counters) {
  const auto add = [&](const char* name, double value) {
    if (std::isfinite(value)) counters.emplace_back(name, value);
  };
  const auto reached = std::count_if(arrivals.begin(), arrivals.end(), [](float u) { return std::isfinite(u); });
  if (static_cast<std::size_t>(reached) < arrivals.size())
    add("reached_percent", 100 * static_cast<double>(reached) / static_cast<double>(arrivals.size()));
  if (!v.exact.empty()) add("relative_L1", relative_L1(v, arrivals));
  if (v.name.starts_with("const") || v.name.starts_with("tilted"))
    add("over_exact_along_fibre", over_exact_along_fibre(v, arrivals));
  if (v.name.starts_with("helix")) {
    const auto over = over_helix_length(v, arrivals);
    add("over_length_quarter_turn", over[0]);
    add("over_length_half_turn", over[1]);
    add("over_length_turn", over[2]);
  }
}

}  // namespace voxherd::bench
