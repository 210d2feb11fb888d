#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include "bench/geodesic_schemes.hpp"
#include "tests/geodesic/reference/geodesic_accuracy.hpp"

/// Accuracy against cost of every geodesic scheme, as CSV: distance of the ends of rays from the known curve (miss) and
/// from the point at their length on it (error), and the speed of the same rays on one device. Options: --backend
/// cpu|cuda (cpu), --threads N (1), --rays N (100), --fibres N (timed; default 2048 per thread, 65536 on a GPU).
namespace {

using namespace voxherd;
using namespace voxherd::reference;
using geodesic::integrator;
using geodesic::interpolation;
using geodesic::ray_form;
using geodesic::ray_settings;

struct options {
  device chosen{backend::cpu, 1, 0};
  std::size_t rays = 100, fibres = 0;
};

options read_options(int argc, char** argv) {
  options o;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    const long number = std::atol(value.c_str());
    if (name == "--backend" && (value == "cpu" || value == "cuda"))
      o.chosen.kind = value == "cuda" ? backend::cuda : backend::cpu;
    else if (name == "--threads" && number > 0)
      o.chosen.threads = static_cast<int>(number);
    else if (name == "--rays" && number > 0)
      o.rays = static_cast<std::size_t>(number);
    else if (name == "--fibres" && number > 0)
      o.fibres = static_cast<std::size_t>(number);
    else
      throw std::invalid_argument(fmt::format(
          "{} {}: expected --backend cpu|cuda, --threads N, --rays N or --fibres N, N above 0", name, value));
  }
  const bool cuda = o.chosen.kind == backend::cuda;
  std::string why;
  if (cuda && visible_gpus(&why).empty()) throw std::invalid_argument(fmt::format("--backend cuda: {}", why));
  if (o.fibres == 0) o.fibres = cuda ? 65536 : 2048 * static_cast<std::size_t>(o.chosen.threads);
  return o;
}

/// Steps per second of `fibres` rays from the case's seeds, the best of three runs after one that is not timed.
double measure_speed(const options& o, const accuracy_case& c, const tensor_field::field& field,
                     ray_settings settings) {
  double length_mm = 0;
  for (const double l : c.length_mm) length_mm += l / double(c.length_mm.size());
  settings.max_steps = static_cast<std::uint32_t>(std::lround(length_mm / double(settings.step_mm)));
  std::vector<ray_start> starts;
  for (std::size_t i = 0; i < o.fibres; ++i) starts.push_back(c.starts[i % c.starts.size()]);
  const auto tracker = geodesic::make_tracker(field, make_seeds(starts), settings);
  score_table scores(starts.size());
  double best = 0;
  for (int run = 0; run < 4; ++run) {
    const auto before = std::chrono::steady_clock::now();
    tracker->score(0, starts.size(), scores.view());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - before;
    double steps = 0;
    for (const auto s : scores.steps) steps += s;
    if (run > 0) best = std::max(best, steps / seconds.count());
  }
  return best;
}

/// Returns whether the median ray ends within a voxel of its exact end.
bool print_scheme(const options& o, const accuracy_case& c, const tensor_field::tensor_image& image,
                  const scheme& how) {
  const auto field = tensor_field::make_field(o.chosen, image, {}, {}, geodesic::field_for(how.form),
                                              how.reading == interpolation::bspline);
  bool right = true;
  for (const bench::geodesic_rule& r : bench::geodesic_rules)
    for (const double step_mm : {1.0, 0.5, 0.25, 0.1, 0.05}) {
      const auto settings = rays_along_axes(how.form, how.reading, r.method, step_mm, 1);
      const accuracy a = measure_accuracy(o.chosen, c, *field, settings);
      const bool first_order = r.method == integrator::euler || r.method == integrator::rk2_frozen;
      if (!first_order && !(a.median_error < 1)) right = false;
      const double speed = measure_speed(o, c, *field, settings);
      fmt::print("{},{},{},{},{:.3e},{:.3e},{:.3e},{:.3e},{:.3e},{:.4e},{:.4e}\n", c.name, how.name, r.name, step_mm,
                 a.median_miss, a.p95_miss, a.median_error, a.p95_error, a.p95_drift, speed,
                 speed / (a.steps / double(c.starts.size())));
      std::fflush(stdout);
    }
  return right;
}

bool print_all(const options& o) {
  use_device(o.chosen);
  fmt::print(
      "field,scheme,integrator,step_mm,median_miss_mm,p95_miss_mm,median_error_mm,p95_error_mm,p95_drift,steps_per_s,"
      "rays_per_s\n");
  bool right = true;
  for (const accuracy_case& c : {pullback_case(o.rays), half_space_case(o.rays)}) {
    const auto image = sampled(c.field, c.grid);
    for (const scheme& s : schemes) right = print_scheme(o, c, image, s) && right;
    if (o.chosen.kind == backend::cuda)
      right =
          print_scheme(o, c, image, {"christoffel texture", ray_form::christoffel, interpolation::texture}) && right;
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (print_all(read_options(argc, argv))) return 0;
    std::cerr << "error: rays of second or fourth order end more than a voxel from their exact ends\n";
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
  }
  return 1;
}
