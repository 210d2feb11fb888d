#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <thread>

#include "bench/brain_problem.hpp"
#include "bench/geodesic_schemes.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::bench;
using geodesic::integrator;
using geodesic::interpolation;
using geodesic::ray_form;

/// Christoffel with B-splines is omitted: it is the slowest and not more accurate than with trilinear interpolation.
constexpr std::span<const geodesic_scheme> schemes(geodesic_schemes, 4);

/// Steps per second where fibres end at different times. Seeds x directions.
void add_speed(const bench_options& o) {
  const bool cuda = o.chosen.kind == backend::cuda;
  const auto add = [&](const geodesic_scheme& s, const char* rule, integrator method, std::size_t seeds,
                       std::uint32_t each) {
    const brain_run how{s.form, s.reading, method, seeds, each};
    add_benchmark(fmt::format("geodesic/brain/{}/{}/{}x{}", s.name, rule, seeds, each),
                  [=, d = o.chosen] { return make_brain_problem(d, how); });
  };
  const geodesic_scheme streamline{"streamline/trilinear", ray_form::streamline, interpolation::trilinear};
  const std::size_t usual = cuda ? 65536 : 4096;
  for (const geodesic_scheme& s : schemes) {
    if (s.needs_gpu && !cuda) continue;
    add(s, "rk2", integrator::rk2, usual / 64, 64);
    add(s, "rk2", integrator::rk2, usual, 1);
    if (cuda) add(s, "rk2", integrator::rk2, 16384, 64);
  }
  add(streamline, "rk4", integrator::rk4, usual, 1);
}

/// Table 3 and figure 7 of van Aart 2011: few seeds, one direction each, on a GPU or on several CPU threads; in white
/// matter along fibres, and as in the paper in the corpus callosum in random directions.
void add_seeds(const bench_options& o) {
  const bool cuda = o.chosen.kind == backend::cuda;
  const int most =
      o.threads_given ? o.chosen.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for (const int threads : {1, 2, 4, 8, 16, 32, 64}) {
    if (threads > (cuda ? 1 : most)) break;
    const std::string on = cuda ? "gpu" : fmt::format("threads{}", threads);
    for (const geodesic_scheme& s : schemes) {
      if (s.needs_gpu && !cuda) continue;
      for (const std::size_t seeds : {1024, 2048, 3072, 4096})
        for (const timed_part part : {timed_part::complete_call, timed_part::every_point}) {
          const char* what = part == timed_part::every_point ? "points" : "scores";
          const device d{o.chosen.kind, threads, o.chosen.cuda_ordinal};
          const brain_run how{s.form, s.reading, integrator::rk2, seeds, 1, part};
          add_benchmark(fmt::format("geodesic/seeds/{}/{}/{}/{}", s.name, what, on, seeds),
                        [=] { return make_brain_problem(d, how); });
          brain_run callosal = how;
          callosal.region = seed_region::callosum;
          add_benchmark(fmt::format("geodesic/callosum/{}/{}/{}/{}", s.name, what, on, seeds),
                        [=] { return make_brain_problem(d, callosal); });
        }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run_benchmarks(argc, argv, [](const bench_options& o) {
    add_speed(o);
    add_seeds(o);
  });
}
