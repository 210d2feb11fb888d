#include "src/phantom/liver_phantom.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/failure.hpp"

namespace voxherd::liver_shape {

namespace {

struct ellipsoid {
  place centre, half_axis;

  double depth(const place& at) const {
    double square = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const double u = (at[c] - centre[c]) / half_axis[c];
      square += u * u;
    }
    return 1 - std::sqrt(square);
  }
};

constexpr ellipsoid right_lobe{{-0.42, 0.02, 0.0}, {0.43, 0.53, 1.0}},
    left_lobe{{-0.02, 0.30, 0.25}, {0.42, 0.25, 0.65}}, spleen{{0.58, -0.20, 0.2}, {0.18, 0.25, 0.5}};

constexpr place aorta_axis{0.10, -0.35, 0}, hilum{-0.28, 0.04, 0.05}, confluence{0.04, -0.06, -0.05};
constexpr double aorta_radius = 0.062, portal_radius = 0.040;

/// Nearest point on the portal trunk, as a fraction of its length from the confluence to the hilum.
double along_portal(const place& at) {
  double product = 0, square = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    const double scale = c == 2 ? z_scale : 1, step = (hilum[c] - confluence[c]) * scale;
    product += (at[c] - confluence[c]) * scale * step;
    square += step * step;
  }
  return std::clamp(product / square, 0.0, 1.0);
}

double from_portal(const place& at) {
  const double t = along_portal(at);
  place nearest;
  for (std::size_t c = 0; c < 3; ++c) nearest[c] = confluence[c] + t * (hilum[c] - confluence[c]);
  return distance(at, nearest);
}

/// A lesion. The tumours of the paper have almost no portal flow.
struct lesion {
  place centre;
  double radius;
  double arterial, portal, volume;  ///< flows in ml/100 g/min; distribution volume
};

constexpr lesion lesions[] = {{{-0.55, 0.20, 0.25}, 0.095, 120, 0, 0.26},
                              {{-0.38, -0.20, 0.10}, 0.075, 80, 3, 0.32},
                              {{-0.08, 0.30, 0.35}, 0.065, 60, 0, 0.36},
                              {{-0.66, -0.10, 0.00}, 0.055, 150, 6, 0.22}};

const lesion* lesion_at(const place& at) {
  for (const lesion& l : lesions)
    if (distance(at, l.centre) < l.radius) return &l;
  return nullptr;
}

/// Flows in ml/100 g/min, distribution volume, T1 in s at 3 T.
struct physiology {
  double arterial, portal, volume, t1_s;
};

/// Healthy: Van Beers et al., AJR 176:667, 2001, and the truth of Wang & Cao's simulations (20, 100, 0.30). Cirrhotic:
/// Van Beers' means (total flow 67, arterial fraction 41 %, transit 51 s) within their spread.
constexpr physiology region_physiology[liver_region_count] = {{},
                                                              {20, 100, 0.30, 0.80},
                                                              {24, 115, 0.28, 0.80},
                                                              {18, 90, 0.32, 0.78},
                                                              {26, 80, 0.26, 0.82},
                                                              {30, 40, 0.44, 0.95},
                                                              {100, 0, 0.30, 1.25}};

/// A smooth field between -1 and 1, a different one for each `number`.
double smooth(const place& at, int number) {
  const double n = number;
  return std::sin(3.1 * at[0] + 2.3 * at[1] + 1.7 * n) * std::cos(1.9 * at[2] - 2.2 * at[1] + 0.9 * n * n);
}

}  // namespace

double distance(const place& a, const place& b) {
  const double x = a[0] - b[0], y = a[1] - b[1], z = z_scale * (a[2] - b[2]);
  return std::sqrt(x * x + y * y + z * z);
}

double body_radius(const place& at) { return std::hypot(at[0] / 0.95, at[1] / 0.78); }

double liver_depth(const place& at) { return std::max(right_lobe.depth(at), left_lobe.depth(at)); }

double spleen_depth(const place& at) { return spleen.depth(at); }

double aorta_depth(const place& at, double min_radius) {
  return 1 - std::hypot(at[0] - aorta_axis[0], at[1] - aorta_axis[1]) / std::max(aorta_radius, min_radius);
}

double portal_depth(const place& at, double min_radius) {
  return 1 - from_portal(at) / std::max(portal_radius, min_radius);
}

double aorta_voi_depth(const place& at, double min_radius) {
  return std::min(aorta_depth(at, min_radius), 1 - std::fabs(at[2]) / 2);
}

double portal_voi_depth(const place& at, double min_radius) {
  return std::min(portal_depth(at, min_radius), 1 - std::fabs(along_portal(at) - 0.5) / 2);
}

