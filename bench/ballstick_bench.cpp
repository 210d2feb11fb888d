#include <fmt/core.h>

#include "bench/ballstick_problem.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::bench;
using ballstick::diffusion_model;

std::size_t usual_voxels(const bench_options& o) {
  if (o.voxels > 0) return o.voxels;
  constexpr std::size_t default_gpu_voxels = 256 * 132;  // H200: 132 multiprocessors
  return o.chosen.kind == backend::cuda ? default_gpu_voxels : 192 * static_cast<std::size_t>(o.chosen.threads);
}

/// The complete call, and as NAME/fit its part without the chain.
void add(const std::string& name, const bench_options& o, const ballstick_case& c) {
  const auto make_problem = [d = o.chosen](const ballstick_case& one) {
    return [d, one] { return std::make_unique<ballstick_problem>(d, one); };
  };
  add_benchmark(name, make_problem(c));
  add_benchmark(name + "/fit", make_problem(fit_only_case(c)));
}

ballstick_case make_case(const bench_options& o, std::size_t measurements, int fibres, int model, int burn_in) {
  ballstick_case c;
  c.measurements = measurements;
  c.settings.fibres = fibres;
  c.settings.model = static_cast<diffusion_model>(model);
  c.settings.burn_in_jumps = burn_in;
  c.voxels = usual_voxels(o);
  return c;
}

/// Typical studies, and those for which times of other programs are known.
void add_speed(const bench_options& o) {
  struct study {
    std::size_t measurements;
    int fibres, model, burn_in;
  };
  for (const auto& [k, fibres, model, burn_in] :
       {study{288, 3, 1, 3000}, study{288, 3, 2, 3000}, study{137, 3, 1, 1000}, study{137, 3, 2, 1000},
        study{137, 2, 1, 1000}, study{69, 2, 1, 1000}, study{64, 2, 1, 1000}}) {
    add(fmt::format("ballstick/speed/K{}_L{}_m{}_{}", k, fibres, model, burn_in), o,
        make_case(o, k, fibres, model, burn_in));
  }
}

/// Hernandez et al., PLoS ONE 8:e61892, 2013: the parameters varied in their figures, starting from the settings they
/// timed.
void add_figures(const bench_options& o) {
  const ballstick_case base = make_case(o, 64, 2, 1, 3000);
  for (const std::size_t k : {64, 128, 256}) add(fmt::format("ballstick/by_K/{}", k), o, make_case(o, k, 2, 1, 3000));
  const std::vector<std::size_t> few{32, 64, 128, 256, 512}, many{1024, 4096, 16384, 65536, 131072};
  for (const std::size_t n : o.chosen.kind == backend::cuda ? many : few) {
    ballstick_case c = base;
    c.voxels = n;
    add(fmt::format("ballstick/by_voxels/{}", n), o, c);
  }
  for (const std::size_t k : {128, 256})
    for (const std::size_t n : o.chosen.kind == backend::cuda ? many : few) {
      ballstick_case c = make_case(o, k, 2, 1, 3000);
      c.voxels = n;
      add(fmt::format("ballstick/by_voxels_K{}/{}", k, n), o, c);
    }
  for (const int burn_in : {1000, 2000, 3000, 5000}) {
    add(fmt::format("ballstick/by_burn_in/{}", burn_in), o, make_case(o, 64, 2, 1, burn_in));
    for (const std::size_t k : {128, 256})
      add(fmt::format("ballstick/by_burn_in_K{}/{}", k, burn_in), o, make_case(o, k, 2, 1, burn_in));
  }
  for (const int fibres : {1, 2, 3, 4})
    add(fmt::format("ballstick/by_fibres/{}", fibres), o, make_case(o, 64, fibres, 1, 3000));
}

/// Figure 9 and Table 3: measurements and fibres, on a GPU for as many voxels as the brain of `voxherd phantom dwi
/// --preset clinical` has in its 30 slices.
void add_grid(const bench_options& o) {
  constexpr std::size_t slices_voxels = 88880;
  for (const std::size_t k : {64, 128, 256})
    for (const int fibres : {1, 2, 3, 4}) {
      ballstick_case c = make_case(o, k, fibres, 1, 3000);
      if (o.chosen.kind == backend::cuda && o.voxels == 0) c.voxels = slices_voxels;
      add(fmt::format("ballstick/grid/K{}_L{}", k, fibres), o, c);
    }
}

}  // namespace

int main(int argc, char** argv) {
  return run_benchmarks(argc, argv, [](const bench_options& o) {
    add_speed(o);
    add_figures(o);
    add_grid(o);
  });
}
