#include "bench/connect_problem.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "bench/connect_checks.hpp"
#include "bench/connect_volumes.hpp"
#include "kernels/connect/lattice.hpp"

namespace voxherd::bench {

namespace {

using namespace connect;
using counters = std::vector<std::pair<std::string, double>>;

/// Only front k of a list.
start_list single_front(const start_list& all, std::size_t k) {
  const auto begin = all.starts.begin();
  start_list one{{0}, {begin + static_cast<long>(all.offsets[k]), begin + static_cast<long>(all.offsets[k + 1])}};
  one.offsets.push_back(one.starts.size());
  return one;
}

std::vector<float> solve_arrivals(const solver& s, std::size_t front) {
  std::vector<float> u(s.voxels());
  s.arrivals(front, 1, u.data());
  return u;
}

double mean(const std::vector<float>& values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v);
  return sum / static_cast<double>(values.size());
}

/// Timed: solve().
class connect_problem : public problem {
 public:
  connect_problem(const device& d, const connect_run& how)
      : device_(d), how_(how), volume_(connect_volume_named(how.volume)) {
    use_device(d);
    set_up();
  }

  void run() override {
    use_device(device_);
    report_ = solver_->solve(volume_->starts);
  }

  std::string find_error() const override {
    if (!report_.converged) return "the solver did not converge";
    first_ = solve_arrivals(*solver_, 0);
    if (auto why = check_arrivals(*volume_, how_.settings, first_); !why.empty()) return why;
    if (volume_->exact.empty())
      if (auto why = compare_with_other(); !why.empty()) return why;
    return fronts() > 1 ? check_fronts() : "";
  }

  std::size_t voxels() const override { return fronts() * solver_->voxels(); }
  double device_seconds() const override { return report_.seconds; }

  counters more() const override {
    const double of_blocks = static_cast<double>(report_.visits) / static_cast<double>(fronts() * solver_->blocks());
    counters all{{"fronts", static_cast<double>(fronts())},
                 {"blocks", static_cast<double>(solver_->blocks())},
                 {"rounds", static_cast<double>(report_.rounds)},
                 {"visits_per_block", of_blocks},
                 {"cells_visited_per_voxel", static_cast<double>(block_cells) * static_cast<double>(report_.visits) /
                                                 static_cast<double>(voxels())}};
    add_errors(all);
    return all;
  }

 protected:
  std::size_t fronts() const { return volume_->starts.fronts(); }
  void set_up() {
    solver_.reset();  // before the next one allocates memory
    solver_ = make_solver(device_, volume_->of.field(), how_.settings);
  }

  device device_;
  connect_run how_;
  std::shared_ptr<const connect_volume> volume_;
  std::unique_ptr<solver> solver_;
  solve_report report_;

 private:
  /// The first front of another solver: a GPU is compared with the CPU, another scheme with selling.
  std::string compare_with_other() const {
    const bool selling1 = how_.settings.scheme == scheme_kind::selling && how_.settings.order == 1;
    const bool cuda = device_.kind == backend::cuda;
    if (!cuda && (selling1 || volume_->name == "helix/10000")) return "";
    const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    solver_settings alike = how_.settings;
    if (!cuda) alike = {};
    const auto other = make_solver({backend::cpu, cuda ? threads : device_.threads, 0}, volume_->of.field(), alike);
    other->solve(single_front(volume_->starts, 0));
    const std::vector<float> expected = solve_arrivals(*other, 0);
    if (cuda) {
      const double largest = largest_difference(first_, expected), in_mean = mean_difference(first_, expected);
      // Where two neighbours have almost the same time, second order may select either, depending on the order of
      // visits. On one CPU with different orders: single voxels of the helix differ by up to 3e-2, of the brain by
      // 3e-3, the mean by 1.1e-4 and 2.5e-5.
      const bool agrees = how_.settings.order == 2 ? largest < 6e-2 && in_mean < 3e-4 : largest < 2e-5;
      return agrees ? "" : fmt::format("differs from the CPU by up to {:.1e}, mean {:.1e}", largest, in_mean);
    }
    const double over = mean(first_) / mean(expected);
    return over > 0.6 && over < 1.7 ? "" : fmt::format("mean arrival time is {:.2f} times selling's", over);
  }

  std::string check_fronts() const {
    const auto separate = make_solver(device_, volume_->of.field(), how_.settings);
    for (const std::size_t k : {std::size_t{0}, fronts() - 1}) {
      separate->solve(single_front(volume_->starts, k));
      const double difference = largest_difference(solve_arrivals(*solver_, k), solve_arrivals(*separate, 0));
      if (!(difference <= (how_.settings.in_place ? 1e-4 : 0)))
        return fmt::format("front {} differs by {:.1e} from the same front solved separately", k, difference);
    }
    return "";
  }

  void add_errors(counters& all) const {
    if (first_.empty()) return;
    add_arrival_errors(*volume_, first_, all);
    if (const double of_all = mean(first_); std::isfinite(of_all)) all.emplace_back("mean_arrival", of_all);
  }

  mutable std::vector<float> first_;  ///< front 0 of the run that was verified
};

/// Timed: make_solver().
class set_up_problem final : public connect_problem {
 public:
  using connect_problem::connect_problem;
  void run() override {
    use_device(device_);
    set_up();
  }
  std::string find_error() const override {
    auto report = solver_->solve(single_front(volume_->starts, 0));
    std::vector<float> u = solve_arrivals(*solver_, 0);
    return report.converged ? check_arrivals(*volume_, how_.settings, u) : "the solver did not converge";
  }
  std::size_t voxels() const override { return solver_->voxels(); }
  counters more() const override { return {{"blocks", static_cast<double>(solver_->blocks())}}; }
};

}  // namespace

std::unique_ptr<problem> make_connect_problem(const device& d, const connect_run& how) {
  if (how.part == connect_part::set_up) return std::make_unique<set_up_problem>(d, how);
  if (how.part != connect_part::solve) return make_connectome_problem(d, how);
  return std::make_unique<connect_problem>(d, how);
}

}  // namespace voxherd::bench