liver_region region_at(const place& at) {
  if (lesion_at(at) != nullptr) return liver_region::tumour;
  if (at[2] < -0.35 && at[0] < -0.28) return liver_region::cirrhotic;
  if (at[0] < -0.28) return at[1] < 0.05 ? liver_region::right_posterior : liver_region::right_anterior;
  return at[0] < -0.04 ? liver_region::left_medial : liver_region::left_lateral;
}

liver_parameters parameters_at(const place& at) {
  const physiology& typical = region_physiology[static_cast<std::size_t>(region_at(at))];
  const lesion* l = lesion_at(at);
  const double arterial = (l ? l->arterial : typical.arterial) * (1 + 0.15 * smooth(at, 1)),
               portal = (l ? l->portal : typical.portal) * (1 + 0.15 * smooth(at, 2)),
               volume = (l ? l->volume : typical.volume) * (1 + 0.10 * smooth(at, 3));
  // Blood arrives later farther from the hilum.
  const double way = distance(at, hilum);
  return make_parameters({arterial, 1.0 + 3.0 * way + 0.3 * smooth(at, 4)},
                         {portal, 0.8 + 2.0 * way + 0.3 * smooth(at, 5)}, volume);
}

double t1_s_at(const place& at) {
  return region_physiology[static_cast<std::size_t>(region_at(at))].t1_s * (1 + 0.08 * smooth(at, 6));
}

}  // namespace voxherd::liver_shape

namespace voxherd {

namespace {

using liver_shape::place;

constexpr double fat_begins = 0.92;  // inner radius of the fat, in the body's radius

place voxel_place(std::uint64_t voxel, const std::array<std::uint64_t, 3>& size) {
  const std::uint64_t index[3] = {voxel % size[0], voxel / size[0] % size[1], voxel / (size[0] * size[1])};
  place at;
  for (std::size_t c = 0; c < 3; ++c) {
    const auto n = static_cast<double>(size[c]);
    at[c] = (2 * static_cast<double>(index[c]) - (n - 1)) / n;
  }
  return at;
}

/// In the units of `place`.
struct vessel_radii {
  double aorta, portal;
};

/// Minimum radii, so that vessels contain voxels even in coarse images: the aorta in every slice, the portal vein,
/// which is horizontal at half height, in the slices above and below.
vessel_radii min_radii(const std::array<std::uint64_t, 3>& size) {
  const double in_plane = 2.4 / static_cast<double>(std::min(size[0], size[1]));
  return {in_plane, std::max(in_plane, std::min(0.15, 1.2 * liver_shape::z_scale / static_cast<double>(size[2])))};
}

abdomen_tissue find_tissue(const place& at, const vessel_radii& least) {
  const double radius = liver_shape::body_radius(at);
  if (radius >= 1) return abdomen_tissue::air;
  if (radius >= fat_begins) return abdomen_tissue::fat;
  if (liver_shape::aorta_depth(at, least.aorta) > 0) return abdomen_tissue::aorta;
  if (liver_shape::portal_depth(at, least.portal) > 0) return abdomen_tissue::portal_vein;
  return liver_shape::spleen_depth(at) > 0 ? abdomen_tissue::spleen : abdomen_tissue::muscle;
}

struct tissue_constants {
  double t1_s, density, hu;
};

/// At 3 T; HU without contrast agent. Indexed by abdomen_tissue.
constexpr tissue_constants tissue_table[] = {{0, 0, -1000},    {0.37, 0.95, -100}, {1.20, 0.80, 55}, {1.30, 0.85, 50},
                                             {1.60, 0.90, 40}, {1.60, 0.90, 40},   {0.80, 0.85, 60}};

struct candidate {
  double depth;
  std::uint64_t voxel;
};

/// The `count` deepest voxels, with smaller indices first in ties; all voxels if there are fewer.
std::vector<candidate> deepest(std::vector<candidate> all, std::uint64_t count) {
  const auto deeper = [](const candidate& a, const candidate& b) {
    return a.depth != b.depth ? a.depth > b.depth : a.voxel < b.voxel;
  };
  if (count < all.size()) {
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(), deeper);
    all.resize(count);
  }
  return all;
}

void check_count(const liver_anatomy_settings& p, const char* what, std::uint64_t found, std::uint64_t asked) {
  if (found < asked)
    refuse_usage("phantom liver of {} x {} x {} voxels: found {} for {}, expected {}; use a larger --size", p.size[0],
                 p.size[1], p.size[2], found, what, asked);
}

}  // namespace

