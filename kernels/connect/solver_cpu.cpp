#include <omp.h>
#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>

#include "kernels/connect/block_graph.hpp"
#include "kernels/connect/cpu_block_team.hpp"
#include "kernels/connect/cube_block.hpp"
#include "kernels/connect/front_steps.hpp"
#include "kernels/connect/paper/godunov27.hpp"
#include "kernels/connect/paper/hopf_lax26.hpp"
#include "kernels/connect/path.hpp"
#include "kernels/connect/readings.hpp"
#include "kernels/connect/second_order_block.hpp"
#include "kernels/connect/selling_block.hpp"
#include "kernels/device/each_cpu.hpp"

namespace voxherd::connect {

/// Reads the results of fronts solved on CPU threads.
class cpu_readings {
 public:
  cpu_readings(const solver_parts& parts, int threads) : parts_(&parts), threads_(threads) {}

  void set_fronts(const start_list& fronts) {
    fronts_ = fronts;
    started_.clear();
  }

  void set_regions(const region_list& regions) {
    regions_ = find_region_cells(parts_->where, regions);
    if (number_of_cell_.empty()) number_of_cell_ = number_of_cell(parts_->where);
  }

  void region_costs(const float* arrival, region_cost* to) const {
    const auto regions = static_cast<std::uint32_t>(regions_.regions());
    if (regions == 0) return;
    each_on_cpu(threads_, static_cast<std::uint32_t>(fronts_.fronts() * regions),
                region_summer{arrival, parts_->where.cells(), regions, regions_.offset.data(), regions_.cell.data(),
                              number_of_cell_.data(), to});
  }

  /// Computes scores, or points if `world_mm` is not null.
  void follow(const float* arrival, std::span<const path_request> paths, const path_settings& settings,
              path_score* scores, const std::uint64_t* offsets, float* world_mm) const {
    const lattice& l = parts_->where;
    check_paths(paths, fronts_.fronts(), l.cell_of_number.size(), settings);
    if (paths.empty()) return;
    if (started_.empty()) started_ = find_front_starts(l, fronts_);
    const std::uint32_t all = static_cast<std::uint32_t>(fronts_.fronts()), most = fronts_at_once(l, all, flow_bytes);
    std::vector<flow> flows(most * l.cells());
    path_follower f = make_follower(settings, parts_->axes_mm, parts_->origin_mm);
    f.lattice = l.view();
    f.flows = flows.data();
    f.started = started_.data();
    f.requests = paths.data();
    f.cell_of_number = l.cell_of_number.data();
    f.scores = scores;
    f.offsets = offsets;
    f.world_mm = world_mm;
    for (f.first = 0; f.first < all; f.first += most) {
      f.fronts = std::min(most, all - f.first);
      if (!any_of_fronts(paths, f.first, f.fronts)) continue;
      each_on_cpu(threads_, static_cast<std::uint32_t>(f.fronts * l.cells()),
                  flow_maker{l.view(), arrival, f.first, flows.data()});
      each_on_cpu(threads_, static_cast<std::uint32_t>(paths.size()), f);
    }
  }

 private:
  static constexpr std::size_t flow_bytes = std::size_t{1} << 26;

  const solver_parts* parts_;
  int threads_;
  start_list fronts_;
  mutable std::vector<front_start> started_;
  region_cells regions_;
  std::vector<std::uint32_t> number_of_cell_;
};

namespace {

/// A narrow front visits few blocks twice, and a wider one has no advantage on a single thread.
constexpr float cut_voxels = 2, growth_voxels = 1;
constexpr int inner_iterations = 4;

struct front_memory {
  std::uint32_t fronts = 0;
  std::vector<float> value, trigger[2], least[3], arrival;
  std::vector<std::uint32_t> state, choice;

  void reserve(std::uint32_t count, std::uint32_t blocks, int order) {
    fronts = count;
    const std::size_t n = std::size_t{count} * blocks;
    value.resize(std::size_t{count} * 2 * (blocks + 1) * block_cells);
    state.resize(n);
    for (auto& t : trigger) t.resize(n);
    for (auto& l : least) l.resize(count);
    arrival.resize(n * block_cells);
    if (order == 2) choice.resize(n * block_cells);
  }

