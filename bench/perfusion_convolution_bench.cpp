#include <fmt/core.h>

#include <array>
#include <functional>
#include <random>

#include "bench/perfusion_convolution.hpp"
#include "bench/program.hpp"
#include "kernels/perfusion/paper/block_fft_model.hpp"
#include "kernels/perfusion/paper/direct_model.hpp"
#include "kernels/perfusion/recursion_model.hpp"
#include "tests/perfusion/reference/perfusion_convolution.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::bench;
using namespace voxherd::perfusion;

constexpr std::array frame_counts{32, 48, 64, 128, 256, 320, 448, 512};
constexpr double complete_s = 120;  ///< duration of a series, as the paper's
constexpr std::array<double, dual_parameters> papers_truth{400 / per_second, 20 / per_second, 100 / per_second, 1, 2};

const char* method_name(convolution_method method) {
  switch (method) {
    case convolution_method::block_fft:
      return "block_fft";
    case convolution_method::cufft:
      return "cufft";
    case convolution_method::direct:
      return "direct";
    case convolution_method::recursion:
      break;
  }
  return "recursion";
}

convolution_curves any_curves(int frames, std::size_t count) {
  std::mt19937_64 random(5601);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> kl(60 / per_second, 1200 / per_second);
  convolution_curves c{frames, {}, {}};
  for (std::size_t n = 0; n < count; ++n) c.kl_T.push_back(kl(random) * complete_s / frames);
  for (std::size_t i = 0; i < count * static_cast<std::size_t>(frames); ++i) c.series.push_back(normal(random));
  return c;
}

/// The convolution by recursion in long double.
std::vector<double> convolved(const convolution_curves& c) {
  std::vector<double> out;
  for (std::size_t n = 0; n < c.count(); ++n) {
    const long double e = std::exp(-static_cast<long double>(c.kl_T[n]));
    long double y = 0;
    for (int i = 0; i < c.frames; ++i) {
      y = e * y + static_cast<long double>(c.series[out.size()]);
      out.push_back(static_cast<double>(y));
    }
  }
  return out;
}

/// Largest difference over the largest value.
std::string compare_results(const std::vector<double>& found, const std::vector<double>& truth, double most) {
  const double error = convolutions::relative_error(found, truth);
  return error < most ? "" : fmt::format("relative error {:.2e}, expected below {:.0e}", error, most);
}

/// Only convolutions, on a GPU; every result is compared.
class convolution_problem final : public problem {
 public:
  convolution_problem(const device& d, convolution_method method, int frames, std::size_t count)
      : device_(d), curves_(any_curves(frames, count)) {
    use_device(d);
    round_trip_rmse_ = round_trip(method);
    work_ = make_gpu_convolutions(method, curves_);
  }

  void run() override {
    use_device(device_);
    work_->run();
  }
  std::string find_error() const override {
    if (!(round_trip_rmse_ < 1e-13)) return fmt::format("round trip: RMSE {:.2e}", round_trip_rmse_);
    return compare_results(work_->results(), convolved(curves_), 1e-12);
  }
  std::size_t voxels() const override { return curves_.count(); }
  std::string unit() const override { return "curve"; }
  double device_seconds() const override { return work_->device_seconds(); }
  std::vector<std::pair<std::string, double>> more() const override { return {{"round_trip_rmse", round_trip_rmse_}}; }

 private:
  /// If the exponential decays within one frame, only the forward and backward transforms remain.
  double round_trip(convolution_method method) const {
    convolution_curves gone = curves_;
    std::fill(gone.kl_T.begin(), gone.kl_T.end(), 700.0);
    const auto work = make_gpu_convolutions(method, gone);
    work->run();
    const auto back = work->results();
    double sum = 0;
    for (std::size_t i = 0; i < back.size(); ++i) sum += (back[i] - gone.series[i]) * (back[i] - gone.series[i]);
    return std::sqrt(sum / static_cast<double>(back.size()));
  }

  device device_;
  convolution_curves curves_;
  std::unique_ptr<gpu_work> work_;
  double round_trip_rmse_ = 0;
};

