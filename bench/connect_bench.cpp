#include <fmt/core.h>

#include <string>

#include "bench/connect_problem.hpp"
#include "bench/connect_sweeping_problem.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::bench;
using connect::scheme_kind;
using connect::solver_settings;

struct scheme {
  const char* name;
  scheme_kind kind;
  int order;
  solver_settings settings(bool in_place = false) const {
    solver_settings s;
    s.scheme = kind, s.order = order, s.in_place = in_place;
    return s;
  }
};
constexpr scheme schemes[] = {{"selling1", scheme_kind::selling, 1},
                              {"selling2", scheme_kind::selling, 2},
                              {"godunov27", scheme_kind::godunov27, 1},
                              {"hl26", scheme_kind::hl26, 1}};

void add(const std::string& group, const std::string& volume, const scheme& s, bool in_place, const place& where,
         connect_part part = connect_part::solve) {
  const connect_run how{volume, s.settings(in_place), part};
  const char* mode = in_place ? "in_place" : "repeatable";
  add_benchmark(fmt::format("connect/{}/{}/{}/{}/{}", group, volume, s.name, mode, where.name),
                [how, d = where.on] { return make_connect_problem(d, how); });
}

/// The paper's Table 1 and larger volumes, with every scheme.
void add_solves(const place& where, bool cuda) {
  for (const std::string volume : {"const/64", "helix/100", "helix/10000", "half_space/64", "pullback/64",
                                   "pullback/201", "brain/1", "brain/16", "brain/100", "philips/1", "philips/16"}) {
    const bool large = volume == "pullback/201" || volume == "brain/100";
    for (const scheme& s : schemes) {
      // Takes minutes on one core.
      if (large && !cuda && s.kind != scheme_kind::selling) continue;
      for (const bool in_place : {false, true}) add("solve", volume, s, in_place, where);
    }
  }
}

/// The other solvers of the paper's Table 1.
void add_sweeping() {
  using reference::sweeping_scheme;
  for (const std::string volume : {"const/64", "helix/100", "helix/10000", "brain/1", "philips/1"})
    for (const auto& [name, kind] :
         {std::pair{"godunov", sweeping_scheme::godunov}, std::pair{"lax_friedrichs", sweeping_scheme::lax_friedrichs}})
      // Lax-Friedrichs takes more than four minutes at a ratio of 10,000.
      if (volume != "helix/10000" || kind == sweeping_scheme::godunov)
        add_benchmark(fmt::format("connect/sweeping/{}/{}/threads1", volume, name),
                      [volume, kind = kind] { return make_sweeping_problem(volume, kind); });
}

/// Error against time.
void add_sizes(const place& where) {
  for (const char* kind : {"const", "tilted", "half_space", "pullback"})
    for (const int side : {32, 64, 128})
      for (const scheme& s : schemes) add("by_size", fmt::format("{}/{}", kind, side), s, false, where);
}

void add_parts(const place& where) {
  for (const char* volume : {"const/64", "helix/100", "pullback/201", "brain/1"})
    for (const scheme& s : schemes) add("set_up", volume, s, false, where, connect_part::set_up);
  for (const char* volume : {"brain/16", "brain/100"}) {
    add("region_costs", volume, schemes[0], false, where, connect_part::region_costs);
    add("paths", volume, schemes[0], false, where, connect_part::paths);
  }
}

void add_all(const bench_options& o) {
  const bool cuda = o.chosen.kind == backend::cuda;
  if (!cuda) add_sweeping();
  for (const place& where : benchmark_devices(o)) {
    add_solves(where, cuda);
    if (where.on.threads > 1) continue;
    add_sizes(where);
    add_parts(where);
  }
}

}  // namespace

int main(int argc, char** argv) { return run_benchmarks(argc, argv, add_all); }
