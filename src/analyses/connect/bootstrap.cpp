#include "src/analyses/connect/bootstrap.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

#include "core/clock.hpp"
#include "kernels/portable/output_arrays.hpp"
#include "kernels/portable/output_rows.hpp"
#include "kernels/tensor/bootstrap.hpp"
#include "src/analyses/common/median.hpp"
#include "src/analyses/connect/fronts.hpp"
#include "src/analyses/connect/gather_rows.hpp"
#include "src/scan/grid_space.hpp"

namespace voxherd {

namespace {

/// Linear indices in the box of voxels of the image.
std::vector<std::uint32_t> places_in(const image_box& box, const std::array<std::uint64_t, 3>& size,
                                     std::span<const std::uint64_t> voxels) {
  std::vector<std::uint32_t> places;
  for (const std::uint64_t v : voxels) {
    const std::uint64_t x = v % size[0] - box.first[0], y = v / size[0] % size[1] - box.first[1],
                        z = v / size[0] / size[1] - box.first[2];
    places.push_back(static_cast<std::uint32_t>((z * box.size[1] + y) * box.size[0] + x));
  }
  return places;
}

}  // namespace

/// What the runners share, one thread each: sums of their times, and the fits of the replicates.
class bootstrap_costs::shared {
 public:
  void add(const bootstrap_times& t) {
    const std::lock_guard turn(adding_);
    times_.data_fit += t.data_fit;
    times_.fits += t.fits;
    times_.fields += t.fields;
    times_.set_ups += t.set_ups;
    times_.solves += t.solves;
    times_.replicates += t.replicates;
  }

  bootstrap_times times() {
    const std::lock_guard turn(adding_);
    return times_;
  }

  /// The first call fits the data.
  void prepare(const connect_inputs& inputs, const device& d) {
    const std::lock_guard turn(fitting_);
    if (tensors_ == nullptr) fit_data(inputs, d);
  }

  /// As tensor_bootstrap::fit_image(), into the part of the image that fronts spread through.
  std::uint64_t fit(std::uint64_t replicate, float* tensors) {
    const std::lock_guard turn(fitting_);
    return tensors_->fit_image(replicate, tensors);
  }

 private:
  void fit_data(const connect_inputs& inputs, const device& d) {
    lap_timer timer;
    bootstrap_settings how;
    how.seed = inputs.options.random_seed;
    how.tensor.gradient_deviation = inputs.signals.gradient_deviation;
    tensors_ = make_tensor_bootstrap(d, inputs.signals.gradients, how, inputs.signals.voxels, inputs.signals.rows);
    const front_grid grid = make_front_grid(inputs);
    const std::vector<float> data = cropped(inputs.image.tensor, inputs.image.size, grid.box, 6);
    const std::vector<std::uint32_t> place = places_in(grid.box, inputs.image.size, inputs.signals.voxels);
    tensors_->set_image({data, place, bvec_frame(inputs.grid)});
    bootstrap_times spent;
    spent.data_fit = timer.lap();
    add(spent);
  }

  std::mutex adding_, fitting_;
  bootstrap_times times_;
  std::unique_ptr<tensor_bootstrap> tensors_;
};

namespace {

class replicate_runner final : public batch_runner {
 public:
  using fitter = bootstrap_costs::fit_function;
  using adder = std::function<void(const bootstrap_times&)>;

  replicate_runner(const connect_inputs& inputs, const device& d, fitter fit, adder add)
      : inputs_(inputs), fit_(std::move(fit)), add_(std::move(add)), grid_(make_front_grid(inputs)) {
    fields_ = tensor_field::make_field_maker(d, grid_.part, inputs.options.how);
    solver_ = connect::make_solver(d, grid_.view(), inputs.options.solver);
    solver_->set_regions(inputs.regions);
  }