cost_voxels any_voxels(int frames, std::size_t count, int repeats) {
  std::mt19937_64 random(5601);
  std::uniform_real_distribution<double> around(0.5, 2);
  cost_voxels v{convolutions::test_course(frames, complete_s / frames), {}, {}, repeats};
  for (std::size_t n = 0; n < count; ++n)
    for (const double x : papers_truth) v.p.push_back(x * around(random));
  std::uniform_real_distribution<float> level(0.0f, 1.0f);
  for (std::size_t i = 0; i < count * static_cast<std::size_t>(frames); ++i) v.samples.push_back(level(random));
  return v;
}

/// Calls evaluate(p, voxel) for the trials of a voxel; returns the sum.
template <class Evaluate>
double trial_sum(const cost_voxels& v, std::size_t voxel, const Evaluate& evaluate) {
  double p[dual_parameters], sum = 0;
  std::copy_n(v.p.begin() + static_cast<std::ptrdiff_t>(voxel * dual_parameters), dual_parameters, p);
  for (int r = 0; r < v.repeats; ++r, p[kl] *= 1.001) sum += evaluate(p);
  return sum;
}

/// From the definition of the paper's model (tests/perfusion/reference), for the first `count` voxels.
std::vector<double> summed_costs(const cost_voxels& v, std::size_t count) {
  std::vector<double> sums;
  const std::size_t frames = v.course.frames();
  for (std::size_t n = 0; n < std::min(count, v.count()); ++n)
    sums.push_back(trial_sum(v, n, [&](const double(&p)[dual_parameters]) {
      const auto c = convolutions::paper_curve(v.course, p);
      double cost = 0;
      for (std::size_t i = 0; i < frames; ++i) {
        const double rest = static_cast<double>(v.samples[n * frames + i]) - c[i];
        cost += rest * rest;
      }
      return cost;
    }));
  return sums;
}

/// Costs as computed by a fit: delays, convolution, sum of squares.
class cost_problem : public problem {
 public:
  cost_problem(int frames, std::size_t count, int repeats) : voxels_(any_voxels(frames, count, repeats)) {}
  std::string find_error() const override {
    auto found = results();
    const auto truth = summed_costs(voxels_, 64);
    found.resize(truth.size());
    return compare_results(found, truth, 1e-12);
  }
  std::size_t voxels() const override { return voxels_.count() * static_cast<std::size_t>(voxels_.repeats); }
  std::string unit() const override { return "cost"; }

 protected:
  virtual std::vector<double> results() const = 0;
  cost_voxels voxels_;
};

class gpu_cost_problem final : public cost_problem {
 public:
  gpu_cost_problem(const device& d, convolution_method method, int frames, std::size_t count, int repeats)
      : cost_problem(frames, count, repeats), device_(d) {
    use_device(d);
    work_ = make_gpu_costs(method, voxels_);
  }
  void run() override {
    use_device(device_);
    work_->run();
  }
  double device_seconds() const override { return work_->device_seconds(); }

 private:
  std::vector<double> results() const override { return work_->results(); }
  device device_;
  std::unique_ptr<gpu_work> work_;
};

/// One core; Number: one voxel at a time (double), or one voxel per lane.
template <class Number>
class cpu_cost_problem final : public cost_problem {
 public:
  static constexpr std::size_t lanes = lane::lane_traits<Number>::count;

  cpu_cost_problem(convolution_method method, int frames, std::size_t groups, int repeats)
      : cost_problem(frames, groups * lanes, repeats), table_(voxels_.course), sums_(voxels_.count()) {
    for (std::size_t i = 0; i < voxels_.samples.size(); ++i) {
      const auto n = static_cast<std::size_t>(frames), voxel = i / n;
      columns_.resize(voxels_.samples.size());
      columns_[voxel / lanes * n * lanes + i % n * lanes + voxel % lanes] = voxels_.samples[i];
    }
    choose(method, frames);
  }

  void run() override {
    const std::size_t row = voxels_.course.frames() * lanes;
    for (std::size_t first = 0; first < voxels_.count(); first += lanes) {
      Number p[dual_parameters], sum(0.0);
      for (int i = 0; i < dual_parameters; ++i)
        for (std::size_t l = 0; l < lanes; ++l)
          lane::put(p[i], static_cast<int>(l), voxels_.p[(first + l) * dual_parameters + static_cast<std::size_t>(i)]);
      for (int r = 0; r < voxels_.repeats; ++r, p[kl] *= 1.001)
        sum += cost_(p, {columns_.data() + first / lanes * row, static_cast<int>(lanes)});
      for (std::size_t l = 0; l < lanes; ++l) sums_[first + l] = lane::get(sum, static_cast<int>(l));
    }
  }