  front_view view(std::uint32_t blocks, bool in_place) {
    return {fronts,
            blocks,
            value.data(),
            state.data(),
            {trigger[0].data(), trigger[1].data()},
            {least[0].data(), least[1].data(), least[2].data()},
            choice.data(),
            in_place};
  }
};

/// Runs rounds of one front until no block is awake.
template <class Scheme>
class round_loop {
 public:
  using visit = block_visit<cpu_block_team, Scheme>;
  round_loop(const visit& v, int threads) : visit_(v), threads_(threads) {}

  /// Runs rounds from `round` on; returns the next one, max_rounds if `is_stopped()`. Increases `visits`.
  template <class Stopped>
  std::uint32_t operator()(std::uint32_t k, std::uint32_t round, std::uint64_t& visits, const Stopped& is_stopped) {
    const front_view& f = visit_.front;
    for (; f.least[round % 3][k] < unreached && round < max_rounds; ++round) {
      if (is_stopped()) return max_rounds;
      f.least[(round + 1) % 3][k] = unreached;
      choose(k, round);
      const auto n = static_cast<std::int64_t>(now_.size());
      visits += now_.size();
#pragma omp parallel for num_threads(threads_) schedule(dynamic, 4) if (threads_ > 1 && n > 8)
      for (std::int64_t i = 0; i < n; ++i) {
        typename visit::scratch s;
        const cpu_block_team team;
        visit_(team, s, k, now_[static_cast<std::size_t>(i)], round, [&](std::uint32_t block, float when) {
          team.lower(f.triggers(k, round + 1) + block, when);
          team.lower(f.least[(round + 1) % 3] + k, when);
        });
      }
    }
    return round;
  }

 private:
  /// Selects the awake blocks that need not wait.
  void choose(std::uint32_t k, std::uint32_t round) {
    const front_view& f = visit_.front;
    float* trigger = f.triggers(k, round);
    float* next = f.triggers(k, round + 1);
    // Increases even if the earliest trigger does not, so that slowly converging values do not block the front.
    limit_ = std::max(f.least[round % 3][k] + visit_.rules.cut, limit_ + visit_.rules.growth);
    const float limit = limit_;
    now_.clear();
    for (std::uint32_t b = 0; b < f.blocks; ++b) {
      const float t = trigger[b];
      if (!(t < unreached)) continue;
      trigger[b] = unreached;
      if (t <= limit) {
        now_.push_back(b);
      } else {
        next[b] = std::min(next[b], t);
        f.least[(round + 1) % 3][k] = std::min(f.least[(round + 1) % 3][k], t);
      }
    }
  }

  visit visit_;
  int threads_;
  std::vector<std::uint32_t> now_;
  float limit_ = 0;
};

class cpu_solver final : public solver {
 public:
  cpu_solver(const device& d, solver_parts&& parts) : threads_(d.threads), parts_(std::move(parts)) {}

  void set_speeds(const float* tensors) override {
    const bool first = parts_.typical_cost == 0;
    connect::set_speeds(parts_.where, tensors, threads_);
    if (first || parts_.settings.scheme == scheme_kind::selling)
      parts_.graph = build_graph(parts_.where, parts_.settings, threads_);
    std::vector<float> traces;
    for (const std::uint32_t cell : cost_sample(parts_.where)) traces.push_back(trace_of(parts_.where.view(), cell));
    parts_.typical_cost = typical_cost(traces);
  }

  std::uint64_t voxels() const override { return parts_.where.cell_of_number.size(); }
  std::uint64_t blocks() const override { return parts_.where.blocks; }

