#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kernels/tensor/quartic_fit.hpp"
#include "kernels/tensor_field/finsler4.hpp"
#include "tests/geodesic/reference/finsler_case.hpp"
#include "tests/geodesic/reference/quartic_field_case.hpp"
#include "tests/support/devices.hpp"

/// Two straight bundles, eight voxels wide, along x and y, that cross at right angles in the centre of an image;
/// elsewhere diffusion is isotropic.
namespace {

using namespace voxherd;
using namespace voxherd::tensor_field;
using reference::stick;

constexpr int side = 40;

struct crossing {
  tensor_image image;
  std::vector<float> norms;
};

crossing measured(double b_s_per_mm2) {
  const gradient_table g = reference::one_shell(4, 64, b_s_per_mm2);
  const stick along_x{{1, 0, 0}}, along_y{{0, 1, 0}}, nowhere{{0, 0, 1}, 0.7e-3, 0.7e-3};
  std::vector<float> rows;
  for (const auto& sticks : {std::vector<stick>{nowhere}, {along_x}, {along_y}, {along_x, along_y}}) {
    const auto row = reference::make_signals(g, sticks);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  const auto fits = reference::fitted(one_thread, g, rows);

  crossing c;
  c.image.size = {side, side, 1};
  c.image.axes_mm = {2, 0, 0, 0, 2, 0, 0, 0, 2};
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const bool in_x = std::abs(y - side / 2) <= 4, in_y = std::abs(x - side / 2) <= 4;
      const auto kind = (in_x ? 1 : 0) + (in_y ? 2 : 0);
      c.image.inside.push_back(1);
      c.image.tensor.insert(c.image.tensor.end(), fits.tensor.begin() + 6 * kind, fits.tensor.begin() + 6 * (kind + 1));
      c.norms.insert(c.norms.end(), fits.quartic.begin() + quartic_size * kind,
                     fits.quartic.begin() + quartic_size * (kind + 1));
    }
  return c;
}

struct ray {
  double place[3], velocity[3];
};

/// Geodesics of a field that is linear between voxels, in double, by the fourth-order Runge-Kutta method.
class reference_tracer {
 public:
  explicit reference_tracer(const crossing& c, const std::vector<float>& norms)
      : values_(host_values(*make_quartic_field(one_thread, c.image, norms, {}, {}, false))) {}

  /// Until x reaches `end`, or the ray leaves the image.
  ray to(double end, ray r) const {
    constexpr double step = 0.02;
    const double speed = std::sqrt(dot(r.velocity, r.velocity));
    for (double& v : r.velocity) v /= speed;
    while (r.place[0] < end && r.place[1] > 1 && r.place[1] < side - 2) {
      const double h = step / std::sqrt(dot(r.velocity, r.velocity));
      const ray a = rates(r), b = rates(moved(r, a, h / 2)), c = rates(moved(r, b, h / 2)), d = rates(moved(r, c, h));
      r = moved(moved(moved(moved(r, a, h / 6), b, h / 3), c, h / 3), d, h / 6);
    }
    return r;
  }

 private:
  static ray moved(ray r, const ray& rate, double h) {
    for (int i = 0; i < 3; ++i) r.place[i] += h * rate.place[i], r.velocity[i] += h * rate.velocity[i];
    return r;
  }

  ray rates(const ray& r) const {
    const int x = static_cast<int>(r.place[0]), y = static_cast<int>(r.place[1]);
    const double fx = r.place[0] - x, fy = r.place[1] - y;
    double t[quartic_size], derivative[3][quartic_size] = {};
    for (int n = 0; n < quartic_size; ++n) {
      const auto at = [&](int i, int j) {
        return static_cast<double>(values_[static_cast<std::size_t>(16 * ((y + j) * side + x + i) + n)]);
      };
      t[n] = (1 - fy) * ((1 - fx) * at(0, 0) + fx * at(1, 0)) + fy * ((1 - fx) * at(0, 1) + fx * at(1, 1));
      derivative[0][n] = (1 - fy) * (at(1, 0) - at(0, 0)) + fy * (at(1, 1) - at(0, 1));
      derivative[1][n] = (1 - fx) * (at(0, 1) - at(0, 0)) + fx * (at(1, 1) - at(1, 0));
    }
    ray out{};
    for (int i = 0; i < 3; ++i) out.place[i] = r.velocity[i];
    finsler4_acceleration(t, derivative, r.velocity, out.velocity);
    return out;
  }

  std::vector<float> values_;
};

constexpr double middle = side / 2;

double degrees_of(const ray& r) { return std::atan2(r.velocity[1], r.velocity[0]) * 180 / std::numbers::pi; }

ray from_left(double y, double degrees) {
  const double a = degrees * std::numbers::pi / 180;
  return {{middle - 8, y, 0}, {std::cos(a), std::sin(a), 0}};
}

TEST(FinslerCrossing, BothBundlesAreGeodesicsThroughTheCrossing) {
  const crossing c = measured(1000);
  const reference_tracer finsler(c, c.norms);

  for (const double y : {middle - 2, middle, middle + 2}) {
    const ray r = finsler.to(middle + 15, from_left(y, 0));
    EXPECT_NEAR(r.place[1], y, 0.05);
    EXPECT_NEAR(degrees_of(r), 0, 0.5);
  }
}

/// At b = 1000 s/mm2 a ray that deviates by 2 degrees in its bundle deviates by 8.2 degrees within the crossing with
/// the tensor's metric, by 3.1 degrees with the norm.
TEST(FinslerCrossing, BendsRaysHalfAsMuchAsTheTensorsMetricDoes) {
  for (const double b : {1000., 3000.}) {
    const crossing c = measured(b);
    const reference_tracer finsler(c, c.norms), riemann(c, reference::norms_of_tensors(c.image));
    for (const double degrees : {1., 2., 4.}) {
      const ray f = finsler.to(middle, from_left(middle, degrees)), r = riemann.to(middle, from_left(middle, degrees));
      EXPECT_GT(degrees_of(r), 3.5 * degrees);
      EXPECT_LT(degrees_of(f), 0.45 * degrees_of(r));
    }
  }
}

TEST(FinslerCrossing, KeepsARayOfSixDegreesInItsBundle) {
  for (const double b : {1000., 3000.}) {
    const crossing c = measured(b);
    const ray f = reference_tracer(c, c.norms).to(middle + 8, from_left(middle, 6));
    const ray r = reference_tracer(c, reference::norms_of_tensors(c.image)).to(middle + 8, from_left(middle, 6));

    EXPECT_LT(f.place[1] - middle, 3);
    EXPECT_NEAR(degrees_of(f), 6, 0.5);   // as at the start
    EXPECT_GT(r.place[1] - middle, 4.5);  // it has left the bundle, which extends 4 voxels to either side
  }
}

}  // namespace
