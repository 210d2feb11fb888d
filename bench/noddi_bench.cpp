#include <fmt/core.h>

#include "bench/noddi_problem.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::bench;

/// The complete call with 50 samples, and as NAME/fit the best fit only.
void add(const std::string& name, const bench_options& o, noddi_case c) {
  constexpr std::size_t gpu_voxels = 256 * 132;  // H200: 132 multiprocessors
  c.voxels = o.voxels > 0                     ? o.voxels
             : o.chosen.kind == backend::cuda ? gpu_voxels
                                              : 192 * static_cast<std::size_t>(o.chosen.threads);
  const auto make_problem = [d = o.chosen](const noddi_case& one) {
    return [d, one] { return make_noddi_problem(d, one); };
  };
  c.settings.samples = 50;
  add_benchmark(name, make_problem(c));
  c.settings.samples = 0;
  add_benchmark(name + "/fit", make_problem(c));
}

/// K = 96 and 288, as a clinical study and HCP, and the other paths of the kernels.
void add_speed(const bench_options& o) {
  for (const int directions : {30, 94})
    for (const auto& [noise, word] :
         {std::pair{noddi::noise_model::gaussian, "gaussian"}, {noddi::noise_model::rician, "rician"}}) {
      noddi_case c;
      c.directions = directions;
      c.settings.noise = noise;
      add(fmt::format("noddi/watson/K{}_{}", 6 + 3 * directions, word), o, c);
    }
  noddi_case c;
  c.settings.dot = true;
  add("noddi/watson/K96_dot", o, c);
  c.settings.dot = false;
  c.gradient_deviation = true;
  add("noddi/watson/K96_deviation", o, c);
  c.gradient_deviation = false;
  c.settings.distribution = noddi::distribution::bingham;
  add("noddi/bingham/K96", o, c);
}

}  // namespace

int main(int argc, char** argv) { return run_benchmarks(argc, argv, add_speed); }
