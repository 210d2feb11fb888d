#include <gtest/gtest.h>

#include <barrier>
#include <complex>
#include <memory>
#include <numbers>
#include <thread>

#include "kernels/perfusion/recursion_model.hpp"
#include "tests/perfusion/reference/perfusion_convolution.hpp"

namespace {

using namespace voxherd::perfusion;
using namespace voxherd::perfusion::convolutions;

std::vector<double> any_series(int frames) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> x;
  for (int i = 0; i < frames; ++i) x.push_back(normal(random));
  return x;
}

/// With one thread as the team.
template <int Q, int P>
std::vector<double> convolved(const std::vector<double>& x, double kl_T) {
  using fft = block_fft<double, Q, P>;
  const block_fft_plan plan({Q, P});
  const auto m = std::make_unique<typename fft::memory>();
  std::fill(std::begin(m->series), std::end(m->series), 0.0);
  std::copy(x.begin(), x.end(), m->series);
  m->lost[0] = fft::lost_in(kl_T);
  m->lost[1] = fft::lost_in(fft::frames * kl_T);
  std::vector<double> c(x.size(), NAN);
  fft(plan.view()).convolve(thread_team{}, *m, [&](int i, double value) {
    if (i < static_cast<int>(c.size())) c[static_cast<std::size_t>(i)] = value;
  });
  return c;
}

/// Calls work.operator()<Q, P>() for each shape.
template <class Work>
void for_each_shape(const Work& work) {
#define VOXHERD_SHAPE(q, p) work.template operator()<q, p>();
  VOXHERD_BLOCK_FFT_SHAPES(VOXHERD_SHAPE)
#undef VOXHERD_SHAPE
}

TEST(BlockFft, ShapesAreThePapersAndTheSmallestThatHoldTheFrames) {
  const auto expect = [](int frames, int q, int p) {
    const block_fft_shape shape = block_fft_shape_of(frames);
    EXPECT_TRUE(shape == (block_fft_shape{q, p})) << frames << ": " << shape.q << " x " << shape.p;
  };
  expect(32, 2, 16), expect(48, 3, 16), expect(64, 2, 32), expect(75, 5, 16), expect(128, 2, 64);
  expect(256, 4, 64), expect(320, 5, 64), expect(448, 7, 64);
  for (int frames = 1; frames <= max_block_fft_frames; ++frames) {
    EXPECT_GE(block_fft_shape_of(frames).frames(), frames);
    EXPECT_LE(block_fft_shape_of(frames).frames(), std::max(32, frames * 3 / 2));
  }
  EXPECT_THROW(block_fft_shape_of(max_block_fft_frames + 1), std::invalid_argument);
}

TEST(BlockFft, ConvolutionIsTheDirectSumInEveryShape) {
  for_each_shape([]<int Q, int P>() {
    for (const double kl_T : {1e-9, 1e-3, 0.0625, 0.9, 5.0}) {
      const auto x = any_series(Q * P);
      EXPECT_LT(relative_error(convolved<Q, P>(x, kl_T), direct_sum(x, kl_T)), 1e-13)
          << Q << " x " << P << ", " << kl_T;
    }
  });
}

TEST(BlockFft, PaddedFramesChangeNothing) {
  for (const int frames : {1, 2, 33, 47}) {
    const auto x = any_series(frames);
    EXPECT_LT(relative_error(convolved<3, 16>(x, 0.07), direct_sum(x, 0.07)), 1e-13) << frames;
  }
  const auto x = any_series(75);
  EXPECT_LT(relative_error(convolved<5, 16>(x, 0.07), direct_sum(x, 0.07)), 1e-13);
}

TEST(BlockFft, WithoutWashOutTheTotalInflowRemains) {
  const auto x = any_series(128);
  EXPECT_LT(relative_error(convolved<2, 64>(x, 0.0), direct_sum(x, 0.0)), 1e-13);
}

/// If the exponential decays within one frame, the convolution is only a forward and a backward transform: the paper's
/// 2.3e-14.
TEST(BlockFft, RoundTripReturnsTheSeries) {
  for_each_shape([]<int Q, int P>() {
    const auto x = any_series(Q * P), back = convolved<Q, P>(x, 700.0);
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += (back[i] - x[i]) * (back[i] - x[i]);
    EXPECT_LT(std::sqrt(sum / (Q * P)), 1e-15) << Q << " x " << P;
  });
}

/// The convolution of an impulse is the truncated exponential; its transform on twice the points is the formula in the
/// header, by definition of the discrete transform.
TEST(BlockFft, TheAnalyticTransformIsThatOfTheTruncatedExponential) {
  constexpr int n = 48;
  constexpr double kl_T = 0.158;
  const std::complex<double> i(0, 1);
  for (int k = 0; k < 2 * n; ++k) {
    const std::complex<double> turn = std::exp(-std::numbers::pi * k / n * i);
    std::complex<double> sum = 0;
    for (int j = 0; j < n; ++j) sum += std::exp(-kl_T * j) * std::pow(turn, j);
    const double sign = k % 2 == 0 ? 1 : -1;
    const std::complex<double> formula = (1 - sign * std::exp(-kl_T * n)) / (1.0 - std::exp(-kl_T) * turn);
    EXPECT_LT(std::abs(formula - sum), 2e-14) << k;
  }
  std::vector<double> impulse(n, 0.0), exponential;
  impulse[0] = 1;
  for (int j = 0; j < n; ++j) exponential.push_back(std::exp(-kl_T * j));
  EXPECT_LT(relative_error(convolved<3, 16>(impulse, kl_T), exponential), 1e-14);
}

template <int Q, int P, discretisation_kind Kind>
struct fitted_curve {
  curves_table<double> curves;
  block_fft_plan plan{{Q, P}};
  std::unique_ptr<typename block_fft<double, Q, P>::memory> memory =
      std::make_unique<typename block_fft<double, Q, P>::memory>();

