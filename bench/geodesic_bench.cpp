#include <fmt/core.h>

#include "bench/geodesic_problem.hpp"
#include "bench/geodesic_schemes.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::bench;
using geodesic::integrator;

void add_all(const bench_options& o) {
  const bool cuda = o.chosen.kind == backend::cuda;
  const std::array<std::uint64_t, 3> size{cuda ? 1024u : 256u, 64, 64};
  const std::uint32_t steps = cuda ? 4096 : 512;
  const auto add = [&](const std::string& name, const wave_run& how, std::size_t fibres) {
    add_benchmark(name, [=, d = o.chosen] { return make_wave_problem(d, size, how, fibres); });
  };
  const std::size_t usual = cuda ? 65536 : 1024;
  for (const geodesic_scheme& s : geodesic_schemes) {
    if (s.needs_gpu && !cuda) continue;
    for (const geodesic_rule& r : geodesic_rules)
      add(fmt::format("geodesic/speed/{}/{}", s.name, r.name), {s.form, s.reading, r.method, 0.2f, steps}, usual);
    add(fmt::format("geodesic/paper_2048/{}/rk2", s.name), {s.form, s.reading, integrator::rk2, 0.2f, steps}, 2048);
    // Figure 6 of van Aart 2011: time against step size.
    for (const float step : {0.05f, 0.1f, 0.2f, 0.5f}) {
      const auto all = static_cast<std::uint32_t>(static_cast<float>(steps) * 0.05f / step);
      add(fmt::format("geodesic/by_step/{}/rk2/h{}", s.name, step), {s.form, s.reading, integrator::rk2, step, all},
          2048);
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return run_benchmarks(argc, argv, add_all); }
