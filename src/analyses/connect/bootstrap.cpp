#include "src/analyses/connect/bootstrap.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <mutex>
#include <utility>

#include "kernels/tensor/bootstrap.hpp"
#include "src/analyses/connect/solving.hpp"

namespace voxherd {

/// Sums that the runners add to, one thread each.
struct bootstrap_costs::clocks {
  std::mutex mutex;
  bootstrap_times times;
};

namespace {

using clock = std::chrono::steady_clock;

/// Seconds since the last call.
class lap_timer {
 public:
  double lap() {
    const clock::time_point now = clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  clock::time_point last_ = clock::now();
};

class replicate_runner final : public batch_runner {
 public:
  using adder = std::function<void(const bootstrap_times&)>;

  replicate_runner(const connect_inputs& inputs, const device& d, adder add)
      : inputs_(inputs), device_(d), add_(std::move(add)), image_(inputs.image) {
    lap_timer timer;
    bootstrap_settings how;
    how.seed = inputs.options.bootstrap.seed;
    how.tensor.gradient_deviation = inputs.signals.gradient_deviation;
    tensors_ = make_tensor_bootstrap(d, inputs.signals.gradients, how, inputs.signals.voxels, inputs.signals.rows);
    tensor_.resize(6 * tensors_->voxels());
    status_.resize(tensors_->voxels());
    bootstrap_times spent;
    spent.data_fit = timer.lap();
    add_(spent);
  }

  /// Fits the replicate's tensors and prepares its field. `kept`: voxels that kept the tensor of the data.
  front_field prepare(std::uint64_t replicate, bootstrap_times& spent, std::size_t& kept) {
    lap_timer timer;
    tensors_->fit(replicate, tensor_.data(), status_.data());
    image_.tensor = inputs_.image.tensor;
    kept = place_tensors(inputs_.grid, inputs_.signals.voxels, tensor_, status_, image_);
    spent.fits = timer.lap();
    std::uint64_t repaired = 0;
    front_field field = make_front_field(inputs_, image_, device_, repaired);
    spent.fields = timer.lap();
    return field;
  }

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    const std::size_t regions = inputs_.regions.regions();
    const std::size_t width = inputs_.options.connectome ? regions * regions : 1;
    for (std::uint64_t i = 0; i < items.item_count; ++i)
      output_array<std::uint32_t>(outputs, 1)[i] =
          solve(items.first_item + i + 1, output_array<float>(outputs, 0) + i * width);
  }

 private:
  /// Writes the replicate's costs; returns how many voxels kept the tensor of the data.
  std::uint32_t solve(std::uint64_t replicate, float* cost) {
    bootstrap_times spent;
    std::size_t kept = 0;
    const front_field field = prepare(replicate, spent, kept);
    lap_timer timer;
    const auto solver = connect::make_solver(device_, field.view(), inputs_.options.solver);
    solver->set_regions(inputs_.regions);
    spent.set_ups = timer.lap();
    if (inputs_.options.connectome) {
      region_costs(*solver, field, cost);
    } else {
      *cost = min_total(*solver, field);
    }
    spent.solves = timer.lap();
    spent.replicates = 1;
    add_(spent);
    return static_cast<std::uint32_t>(kept);
  }

  void region_costs(connect::solver& solver, const front_field& field, float* cost) {
    const std::size_t regions = inputs_.regions.regions();
    solve_fronts(solver, field.starts, 0, regions, [&](std::size_t first, std::size_t count) {
      costs_.resize(count * regions);
      solver.region_costs(costs_.data());
      for (std::size_t i = 0; i < costs_.size(); ++i)
        cost[first * regions + i] = costs_[i].least * static_cast<float>(field.cost_scale);
    });
  }

  float min_total(connect::solver& solver, const front_field& field) {
    const std::size_t voxels = inputs_.voxels.size();
    arrival_.resize(2 * voxels);
    solve_fronts(solver, field.starts, 0, 2, [&](std::size_t first, std::size_t count) {
      solver.arrivals(0, count, arrival_.data() + first * voxels);
    });
    float least = std::numeric_limits<float>::infinity();
    for (std::size_t v = 0; v < voxels; ++v) least = std::min(least, arrival_[v] + arrival_[voxels + v]);
    return least * static_cast<float>(field.cost_scale);
  }

  const connect_inputs& inputs_;
  device device_;
  adder add_;
  tensor_field::tensor_image image_;
  std::unique_ptr<tensor_bootstrap> tensors_;
  std::vector<float> tensor_, arrival_;
  std::vector<std::uint8_t> status_;
  std::vector<connect::region_cost> costs_;
};

}  // namespace

double time_replicate_field(const connect_inputs& inputs, const device& d) {
  use_device(d);
  bootstrap_times spent;
  std::size_t kept = 0;
  (void)replicate_runner(inputs, d, [](const bootstrap_times&) {}).prepare(1, spent, kept);
  return spent.fits + spent.fields;
}

nlohmann::json bootstrap_times::as_json() const {
  const double n = static_cast<double>(std::max<std::uint64_t>(1, replicates));
  return {{"replicates_of_rank_0", replicates}, {"data_fit_seconds", data_fit},  {"fit_seconds", fits / n},
          {"field_seconds", fields / n},        {"set_up_seconds", set_ups / n}, {"solve_seconds", solves / n}};
}

bootstrap_costs::bootstrap_costs(const connect_inputs& inputs, const device& d)
    : inputs_(inputs),
      device_(d),
      item_voxels_(inputs.options.bootstrap.replicates, inputs.voxels.front()),
      clocks_(std::make_unique<clocks>()) {}

bootstrap_costs::~bootstrap_costs() = default;

std::vector<output_spec> bootstrap_costs::outputs() const {
  const std::uint64_t regions = inputs_.regions.regions();
  const bool all = inputs_.options.connectome;
  return {{"cost", element_type::float32,
           all ? std::vector<std::uint64_t>{regions, regions} : std::vector<std::uint64_t>{1}, output_layout::items,
           cost_unit(inputs_.options.how),
           all ? "least arrival time of each region's front in each region" : "of the cheapest path"},
          {"kept", element_type::uint32, {}, output_layout::items, "1", "voxels that kept the data's tensor"}};
}

std::size_t bootstrap_costs::device_bytes_per_item() const {
  const kept_signals& s = inputs_.signals;
  return s.voxels.size() * bootstrap_device_bytes_per_voxel(s.gradients.size(), s.gradient_deviation);
}

std::unique_ptr<batch_runner> bootstrap_costs::make_runner() const {
  return std::make_unique<replicate_runner>(inputs_, device_, [this](const bootstrap_times& t) {
    const std::lock_guard lock(clocks_->mutex);
    bootstrap_times& sum = clocks_->times;
    sum.data_fit += t.data_fit;
    sum.fits += t.fits;
    sum.fields += t.fields;
    sum.set_ups += t.set_ups;
    sum.solves += t.solves;
    sum.replicates += t.replicates;
  });
}

bootstrap_times bootstrap_costs::times() const {
  const std::lock_guard lock(clocks_->mutex);
  return clocks_->times;
}

}  // namespace voxherd