  explicit fitted_curve(const time_course& t) : curves(t) {}
  block_fft_model<double, Q, P, Kind> model() const { return {curves.view(), plan.view()}; }
  std::vector<double> curve(const double (&p)[dual_parameters]) const {
    std::vector<double> c(curves.counts().size(), NAN);
    model().curve(thread_team{}, *memory, p, [&](int i, double value) { c[static_cast<std::size_t>(i)] = value; });
    return c;
  }
};

constexpr double trials[][dual_parameters] = {{400. / 6000, 20. / 6000, 100. / 6000, 1, 2},
                                              {200. / 6000, 10. / 6000, 80. / 6000, 2.37, 0},
                                              {1500. / 6000, 90. / 6000, 0, 11.2, 7.5},
                                              {60. / 6000, -5. / 6000, 30. / 6000, -1.3, -4.9}};

TEST(BlockFftModel, TheCurveIsThePapers) {
  const time_course t = test_course(48, 2.37);
  const fitted_curve<3, 16, discretisation_kind::paper> fft(t);
  for (const auto& p : trials) EXPECT_LT(relative_error(fft.curve(p), paper_curve(t, p)), 1e-13);
}

TEST(BlockFftModel, TheExactCurveIsThatOfTheRecursion) {
  const time_course t = test_course(75, 1.6);
  const fitted_curve<5, 16, discretisation_kind::exact> fft(t);
  const recursion_model<dual_model, double, discretisation_kind::exact> recursion(fft.curves.view());
  for (const auto& p : trials) {
    std::vector<double> expected;
    recursion.curve(p, [&](int, double c) { expected.push_back(c); });
    EXPECT_LT(relative_error(fft.curve(p), expected), 1e-13);
  }
}

TEST(BlockFftModel, TheCostIsTheSumOfSquaresOverCountedFrames) {
  time_course t = test_course(75, 1.6);
  for (const std::size_t missing : {0, 17, 74}) t.counts[missing] = 0;
  const fitted_curve<5, 16, discretisation_kind::paper> fft(t);
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal(0.2f, 0.3f);
  constexpr int stride = 3;
  std::vector<float> y(75 * stride);
  for (float& value : y) value = normal(random);
  for (const auto& p : trials) {
    const auto c = paper_curve(t, p);
    double expected = 0;
    for (std::size_t i = 0; i < c.size(); ++i) {
      const double rest = static_cast<double>(y[i * stride]) - c[i];
      expected += t.counts[i] * rest * rest;
    }
    const double cost = fft.model().cost(thread_team{}, *fft.memory, p, {y.data(), stride});
    EXPECT_NEAR(cost, expected, 1e-12 * expected);
  }
}

/// Threads that share the work like those of a GPU.
struct threads_team {
  int lane, threads;
  std::barrier<>& all;
  std::vector<double>& partial;

  template <class Work>
  void share(int count, const Work& work) const {
    for (int i = lane; i < count; i += threads) work(i);
  }
  void sync() const { all.arrive_and_wait(); }
  double sum(double value) const {
    partial[static_cast<std::size_t>(lane)] = value;
    sync();
    double total = 0;
    for (const double part : partial) total += part;
    sync();
    return total;
  }
};

TEST(BlockFftModel, ATeamOfThreadsComputesTheSameCost) {
  const time_course t = test_course(75, 1.6);
  const fitted_curve<5, 16, discretisation_kind::paper> fft(t);
  const std::vector<float> y(75, 0.2f);
  for (const int threads : {2, 5, 32}) {
    std::barrier all(threads);
    std::vector<double> partial(static_cast<std::size_t>(threads));
    std::vector<std::vector<double>> costs(static_cast<std::size_t>(threads));
    const auto work = [&](int lane) {
      for (const auto& p : trials)
        costs[static_cast<std::size_t>(lane)].push_back(
            fft.model().cost(threads_team{lane, threads, all, partial}, *fft.memory, p, {y.data(), 1}));
    };
    std::vector<std::jthread> others;
    for (int lane = 1; lane < threads; ++lane) others.emplace_back(work, lane);
    work(0);
    others.clear();
    for (std::size_t n = 0; n < std::size(trials); ++n) {
      const double expected = fft.model().cost(thread_team{}, *fft.memory, trials[n], {y.data(), 1});
      for (const auto& own : costs) EXPECT_NEAR(own[n], expected, 1e-13 * expected) << threads;
    }
  }
}

TEST(BlockFftModel, LanesHaveSeparateParameters) {
  using voxherd::lane::double_lanes;
  const time_course t = test_course(48, 2.37);
  const fitted_curve<3, 16, discretisation_kind::paper> one(t);
  const block_fft_model<double_lanes, 3, 16, discretisation_kind::paper> model(one.curves.view(), one.plan.view());
  const auto memory = std::make_unique<block_fft<double_lanes, 3, 16>::memory>();
  double_lanes p[dual_parameters];
  const auto trial = [](std::size_t lane) -> auto& { return trials[lane % std::size(trials)]; };
  for (std::size_t i = 0; i < dual_parameters; ++i) p[i] = double_lanes([&](auto lane) { return trial(lane)[i]; });
  std::vector<double_lanes> c(48);
  model.curve(thread_team{}, *memory, p, [&](int i, double_lanes value) { c[static_cast<std::size_t>(i)] = value; });
  for (std::size_t lane = 0; lane < double_lanes::size(); ++lane) {
    std::vector<double> own;
    for (const double_lanes& value : c) own.push_back(value[lane]);
    EXPECT_LT(relative_error(own, one.curve(trial(lane))), 1e-13);
  }
}

}  // namespace