  /// Fits the replicate's tensors, and prepares its field and the solver. `kept`: voxels that kept the tensor of the
  /// data.
  const tensor_field::field& prepare(std::uint64_t replicate, bootstrap_times& spent, std::uint64_t& kept) {
    lap_timer timer;
    kept = fit_(replicate, fields_->tensors());
    spent.fits = timer.lap();
    const tensor_field::field& field = fields_->make();
    spent.fields = timer.lap();
    solver_->set_speeds(field.view().values);
    spent.set_ups = timer.lap();
    return field;
  }

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    const std::size_t regions = inputs_.regions.regions();
    const std::size_t width = inputs_.options.is_connectome() ? regions * regions : 1;
    const auto out = arrays_in<replicate_outputs>(outputs);
    for (std::uint64_t i = 0; i < items.item_count; ++i)
      out.put<"kept">(i, solve(items.first_item + i + 1, out.values<"cost">() + i * width));
  }

 private:
  /// Writes the replicate's costs; returns how many voxels kept the tensor of the data.
  std::uint32_t solve(std::uint64_t replicate, float* cost) {
    bootstrap_times spent;
    std::uint64_t kept = 0;
    const tensor_field::field& field = prepare(replicate, spent, kept);
    lap_timer timer;
    const connect::start_list starts =
        find_starts(inputs_, grid_, [&](std::size_t voxel) { return host_tensor(field, voxel); });
    const auto scale = static_cast<float>(std::sqrt(field.scale));
    if (inputs_.options.is_connectome()) {
      region_costs(starts, scale, cost);
    } else {
      *cost = min_total(starts, scale);
    }
    spent.solves = timer.lap();
    spent.replicates = 1;
    add_(spent);
    return static_cast<std::uint32_t>(kept);
  }

  void region_costs(const connect::start_list& starts, float scale, float* cost) {
    const std::size_t regions = inputs_.regions.regions();
    solve_fronts(*solver_, starts, 0, regions, [&](std::size_t first, std::size_t count) {
      costs_.resize(count * regions);
      solver_->region_costs(costs_.data());
      for (std::size_t i = 0; i < costs_.size(); ++i) cost[first * regions + i] = costs_[i].least * scale;
    });
  }

  float min_total(const connect::start_list& starts, float scale) {
    const std::size_t voxels = inputs_.voxels.size();
    arrival_.resize(2 * voxels);
    solve_fronts(*solver_, starts, 0, 2, [&](std::size_t first, std::size_t count) {
      solver_->arrivals(0, count, arrival_.data() + first * voxels);
    });
    float least = std::numeric_limits<float>::infinity();
    for (std::size_t v = 0; v < voxels; ++v) least = std::min(least, arrival_[v] + arrival_[voxels + v]);
    return least * scale;
  }

  const connect_inputs& inputs_;
  fitter fit_;
  adder add_;
  front_grid grid_;
  std::unique_ptr<tensor_field::field_maker> fields_;
  std::unique_ptr<connect::solver> solver_;
  std::vector<float> arrival_;
  std::vector<connect::region_cost> costs_;
};

}  // namespace

double bootstrap_costs::time_preparation() const {
  use_device(device_);
  bootstrap_times spent;
  std::uint64_t kept = 0;
  (void)replicate_runner(inputs_, device_, fitter(), [](const bootstrap_times&) {}).prepare(1, spent, kept);
  return spent.fits + spent.fields + spent.set_ups;
}

nlohmann::json bootstrap_times::as_json() const {
  const double n = static_cast<double>(std::max<std::uint64_t>(1, replicates));
  return {{"replicates_of_rank_0", replicates}, {"data_fit_seconds", data_fit},  {"fit_seconds", fits / n},
          {"field_seconds", fields / n},        {"set_up_seconds", set_ups / n}, {"solve_seconds", solves / n}};
}

bootstrap_costs::bootstrap_costs(const connect_inputs& inputs, const device& d)
    : inputs_(inputs), device_(d), voxels_(inputs.options.bootstrap, no_voxel), shared_(std::make_unique<shared>()) {}

bootstrap_costs::~bootstrap_costs() = default;