 private:
  using cost_function = std::function<Number(const Number (&)[dual_parameters], voxel_samples)>;

  std::vector<double> results() const override { return sums_; }

  void choose(convolution_method method, int frames) {
    if (method == convolution_method::direct)
      cost_ = [m = direct_model<Number, discretisation_kind::paper>(table_.view())](
                  const Number(&p)[dual_parameters], voxel_samples y) { return m.cost(p, y); };
    if (method == convolution_method::recursion)
      cost_ = [m = recursion_model<dual_model, Number, discretisation_kind::paper>(table_.view())](
                  const Number(&p)[dual_parameters], voxel_samples y) { return m.cost(p, y); };
    if (method != convolution_method::block_fft) return;
    plan_ = std::make_unique<block_fft_plan>(block_fft_shape_of(frames));
#define VOXHERD_SHAPE(q, p) \
  if (plan_->shape() == block_fft_shape{q, p}) cost_ = by_block_fft<q, p>();
    VOXHERD_BLOCK_FFT_SHAPES(VOXHERD_SHAPE)
#undef VOXHERD_SHAPE
  }

  template <int Q, int P>
  cost_function by_block_fft() const {
    using model = block_fft_model<Number, Q, P, discretisation_kind::paper>;
    return [m = model(table_.view(), plan_->view()), memory = std::make_shared<typename model::memory>()](
               const Number(&p)[dual_parameters], voxel_samples y) { return m.cost(thread_team{}, *memory, p, y); };
  }

  curves_table<double> table_;
  std::vector<float> columns_;  ///< [group][frame][lane]
  std::vector<double> sums_;
  std::unique_ptr<block_fft_plan> plan_;
  cost_function cost_;
};

void add_gpu(const bench_options& o, convolution_method method, int frames) {
  const device d = o.chosen;
  const std::size_t curves = o.voxels > 0 ? o.voxels : 10000, voxels = o.voxels > 0 ? o.voxels : 131072;
  add_benchmark(fmt::format("perfusion_convolution/convolve/{}/{}/gpu", method_name(method), frames),
                [=] { return std::make_unique<convolution_problem>(d, method, frames, curves); });
  if (method == convolution_method::cufft) return;
  add_benchmark(fmt::format("perfusion_convolution/cost/{}/{}/gpu", method_name(method), frames),
                [=] { return std::make_unique<gpu_cost_problem>(d, method, frames, voxels, 16); });
}

/// The right half of the paper's Figure 5: curves per call at 128 frames.
void add_gpu_counts(const bench_options& o) {
  for (const std::size_t curves : {100, 500, 1000, 2000, 5000, 10000, 15000})
    for (const auto method : {convolution_method::block_fft, convolution_method::cufft, convolution_method::direct,
                              convolution_method::recursion})
      add_benchmark(fmt::format("perfusion_convolution/by_curves/{}/{}/gpu", method_name(method), curves),
                    [=, d = o.chosen] { return std::make_unique<convolution_problem>(d, method, 128, curves); });
}

void add_cpu(const bench_options& o, convolution_method method, int frames) {
  if (method == convolution_method::cufft) return;
  const std::size_t voxels = o.voxels > 0 ? o.voxels : 16;
  const auto name = fmt::format("perfusion_convolution/cost/{}/{}/threads1", method_name(method), frames);
  add_benchmark(name,
                [=] { return std::make_unique<cpu_cost_problem<lane::double_lanes>>(method, frames, voxels, 16); });
  add_benchmark(name + "/one_voxel",
                [=] { return std::make_unique<cpu_cost_problem<double>>(method, frames, voxels, 16); });
}

}  // namespace

int main(int argc, char** argv) {
  return run_benchmarks(argc, argv, [](const bench_options& o) {
    for (const int frames : frame_counts)
      for (const auto method : {convolution_method::block_fft, convolution_method::cufft, convolution_method::direct,
                                convolution_method::recursion})
        (o.chosen.kind == backend::cuda ? add_gpu : add_cpu)(o, method, frames);
    if (o.chosen.kind == backend::cuda) add_gpu_counts(o);
  });
}