const char* region_name(liver_region region) {
  static constexpr const char* names[liver_region_count] = {
      "none", "right posterior", "right anterior", "left medial", "left lateral", "cirrhotic", "tumour"};
  return names[static_cast<std::size_t>(region)];
}

liver_parameters make_parameters(const blood_supply& arterial, const blood_supply& portal, double volume) {
  liver_parameters p;
  p[liver_model::flow(0)] = arterial.flow / perfusion::per_second;
  p[liver_model::flow(1)] = portal.flow / perfusion::per_second;
  p[liver_model::rate] = (p[liver_model::flow(0)] + p[liver_model::flow(1)]) / volume;
  p[liver_model::delay(0)] = arterial.delay_s;
  p[liver_model::delay(1)] = portal.delay_s;
  return p;
}

double tissue_t1_s(abdomen_tissue tissue) { return tissue_table[static_cast<std::size_t>(tissue)].t1_s; }

liver_anatomy::liver_anatomy(const liver_anatomy_settings& p, int threads)
    : size_(p.size), label_(p.size[0] * p.size[1] * p.size[2]) {
  const vessel_radii least = min_radii(p.size);
  std::vector<candidate> liver, aorta, portal;
  const auto slice = static_cast<std::int64_t>(p.size[0] * p.size[1]);
#pragma omp parallel num_threads(threads)
  {
    std::vector<candidate> own_liver, own_aorta, own_portal;
#pragma omp for schedule(static)
    for (std::int64_t first = 0; first < static_cast<std::int64_t>(label_.size()); first += slice)
      for (std::int64_t i = first; i < first + slice; ++i) {
        const auto voxel = static_cast<std::uint64_t>(i);
        const place at = voxel_place(voxel, size_);
        const abdomen_tissue tissue = find_tissue(at, least);
        label_[voxel] = static_cast<std::uint8_t>(tissue);
        if (tissue == abdomen_tissue::aorta)
          own_aorta.push_back({liver_shape::aorta_voi_depth(at, least.aorta), voxel});
        if (tissue == abdomen_tissue::portal_vein)
          own_portal.push_back({liver_shape::portal_voi_depth(at, least.portal), voxel});
        if (tissue != abdomen_tissue::muscle) continue;
        if (const double depth = liver_shape::liver_depth(at); depth > 0) own_liver.push_back({depth, voxel});
      }
#pragma omp critical
    {
      liver.insert(liver.end(), own_liver.begin(), own_liver.end());
      aorta.insert(aorta.end(), own_aorta.begin(), own_aorta.end());
      portal.insert(portal.end(), own_portal.begin(), own_portal.end());
    }
  }
  check_count(p, "the liver", liver.size(), p.liver_voxels);
  check_count(p, "the aorta", aorta.size(), 1);
  check_count(p, "the portal vein", portal.size(), 1);
  aorta_count_ = std::min<std::uint64_t>(p.aorta_voxels, aorta.size());
  portal_count_ = std::min<std::uint64_t>(p.portal_voxels, portal.size());
  for (const candidate& c : deepest(std::move(liver), p.liver_voxels))
    label_[c.voxel] = static_cast<std::uint8_t>(abdomen_tissue::liver);
  for (const candidate& c : deepest(std::move(aorta), p.aorta_voxels)) label_[c.voxel] |= aorta_voi;
  for (const candidate& c : deepest(std::move(portal), p.portal_voxels)) label_[c.voxel] |= portal_voi;
}

abdomen_tissue liver_anatomy::tissue_at(std::uint64_t voxel) const {
  return static_cast<abdomen_tissue>(label_[voxel] & tissue_bits);
}

std::uint64_t liver_anatomy::count(abdomen_tissue tissue) const {
  std::uint64_t count = 0;
  for (std::uint64_t v = 0; v < label_.size(); ++v) count += tissue_at(v) == tissue ? 1 : 0;
  return count;
}

abdomen_voxel liver_anatomy::at(std::uint64_t voxel) const {
  abdomen_voxel v;
  v.tissue = tissue_at(voxel);
  const tissue_constants& c = tissue_table[static_cast<std::size_t>(v.tissue)];
  const place at = voxel_place(voxel, size_);
  v.t1_s = c.t1_s, v.hu = c.hu;
  v.density =
      c.density * (1 - 0.1 * at[0] + 0.15 * at[1]);  // coil sensitivity: stronger in front, different everywhere
  if (v.tissue != abdomen_tissue::liver) return v;
  v.region = liver_shape::region_at(at);
  v.parameters = liver_shape::parameters_at(at);
  v.t1_s = liver_shape::t1_s_at(at);
  return v;
}

}  // namespace voxherd
