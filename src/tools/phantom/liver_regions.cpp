#include "src/tools/phantom/liver_regions.hpp"

#include <algorithm>
#include <cmath>

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
  double ka, kp, volume;  ///< ml/100 g/min; distribution volume
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
  double ka, kp, volume, t1_s;
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
  using namespace perfusion;
  const physiology& typical = region_physiology[static_cast<std::size_t>(region_at(at))];
  const lesion* l = lesion_at(at);
  const double arterial = (l ? l->ka : typical.ka) * (1 + 0.15 * smooth(at, 1)),
               portal = (l ? l->kp : typical.kp) * (1 + 0.15 * smooth(at, 2)),
               volume = (l ? l->volume : typical.volume) * (1 + 0.10 * smooth(at, 3));
  // Blood arrives later farther from the hilum.
  const double way = distance(at, hilum);
  liver_parameters p;
  p[ka] = arterial / per_second;
  p[kp] = portal / per_second;
  p[kl] = (p[ka] + p[kp]) / volume;
  p[tau_a] = 1.0 + 3.0 * way + 0.3 * smooth(at, 4);
  p[tau_p] = 0.8 + 2.0 * way + 0.3 * smooth(at, 5);
  return p;
}

double t1_s_at(const place& at) {
  return region_physiology[static_cast<std::size_t>(region_at(at))].t1_s * (1 + 0.08 * smooth(at, 6));
}

}  // namespace voxherd::liver_shape
