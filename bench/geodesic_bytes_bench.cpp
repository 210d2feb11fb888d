#include <fmt/core.h>

#include <cmath>
#include <string>

#include "bench/geodesic_bytes.hpp"
#include "bench/geodesic_problem.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::bench;
using namespace voxherd::geodesic;

using image_size = std::array<std::uint64_t, 3>;
constexpr double k = 2 * 3.14159265358979323846 / 64;

double y_by_x(double x) { return 2 * k * std::cos(k * x); }
double z_by_x(double x) { return -1.5 * k * std::sin(k * x); }

/// The waves of geodesic_problem.hpp along x only: the derivatives along y and z, which are the last 12 of a voxel's 24
/// values, are 0, so that rays do not change if they are not read.
tensor_image x_wave_image(const image_size& size) {
  tensor_image image = blank_image(size);
  const std::size_t voxels = image.inside.size();
#pragma omp parallel for
  for (std::size_t v = 0; v < voxels; ++v) {
    const auto x = static_cast<double>(v % size[0]);
    const double a[3] = {1, -y_by_x(x), -z_by_x(x)}, across[3] = {0, 0.2, 0.1};
    std::size_t n = 6 * v;
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) image.tensor[n++] = static_cast<float>(a[i] * a[j] + (i == j ? across[i] : 0));
  }
  return image;
}

std::vector<seed> x_wave_seeds(std::size_t count) {
  std::vector<seed> seeds;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = 2 + static_cast<double>(i % 64);
    const double v[3] = {1, -y_by_x(x), -z_by_x(x)}, length = std::hypot(v[0], v[1], v[2]);
    seeds.push_back(
        {{x, 16 + static_cast<double>(i / 64 % 32), 16 + static_cast<double>(i / 2048 % 32)},
         {static_cast<float>(v[0] / length), static_cast<float>(v[1] / length), static_cast<float>(v[2] / length)}});
  }
  return seeds;
}

class bytes_problem final : public problem {
 public:
  bytes_problem(const device& d, const image_size& size, interpolation reading, int quads, std::uint32_t steps,
                std::size_t fibres)
      : device_(d), steps_(steps), fibres_(fibres), quads_(quads), scores_(d, fibres), expected_(d, fibres) {
    use_device(d);
    field_ = make_field(d, x_wave_image(size), {}, {}, field_kind::christoffel, false);
    const std::vector<seed> seeds = x_wave_seeds(fibres);
    ray_settings s;
    s.form = ray_form::christoffel;
    s.reading = reading;
    s.method = integrator::rk2_frozen;
    s.step_mm = 0.2f;
    s.max_steps = steps;
    s.directions = direction_kind::axis;
    make_tracker(*field_, seeds, s)->score(0, fibres, expected_.view());
    tracer_ = d.kind == backend::cuda ? make_partial_tracer_cuda(*field_, seeds, s, quads)
                                      : make_partial_tracer_cpu(*field_, seeds, s, quads);
  }

  void run() override {
    use_device(device_);
    tracer_->score(fibres_, scores_.view());
  }

  /// The rays are those of the program's own kernel, and have full length.
  std::string find_error() const override {
    for (std::size_t f = 0; f < fibres_; ++f) {
      const std::uint32_t steps = scores_.view().values<"steps">()[2 * f];
      if (steps != steps_) return fmt::format("fibre {}: {} steps, expected {}", f, steps, steps_);
      const float is = scores_.view().values<"metric_length">()[f];
      const float should = expected_.view().values<"metric_length">()[f];
      if (!(std::abs(is - should) <= 1e-4f * should))
        return fmt::format("fibre {}: length {} in the metric, expected {}", f, is, should);
    }
    return "";
  }

  std::size_t voxels() const override { return fibres_ * steps_; }
  std::string unit() const override { return "step"; }
  std::vector<std::pair<std::string, double>> more() const override {
    return {{"fibres", static_cast<double>(fibres_)}, {"bytes_per_step", 8.0 * 16 * quads_}};
  }

 private:
  device device_;
  std::uint32_t steps_;
  std::size_t fibres_;
  int quads_;
  score_memory scores_, expected_;
  std::unique_ptr<field> field_;
  std::unique_ptr<partial_tracer> tracer_;
};

void add_all(const bench_options& o) {
  const bool cuda = o.chosen.kind == backend::cuda;
  const image_size size{cuda ? 1024u : 128u, 64, 64};
  const std::uint32_t steps = cuda ? 4096 : 256;
  const std::vector<std::size_t> counts = cuda ? std::vector<std::size_t>{2048, 65536} : std::vector<std::size_t>{256};
  for (const auto& [name, reading] :
       {std::pair{"texture", interpolation::texture}, std::pair{"trilinear", interpolation::trilinear}}) {
    if (reading == interpolation::texture && !cuda) continue;
    for (const std::size_t fibres : counts)
      for (const int quads : {6, 5, 4, 3})
        add_benchmark(fmt::format("geodesic/bytes/{}/{}/{}", name, fibres, 8 * 16 * quads),
                      [=, d = o.chosen, reading = reading] {
                        return std::make_unique<bytes_problem>(d, size, reading, quads, steps, fibres);
                      });
  }
}

}  // namespace

int main(int argc, char** argv) { return run_benchmarks(argc, argv, add_all); }
