#include "src/phantom/bundle_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "src/io/text_file.hpp"

namespace voxherd {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t centre_line_points = 100;  // as in phantomas

direction3 minus(const direction3& a, const direction3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double dot(const direction3& a, const direction3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
double length(const direction3& a) { return std::sqrt(dot(a, a)); }

direction3 scaled_to(const direction3& v, double target) {
  const double factor = target / length(v);
  return {v[0] * factor, v[1] * factor, v[2] * factor};
}

enum class tangent_rule { symmetric, incoming, outgoing };

/// Velocities at the control points for a path that takes 1 unit of time: normal to the sphere at both ends.
std::vector<direction3> velocities(const std::vector<direction3>& at, tangent_rule rule, double total_mm) {
  std::vector<direction3> v(at.size());
  v.front() = minus({}, at.front());
  v.back() = at.back();
  for (std::size_t i = 1; i + 1 < at.size(); ++i)
    v[i] = minus(at[rule == tangent_rule::incoming ? i : i + 1], at[rule == tangent_rule::outgoing ? i : i - 1]);
  for (direction3& one : v) one = scaled_to(one, total_mm);
  return v;
}

/// The cubic Hermite curve through the control points; the time between two is proportional to their distance.
void trace_centre_line(const std::vector<direction3>& at, tangent_rule rule, bundle_tube& tube) {
  std::vector<double> time(at.size(), 0);
  for (std::size_t i = 1; i < at.size(); ++i) time[i] = time[i - 1] + length(minus(at[i], at[i - 1]));
  const double total_mm = time.back();
  for (double& t : time) t /= total_mm;
  const auto v = velocities(at, rule, total_mm);
  std::size_t piece = 0;
  for (std::size_t k = 0; k < centre_line_points; ++k) {
    const double t = static_cast<double>(k) / (centre_line_points - 1);
    while (piece + 2 < at.size() && t > time[piece + 1]) ++piece;
    const double h = time[piece + 1] - time[piece], s = (t - time[piece]) / h;
    direction3 point, tangent;
    for (std::size_t c = 0; c < 3; ++c) {
      const double p = at[piece][c], q = at[piece + 1][c], a = h * v[piece][c], b = h * v[piece + 1][c];
      point[c] = p * (1 + 2 * s) * (1 - s) * (1 - s) + a * s * (1 - s) * (1 - s) + q * s * s * (3 - 2 * s) +
                 b * s * s * (s - 1);
      tangent[c] = 6 * s * (s - 1) * (p - q) + a * (1 - s) * (1 - 3 * s) + b * s * (3 * s - 2);
    }
    tube.point_mm.push_back(point);
    tube.tangent.push_back(scaled_to(tangent, 1));
  }
}

/// Reads the file's entries; errors name where they are.
class geometry_reader {
 public:
  explicit geometry_reader(const std::string& path) : path_(path) {}

  bundle_geometry read() const {
    json file;
    try {
      file = json::parse(read_text_file(path_));
    } catch (const json::exception& e) {
      refuse_data("{}: is not JSON: {}", path_, e.what());
    }
    bundle_geometry geometry;
    if (!file.is_object() || !file.contains("fiber_geometries") || !file["fiber_geometries"].is_object() ||
        file["fiber_geometries"].empty())
      refuse_data("{}: has no bundles, expected an object fiber_geometries as in phantomas' examples", path_);
    for (const auto& [name, entry] : file["fiber_geometries"].items())
      geometry.bundles.push_back(read_bundle(name, entry));
    if (file.contains("isotropic_regions"))
      for (const auto& [name, entry] : file["isotropic_regions"].items())
        geometry.fluid.push_back(read_fluid(name, entry));
    geometry.radius_mm = file.contains("phantom_radius") ? positive("phantom", file, "phantom_radius")
                                                         : length(geometry.bundles.front().point_mm.front());
    return geometry;
  }

 private:
  std::vector<double> numbers(const std::string& name, const json& entry, const char* key) const {
    std::vector<double> values;
    if (!entry.is_object() || !entry.contains(key) || !entry[key].is_array())
      refuse_data("{}: {}: {} is missing, expected a list of numbers", path_, name, key);
    for (const json& value : entry[key]) {
      if (!value.is_number() || !(std::fabs(value.get<double>()) < 1e6))
        refuse_data("{}: {}: {}: found {}, expected numbers up to 1e6 mm", path_, name, key, dump_json(value));
      values.push_back(value.get<double>());
    }
    return values;
  }

  double positive(const std::string& name, const json& entry, const char* key) const {
    const json value = entry.is_object() && entry.contains(key) ? entry[key] : json();
    if (!value.is_number() || !(value.get<double>() > 0 && value.get<double>() < 1e6))
      refuse_data("{}: {}: {}: found {}, expected a length above 0 mm", path_, name, key, dump_json(value));
    return value.get<double>();
  }

  tangent_rule tangents(const std::string& name, const json& entry) const {
    const json word = entry.contains("tangents") ? entry["tangents"] : json("symmetric");
    if (word == "symmetric") return tangent_rule::symmetric;
    if (word == "incoming") return tangent_rule::incoming;
    if (word == "outgoing") return tangent_rule::outgoing;
    refuse_data("{}: {}: tangents: found {}, expected symmetric, incoming or outgoing", path_, name, dump_json(word));
  }

  bundle_tube read_bundle(const std::string& name, const json& entry) const {
    const auto values = numbers(name, entry, "control_points");
    if (values.size() < 6 || values.size() % 3 != 0)
      refuse_data("{}: {}: control_points: found {} numbers, expected 3 for each of at least 2 points", path_, name,
                  values.size());
    std::vector<direction3> points;
    for (std::size_t i = 0; i < values.size(); i += 3) points.push_back({values[i], values[i + 1], values[i + 2]});
    for (std::size_t i = 1; i < points.size(); ++i)
      if (points[i] == points[i - 1])
        refuse_data("{}: {}: control_points: two consecutive points are the same", path_, name);
    if (length(points.front()) == 0 || length(points.back()) == 0)
      refuse_data("{}: {}: control_points: the first and last point must be on the sphere, not in its centre", path_,
                  name);
    bundle_tube tube;
    tube.name = name;
    tube.radius_mm = positive(name, entry, "radius");
    trace_centre_line(points, tangents(name, entry), tube);
    return tube;
  }

  fluid_sphere read_fluid(const std::string& name, const json& entry) const {
    const auto centre = numbers(name, entry, "center");
    if (centre.size() != 3) refuse_data("{}: {}: center: found {} numbers, expected 3", path_, name, centre.size());
    fluid_sphere sphere{positive(name, entry, "radius"), {centre[0], centre[1], centre[2]}, 1};
    if (entry.contains("volume_fraction")) sphere.share = std::min(1.0, positive(name, entry, "volume_fraction"));
    return sphere;
  }

  std::string path_;
};

constexpr int points_per_side = 9;  // odd, so that the centre is one of them; as in phantomas
constexpr std::size_t no_segment = ~std::size_t{0};

/// Segments of a tube that can reach a ball.
std::vector<std::size_t> near_segments(const bundle_tube& tube, const direction3& centre, double radius_mm) {
  std::vector<std::size_t> near;
  for (std::size_t i = 0; i + 1 < tube.point_mm.size(); ++i) {
    const double reach = tube.radius_mm + length(minus(tube.point_mm[i + 1], tube.point_mm[i])) + radius_mm;
    const direction3 d = minus(tube.point_mm[i], centre);
    if (dot(d, d) < reach * reach) near.push_back(i);
  }
  return near;
}

/// The segment of the tube that contains the point and is nearest to it: between the planes normal to the centre line
/// at its ends and within the radius of the line, as phantomas' in_fiber.
std::size_t containing_segment(const bundle_tube& tube, const std::vector<std::size_t>& segments,
                               const direction3& point) {
  std::size_t found = no_segment;
  double smallest = tube.radius_mm * tube.radius_mm;
  for (const std::size_t i : segments) {
    const direction3 from = minus(point, tube.point_mm[i]), to = minus(point, tube.point_mm[i + 1]);
    if (dot(from, tube.tangent[i]) < 0 || dot(to, tube.tangent[i + 1]) > 0) continue;
    const direction3 along = minus(tube.point_mm[i + 1], tube.point_mm[i]);
    const double projected = dot(from, along);
    const double square = dot(from, from) - projected * projected / dot(along, along);
    if (square <= smallest) smallest = square, found = i;
  }
  return found;
}

double degrees_between(const direction3& a, const direction3& b) {
  const double cosine = std::fabs(dot(a, b)) / (length(a) * length(b));
  return std::acos(std::min(1.0, cosine)) * 180 / std::numbers::pi;
}

}  // namespace

bundle_geometry read_bundle_geometry(const std::string& path) { return geometry_reader(path).read(); }

bundle_voxel bundle_field::at(const direction3& centre_mm, double side_mm) const {
  const double half_diagonal = side_mm * std::sqrt(3) / 2;
  bundle_voxel voxel;
  if (length(centre_mm) >= geometry_.radius_mm + half_diagonal) return voxel;
  struct candidate {
    std::size_t bundle;
    std::vector<std::size_t> segments;
    std::vector<double> share;  ///< per segment of the tube
  };
  std::vector<candidate> candidates;
  for (std::size_t b = 0; b < geometry_.bundles.size(); ++b) {
    auto segments = near_segments(geometry_.bundles[b], centre_mm, half_diagonal);
    if (!segments.empty()) candidates.push_back({b, std::move(segments), std::vector<double>(centre_line_points, 0)});
  }
  const double step = side_mm / points_per_side, weight = 1.0 / (points_per_side * points_per_side * points_per_side);
  double inside = 0;
  std::vector<std::pair<candidate*, std::size_t>> here;
  for (int i = 0; i < points_per_side * points_per_side * points_per_side; ++i) {
    const int index[3] = {i % points_per_side, i / points_per_side % points_per_side,
                          i / (points_per_side * points_per_side)};
    direction3 point;
    for (std::size_t c = 0; c < 3; ++c) point[c] = centre_mm[c] - side_mm / 2 + (index[c] + 0.5) * step;
    if (length(point) >= geometry_.radius_mm) continue;
    inside += weight;
    double fluid = 0;
    for (const fluid_sphere& sphere : geometry_.fluid)
      if (length(minus(point, sphere.centre_mm)) < sphere.radius_mm) fluid = std::max(fluid, sphere.share);
    voxel.fluid += fluid * weight;
    here.clear();
    for (candidate& c : candidates)
      if (const std::size_t s = containing_segment(geometry_.bundles[c.bundle], c.segments, point); s != no_segment)
        here.emplace_back(&c, s);
    for (const auto& [c, segment] : here) c->share[segment] += weight / static_cast<double>(here.size());
  }
  double tubes = 0;
  for (const candidate& c : candidates)
    for (std::size_t s = 0; s < centre_line_points; ++s) {
      if (c.share[s] == 0) continue;
      if (voxel.bundle_share.empty()) voxel.bundle_share.assign(geometry_.bundles.size(), 0);
      voxel.parts.push_back({c.bundle, geometry_.bundles[c.bundle].tangent[s], c.share[s]});
      voxel.bundle_share[c.bundle] += c.share[s];
      tubes += c.share[s];
    }
  voxel.white = std::min(tubes, inside - voxel.fluid);
  voxel.grey = inside - voxel.fluid - voxel.white;
  return voxel;
}

std::vector<true_fibre> distinct_fibres(const bundle_voxel& voxel) {
  std::vector<true_fibre> fibres;
  for (std::size_t b = 0; b < voxel.bundle_share.size(); ++b) {
    if (voxel.bundle_share[b] < min_bundle_share) continue;
    direction3 sum{};
    for (const bundle_voxel::part& p : voxel.parts)
      for (std::size_t c = 0; p.bundle == b && c < 3; ++c) sum[c] += p.share * p.direction[c];
    if (length(sum) > 0) fibres.push_back({scaled_to(sum, 1), voxel.bundle_share[b]});
  }
  const auto by_share = [](const true_fibre& a, const true_fibre& b) { return a.share > b.share; };
  std::stable_sort(fibres.begin(), fibres.end(), by_share);
  for (std::size_t i = 0; i < fibres.size(); ++i)
    for (std::size_t j = i + 1; j < fibres.size();) {
      if (degrees_between(fibres[i].direction, fibres[j].direction) >= min_fibre_degrees) {
        ++j;
        continue;
      }
      const double sign = dot(fibres[i].direction, fibres[j].direction) < 0 ? -1 : 1;
      direction3 sum;
      for (std::size_t c = 0; c < 3; ++c)
        sum[c] = fibres[i].share * fibres[i].direction[c] + sign * fibres[j].share * fibres[j].direction[c];
      fibres[i] = {scaled_to(sum, 1), fibres[i].share + fibres[j].share};
      fibres.erase(fibres.begin() + static_cast<std::ptrdiff_t>(j));
      j = i + 1;
    }
  std::stable_sort(fibres.begin(), fibres.end(), by_share);
  if (fibres.size() > max_true_fibres) fibres.resize(max_true_fibres);
  return fibres;
}

bundle_ends make_bundle_ends(const bundle_geometry& geometry) {
  bundle_ends ends;
  std::vector<std::pair<direction3, int>> known;
  for (const bundle_tube& tube : geometry.bundles) {
    ends.place_mm.push_back({tube.point_mm.front(), tube.point_mm.back()});
    ends.label.push_back({0, 0});
    for (std::size_t e = 0; e < 2; ++e) {
      const direction3& place = ends.place_mm.back()[e];
      const auto same = std::find_if(known.begin(), known.end(), [&](const auto& other) {
        return length(minus(other.first, place)) < tube.radius_mm / 2;
      });
      ends.label.back()[e] = same != known.end() ? same->second : ++ends.labels;
      if (same == known.end()) known.emplace_back(place, ends.labels);
    }
  }
  return ends;
}

int end_label(const bundle_ends& ends, const bundle_geometry& geometry, const bundle_voxel& voxel,
              const direction3& centre_mm) {
  if (voxel.bundle_share.empty() || length(centre_mm) < geometry.radius_mm - end_length_mm) return 0;
  const auto largest = std::max_element(voxel.bundle_share.begin(), voxel.bundle_share.end());
  if (*largest < min_bundle_share) return 0;
  const auto b = static_cast<std::size_t>(largest - voxel.bundle_share.begin());
  const double first = length(minus(centre_mm, ends.place_mm[b][0])),
               last = length(minus(centre_mm, ends.place_mm[b][1]));
  return ends.label[b][first <= last ? 0 : 1];
}

}  // namespace voxherd