namespace {

constexpr std::size_t voxels_per_block = 20;  // of 64 cells, the others are outside the mask

/// Estimated memory of a lane on its device, bytes: tensors and field of the image; lattice, graph and fronts of the
/// voxels that fronts can reach.
std::size_t lane_bytes(const connect_inputs& in, const device& d) {
  constexpr std::size_t image = 150, lattice_on_cpu = 300, lattice_on_gpu = 850, front_on_cpu = 16;
  const std::size_t voxels = in.voxels.size(), regions = in.regions.regions();
  const std::size_t of_image = image * in.grid.voxel_count();
  if (d.kind == backend::cpu) return of_image + (lattice_on_cpu + front_on_cpu * regions) * voxels;
  return of_image + lattice_on_gpu * voxels + regions * connect::device_bytes_per_front(voxels / voxels_per_block);
}

}  // namespace

int bootstrap_costs::lanes() const {
  constexpr double max_bytes = 8e9;
  constexpr int gpu_lanes = 3;             // one prepares while another one waits for the host
  constexpr int threads_per_cpu_lane = 4;  // fronts, most of the work, use them; with two cores, two lanes gain nothing
  const int most = device_.kind == backend::cpu ? device_.threads / threads_per_cpu_lane : gpu_lanes;
  const double lanes = std::min({max_bytes / static_cast<double>(lane_bytes(inputs_, device_)),
                                 static_cast<double>(inputs_.options.bootstrap), static_cast<double>(most)});
  return std::max(1, static_cast<int>(lanes));
}

std::size_t bootstrap_costs::device_bytes_per_item() const {
  const kept_signals& s = inputs_.signals;
  constexpr std::size_t image = 24;  // the data's tensors, which replicates are placed among
  const std::size_t of_all_lanes =
      s.voxels.size() * bootstrap_device_bytes_per_voxel(s.gradients.size(), s.gradient_deviation) +
      image * inputs_.grid.voxel_count();
  return of_all_lanes / static_cast<std::size_t>(lanes()) + lane_bytes(inputs_, device_);
}

bootstrap_costs::fit_function bootstrap_costs::fitter() const {
  shared_->prepare(inputs_, device_);
  return [this](std::uint64_t replicate, float* tensors) { return shared_->fit(replicate, tensors); };
}

std::unique_ptr<batch_runner> bootstrap_costs::make_runner() const {
  device share = device_;
  share.threads = std::max(1, device_.threads / lanes());
  return std::make_unique<replicate_runner>(inputs_, share, fitter(),
                                            [this](const bootstrap_times& t) { shared_->add(t); });
}

bootstrap_times bootstrap_costs::times() const { return shared_->times(); }

namespace {

double quantile(const std::vector<float>& sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double low = static_cast<double>(sorted[below]), high = static_cast<double>(sorted[above]);
  const double rest = place - static_cast<double>(below);
  return rest == 0 || low == high ? low : low + rest * (high - low);
}

std::vector<constant> make_constants(const std::vector<replicate_summary>& all, const std::vector<std::uint64_t>& shape,
                                     const connect_inputs& in) {
  const std::string unit = cost_unit(in.options.how), group = in.options.is_connectome() ? "connectome" : "pathway";
  const auto column = [&](const char* name, const std::string& of, std::string meaning, auto value) {
    constant c{name, shape, {}, of, std::move(meaning), group};
    for (const replicate_summary& r : all) c.values.push_back(value(r));
    return c;
  };
  const std::string end = fmt::format("end of the cost's {:g} % interval: percentile of the bootstrap's replicates",
                                      in.options.interval_percent);
  return {column("cost_low", unit, "lower " + end, [](const auto& r) { return r.low; }),
          column("cost_high", unit, "upper " + end, [](const auto& r) { return r.high; }),
          column("cost_mean", unit, "mean cost of the replicates", [](const auto& r) { return r.mean; }),
          column("cost_sd", unit, "standard deviation of the replicates' costs", [](const auto& r) { return r.sd; }),
          column("cost_replicates", "1", "number of replicates in which a path leads there",
                 [](const auto& r) { return static_cast<double>(r.valid); })};
}

void log_pathway(const replicate_summary& r, const connect_inputs& in) {
  spdlog::info("bootstrap of {}: cost {:.5g} to {:.5g} {} ({:g} % interval), mean {:.5g}, deviation {:.3g}",
               in.options.bootstrap, r.low, r.high, cost_unit(in.options.how), in.options.interval_percent, r.mean,
               r.sd);
}

void log_connectome(const std::vector<replicate_summary>& all, std::size_t regions, const connect_inputs& in) {
  std::vector<double> relative;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i / regions != i % regions && all[i].mean > 0 && std::isfinite(all[i].sd))
      relative.push_back(all[i].sd / all[i].mean);
  if (relative.empty()) return;
  spdlog::info(
      "bootstrap, {} replicates: half of the costs between regions have a standard deviation below {:.2g} % of their "
      "mean",
      in.options.bootstrap, 100 * upper_median(relative));
}

}  // namespace