  solve_report solve(const start_list& list) override {
    if (parts_.typical_cost == 0) throw std::logic_error("connect: solve() before set_speeds()");
    const auto begin = std::chrono::steady_clock::now();
    const auto count = static_cast<std::uint32_t>(list.fronts());
    memory_.reserve(count, parts_.where.blocks, parts_.settings.order);
    readings_.set_fronts(list);
    const front_view f = memory_.view(parts_.where.blocks, parts_.settings.in_place);
    each_on_cpu(threads_, count * (f.blocks + 1), front_clearer{f});
    std::vector<start_cell> starts;
    for (std::uint32_t k = 0; k < count; ++k)
      for (std::uint64_t i = list.offsets[k]; i < list.offsets[k + 1]; ++i)
        starts.push_back({k, checked_cell(parts_.where, list.starts[i]), list.starts[i].arrival});
    const auto n = static_cast<std::uint32_t>(starts.size());
    each_on_cpu(1, n, front_starter<cpu_block_team>{{}, f, starts.data()});
    each_on_cpu(1, n, front_waker<cpu_block_team>{{}, f, parts_.graph.view(), starts.data(), 1});

    std::uint64_t visits = 0;
    std::uint32_t rounds = 0;
    if (static_cast<int>(count) >= threads_) {  // one front per thread
#pragma omp parallel for num_threads(threads_) schedule(dynamic, 1) reduction(+ : visits) reduction(max : rounds)
      for (std::uint32_t k = 0; k < count; ++k) rounds = std::max(rounds, run(f, k, starts, 1, visits));
    } else {
      // Parallel over the blocks of a front. Within another parallel region, even of one thread, each round would start
      // threads anew.
      for (std::uint32_t k = 0; k < count; ++k) rounds = std::max(rounds, run(f, k, starts, threads_, visits));
    }
    each_on_cpu(threads_, static_cast<std::uint32_t>(count * parts_.where.cells()),
                arrival_gatherer{f, memory_.arrival.data()});
    solve_report report;
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    report.visits = visits;
    report.rounds = rounds;
    report.converged = rounds < max_rounds;
    return report;
  }

  void arrivals(std::size_t first, std::size_t count, float* to) const override {
    const std::size_t cells = parts_.where.cells();
    for (std::size_t k = first; k < first + count; ++k)
      for (const std::uint32_t cell : parts_.where.cell_of_number) {
        const float u = memory_.arrival[k * cells + cell];
        *to++ = u < unreached ? u : std::numeric_limits<float>::infinity();
      }
  }

  void set_regions(const region_list& regions) override { readings_.set_regions(regions); }
  void region_costs(region_cost* to) const override { readings_.region_costs(memory_.arrival.data(), to); }
  void score_paths(std::span<const path_request> paths, const path_settings& settings, path_score* to) const override {
    readings_.follow(memory_.arrival.data(), paths, settings, to, nullptr, nullptr);
  }
  void trace_paths(std::span<const path_request> paths, const path_settings& settings,
                   std::span<const std::uint64_t> offsets, float* world_mm) const override {
    readings_.follow(memory_.arrival.data(), paths, settings, nullptr, offsets.data(), world_mm);
  }

 private:
  template <class Scheme>
  std::uint32_t rounds(const front_view& f, const Scheme& scheme, std::uint32_t k, std::uint32_t from, int threads,
                       std::uint64_t& visits) const {
    const round_rules rules{from, solve_tolerance(Scheme::order, parts_.settings), cut_voxels * parts_.typical_cost,
                            growth_voxels * parts_.typical_cost, inner_iterations};
    return round_loop<Scheme>({parts_.graph.view(), f, rules, scheme}, threads)(k, from, visits,
                                                                                [this] { return is_stopped(); });
  }

  std::uint32_t run(const front_view& f, std::uint32_t k, const std::vector<start_cell>& starts, int threads,
                    std::uint64_t& visits) const {
    const float* tensor = parts_.where.tensor.data();
    const float* weight = parts_.where.weight.data();
    if (parts_.settings.scheme == scheme_kind::godunov27)
      return rounds(f, cube_scheme<godunov27_local>{tensor}, k, 1, threads, visits);
    if (parts_.settings.scheme == scheme_kind::hl26)
      return rounds(f, cube_scheme<hopf_lax26_local>{tensor}, k, 1, threads, visits);
    const std::uint32_t round = rounds(f, selling_scheme{weight}, k, 1, threads, visits);
    if (parts_.settings.order == 1 || round >= max_rounds) return round;
    const graph_view g = parts_.graph.view();
    each_on_cpu(threads, static_cast<std::uint32_t>(parts_.where.cells()), second_order_chooser{f, g, k});
    for (const start_cell& s : starts) {
      if (s.front != k) continue;
      start_fixer{f, &s}(0);
      front_waker<cpu_block_team>{{}, f, g, &s, round}(0);
    }
    return rounds(f, second_order_scheme{weight}, k, round, threads, visits);
  }

  int threads_;
  solver_parts parts_;
  front_memory memory_;
  cpu_readings readings_{parts_, threads_};
};

}  // namespace

std::unique_ptr<solver> make_solver_cpu(const device& d, solver_parts&& parts, std::span<const float> tensors) {
  auto made = std::make_unique<cpu_solver>(d, std::move(parts));
  if (!tensors.empty()) made->set_speeds(tensors.data());
  return made;
}

}  // namespace voxherd::connect
