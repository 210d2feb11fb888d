#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "bench/perfusion_problem.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::bench;

void add(const std::string& group, const std::string& method, int frames, std::size_t voxels, const place& where,
         perfusion_truth truth = perfusion_truth::paper) {
  add_benchmark(fmt::format("perfusion/{}/{}/{}/{}/{}", group, method, frames, voxels, where.name), [=] {
    return make_perfusion_problem(where.on, {perfusion_method_named(method), frames, voxels, truth});
  });
}

constexpr const char* every_method[] = {"simplex-paper",
                                        "simplex-paper-direct",
                                        "simplex-paper-fft",
                                        "simplex-paper-float",
                                        "simplex",
                                        "simplex-float",
                                        "simplex-bounded",
                                        "lm",
                                        "lm-float",
                                        "lm-dictionary",
                                        "lm-dictionary-float",
                                        "varpro",
                                        "varpro-dictionary",
                                        "linear"};

bool slow(const std::string& method) { return method.ends_with("-direct") || method.ends_with("-fft"); }

/// The first half of the paper's Table 2: 10,000 voxels; on one core as many as take a few seconds.
void add_frames(const bench_options& o, const place& where, bool cuda) {
  for (const std::string method : every_method)
    for (const int frames : paper_frames) {
      const std::size_t on_core = slow(method) ? 64 : 2048;
      add("by_frames", method, frames, o.voxels > 0 ? o.voxels : cuda ? 10000 : on_core, where);
    }
}

/// The second half of Table 2.
void add_voxels(const place& where) {
  for (const char* method : {"simplex-paper", "simplex-paper-fft", "simplex", "lm"})
    for (const std::size_t voxels : {1, 10, 50, 100, 1000, 5000, 10000}) add("by_voxels", method, 128, voxels, where);
}

/// Rates of a fully used device, for identical livers and for livers that differ between voxels.
void add_rates(const bench_options& o, const place& where, bool cuda) {
  const std::size_t voxels = o.voxels > 0 ? o.voxels
                             : cuda       ? 1'000'000
                                          : 8192 * static_cast<std::size_t>(where.on.threads);
  for (const std::string method : every_method)
    for (const int frames : {48, 128}) {
      if (slow(method)) continue;
      add("rate", method, frames, voxels, where);
      if (method != "linear") add("physiology", method, frames, voxels, where, perfusion_truth::physiology);
    }
}

/// The paper's patients.
void add_patients(const place& where) {
  for (const char* method : {"simplex-paper", "simplex", "lm", "lm-float"})
    for (const std::size_t voxels : {576556, 663980, 638728}) add("patient", method, 48, voxels, where);
}

void add_all(const bench_options& o) {
  const bool cuda = o.chosen.kind == backend::cuda;
  for (const place& where : benchmark_devices(o)) {
    add_rates(o, where, cuda);
    if (where.on.threads > 1) continue;
    add_frames(o, where, cuda);
    add_voxels(where);
    if (cuda) add_patients(where);
  }
}

}  // namespace

int main(int argc, char** argv) { return run_benchmarks(argc, argv, add_all); }