replicate_summary summarise(std::vector<float>& costs, double percent) {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  std::sort(costs.begin(), costs.end());
  const double tail = (1 - percent / 100) / 2;
  replicate_summary r{quantile(costs, tail), quantile(costs, 1 - tail), nothing, nothing, 0};
  const auto end = std::find_if(costs.begin(), costs.end(), [](float c) { return std::isinf(c); });
  r.valid = static_cast<std::uint64_t>(end - costs.begin());
  if (r.valid == 0) return r;
  const double n = static_cast<double>(r.valid);
  r.mean = std::accumulate(costs.begin(), end, 0.0) / n;
  const double squares = std::accumulate(costs.begin(), end, 0.0, [&](double sum, float cost) {
    const double difference = static_cast<double>(cost) - r.mean;
    return sum + difference * difference;
  });
  if (r.valid > 1) r.sd = std::sqrt(squares / (n - 1));
  return r;
}

void refuse_too_many_costs(const connect_inputs& in) {
  constexpr double most = 16e9;
  const std::size_t regions = in.labels.size();
  const double bytes = 4.0 * static_cast<double>(in.options.bootstrap * regions * regions);
  if (in.options.is_connectome() && bytes > most)
    refuse_usage(
        "--bootstrap {} of {} regions: the replicates' costs take {:.0f} GB, expected at most {:.0f}; give fewer "
        "replicates, or fewer --labels",
        in.options.bootstrap, regions, 1e-9 * bytes, 1e-9 * most);
}

void replicate_collector::add(const batch& replicates, std::span<const std::span<const std::byte>> outputs) {
  for (std::uint64_t i = 0; i < replicates.item_count; ++i) replicates_.push_back(replicates.first_item + i);
  const std::span<const float> costs = output_rows<replicate_outputs>(outputs).values<"cost">();
  costs_.insert(costs_.end(), costs.begin(), costs.end());
}

std::vector<float> replicate_collector::gather(const session& s) {
  const std::vector<std::uint64_t> replicates = s.gather_to_root(replicates_);
  const std::uint64_t all = s.all_reduce(reduction::sum, std::uint64_t{replicates_.size()});
  const std::uint64_t costs = s.all_reduce(reduction::sum, std::uint64_t{costs_.size()});
  return gather_rows(s, replicates, costs_, all == 0 ? 0 : costs / all);
}

std::vector<constant> interval_constants(const std::vector<float>& rows, const connect_inputs& in) {
  const std::uint64_t replicates = in.options.bootstrap;
  const std::vector<std::uint64_t> shape = replicate_outputs::costs(in);
  const std::size_t width = rows.size() / replicates;
  std::vector<replicate_summary> all(width);
  std::vector<float> costs(replicates);
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t r = 0; r < replicates; ++r) costs[r] = rows[r * width + i];
    all[i] = summarise(costs, in.options.interval_percent);
  }
  std::vector<constant> constants = make_constants(all, shape, in);
  if (in.options.is_connectome()) {
    log_connectome(all, shape[0], in);
    return constants;
  }
  log_pathway(all[0], in);
  constants.push_back({"replicate_cost",
                       {replicates},
                       {rows.begin(), rows.end()},
                       cost_unit(in.options.how),
                       "cost of the least-cost path in each replicate",
                       "pathway"});
  return constants;
}

}  // namespace voxherd
