#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "bench/connect_problem.hpp"
#include "bench/connect_volumes.hpp"

namespace voxherd::bench {

namespace {

using namespace connect;
using counters = std::vector<std::pair<std::string, double>>;

/// Solves fronts from all of a brain's regions; timed is the computation of their costs in all regions.
class cost_problem : public problem {
 public:
  cost_problem(const device& d, const connect_run& how)
      : device_(d), volume_(connect_volume_named(how.volume)), costs_(fronts() * fronts()) {
    use_device(d);
    solver_ = make_solver(d, volume_->of.field(), how.settings);
    solver_->solve(volume_->starts);
    solver_->set_regions(volume_->regions);
  }

  void run() override {
    use_device(device_);
    solver_->region_costs(costs_.data());
  }

  std::string find_error() const override {
    std::vector<float> u(solver_->voxels());
    for (const std::size_t front : {std::size_t{0}, fronts() - 1}) {
      solver_->arrivals(front, 1, u.data());
      for (std::size_t k = 0; k < fronts(); ++k)
        if (auto why = check_cost(u, k, costs_[front * fronts() + k]); !why.empty()) return why;
    }
    return "";
  }

  std::size_t voxels() const override { return costs_.size(); }
  std::string unit() const override { return "pair"; }
  counters more() const override { return {{"fronts", static_cast<double>(fronts())}}; }

 protected:
  std::size_t fronts() const { return volume_->starts.fronts(); }

  device device_;
  std::shared_ptr<const connect_volume> volume_;
  std::vector<region_cost> costs_;  ///< (fronts, regions)
  std::unique_ptr<solver> solver_;

 private:
  std::string check_cost(const std::vector<float>& u, std::size_t region, const region_cost& cost) const {
    const auto& r = volume_->regions;
    double least = INFINITY, sum = 0;
    for (std::uint64_t i = r.offsets[region]; i < r.offsets[region + 1]; ++i) {
      const double one = static_cast<double>(u[r.voxels[i]]);
      least = std::min(least, one), sum += one;
    }
    const double mean = sum / static_cast<double>(r.offsets[region + 1] - r.offsets[region]);
    if (static_cast<double>(cost.least) == least && std::abs(static_cast<double>(cost.mean) - mean) <= 1e-5 * mean)
      return "";
    return fmt::format("region {}: minimum {} and mean {}, expected {} and {}", region, cost.least, cost.mean, least,
                       mean);
  }
};

/// Timed: paths from every region's nearest voxel back to every other region.
class path_problem final : public cost_problem {
 public:
  path_problem(const device& d, const connect_run& how) : cost_problem(d, how) {
    solver_->region_costs(costs_.data());
    for (std::uint32_t f = 0; f < fronts(); ++f)
      for (std::uint32_t r = 0; r < fronts(); ++r) {
        if (f == r) continue;
        const region_cost& cost = costs_[f * fronts() + r];
        requests_.push_back({f, cost.min_voxel});
        arrivals_.push_back(static_cast<double>(cost.least));
      }
    scores_.resize(requests_.size());
  }

  void run() override {
    use_device(device_);
    solver_->score_paths(requests_, {}, scores_.data());
  }

  std::string find_error() const override {
    const double part = part_at_source(), over = median_over_arrival();
    if (!(part > 0.99)) return fmt::format("only {:.1f} % of the paths end in their source", 100 * part);
    return over > 0.5 && over < 1.2 ? "" : fmt::format("the median path cost is {:.2f} of its arrival time", over);
  }

  std::size_t voxels() const override {
    std::size_t steps = 0;
    for (const path_score& s : scores_) steps += s.steps;
    return steps;
  }
  std::string unit() const override { return "step"; }
  counters more() const override {
    return {{"fronts", static_cast<double>(fronts())},
            {"paths", static_cast<double>(requests_.size())},
            {"part_at_source", part_at_source()},
            {"cost_over_arrival", median_over_arrival()}};
  }

 private:
  double part_at_source() const {
    const auto count =
        std::count_if(scores_.begin(), scores_.end(), [](const path_score& s) { return s.end == path_end::source; });
    return static_cast<double>(count) / static_cast<double>(scores_.size());
  }

  double median_over_arrival() const {
    std::vector<double> over;
    for (std::size_t i = 0; i < scores_.size(); ++i)
      over.push_back(static_cast<double>(scores_[i].cost) / arrivals_[i]);
    const auto middle = over.begin() + static_cast<std::ptrdiff_t>(over.size() / 2);
    std::nth_element(over.begin(), middle, over.end());
    return *middle;
  }

  std::vector<path_request> requests_;
  std::vector<double> arrivals_;
  std::vector<path_score> scores_;
};

}  // namespace

std::unique_ptr<problem> make_connectome_problem(const device& d, const connect_run& how) {
  if (how.part == connect_part::paths) return std::make_unique<path_problem>(d, how);
  return std::make_unique<cost_problem>(d, how);
}

}  // namespace voxherd::bench
