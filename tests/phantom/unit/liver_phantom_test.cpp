#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/failure.hpp"
#include "kernels/perfusion/recursion_model.hpp"
#include "kernels/perfusion/time_course.hpp"
#include "src/phantom/liver_phantom.hpp"

namespace {

using namespace voxherd;

liver_phantom_settings liver_preset(const std::string& name) {
  for (const auto& p : liver_phantom_presets())
    if (p.name == name) return p;
  throw std::out_of_range(name);
}

liver_parameters parameters(double kl, double ka, double kp, double tau_a, double tau_p) {
  return {kl / 6000, ka / 6000, kp / 6000, tau_a, tau_p};
}

TEST(InputCurves, ArteryMatchesPublishedValuesOfParker) {
  // Values of dcmri every 1.5 s from the agent's arrival, to four decimals. The paper prints its coefficients to three
  // digits, so that two programs may differ by 5e-4 of a value.
  const double listed[] = {.0804,  .2398,  .6390,  1.4509, 2.7526, 4.3288, 5.6310,
                           6.0679, 5.4520, 4.1540, 2.7958, 1.8134, 1.2906, 1.0875};
  for (std::size_t i = 0; i < std::size(listed); ++i)
    EXPECT_NEAR(parker_mM(1.5 * static_cast<double>(i)), listed[i], 5e-5 + 5e-4 * listed[i]) << i;
  EXPECT_EQ(parker_mM(-0.001), 0);
}

TEST(InputCurves, PortalResponseStartsAfterFiveSecondsAndHasAreaOne) {
  EXPECT_EQ(portal_response_per_s(4.8), 0);
  EXPECT_GT(portal_response_per_s(5.1), 0);
  double area = 0;
  constexpr double step_s = 0.001;
  for (int i = 0; i < 600000; ++i) area += step_s * portal_response_per_s((i + 0.5) * step_s);
  EXPECT_NEAR(area, 1, 1e-6);
}

TEST(InputCurves, PortalVeinPeaksLaterAndLower) {
  const input_curves c = make_input_curves(10, 0.1, 1200);
  const auto artery = std::max_element(c.arterial.begin(), c.arterial.end());
  const auto vein = std::max_element(c.portal.begin(), c.portal.end());
  EXPECT_NEAR(*artery, 6.07, 0.01);
  EXPECT_NEAR(*vein, 1.43, 0.005);
  EXPECT_NEAR(0.1 * static_cast<double>(vein - c.portal.begin()), 34, 1);
  EXPECT_NEAR(0.1 * static_cast<double>((vein - c.portal.begin()) - (artery - c.arterial.begin())), 14, 0.5);
  EXPECT_EQ(c.arterial[99], 0);
  EXPECT_EQ(c.portal[148], 0);
}

/// Convolution of a curve that is linear between nodes and 0 before them, by the midpoint rule in small steps.
double by_quadrature(const input_curves& in, const liver_parameters& p, double time_s) {
  const auto read = [&](const std::vector<double>& curve, double t) {
    if (t < 0) return 0.0;
    const auto j = std::min(static_cast<std::size_t>(t / in.step_s), curve.size() - 2);
    const double part = t / in.step_s - static_cast<double>(j);
    return curve[j] * (1 - part) + curve[j + 1] * part;
  };
  using namespace perfusion;
  constexpr int parts = 200000;
  const double width = time_s / parts;
  double sum = 0;
  for (int i = 0; i < parts; ++i) {
    const double s = (i + 0.5) * width;
    sum += (p[ka] * read(in.arterial, s - p[tau_a]) + p[kp] * read(in.portal, s - p[tau_p])) *
           std::exp(-p[kl] * (time_s - s));
  }
  return sum * width;
}

TEST(TissueCurves, AreTheIntegralAtAnyRateAndDelay) {
  const input_curves in = make_input_curves(10, 0.1, 1142);
  const std::vector<double> frame_s{0, 9.48, 16.59, 33.18, 113.76};
  const tissue_curves curves(in, frame_s);
  const std::vector<liver_parameters> voxels{parameters(400, 20, 100, 1, 2), parameters(1, 20, 100, 0, 0),
                                             parameters(4000, 90, 3, 2.71, 0.05), parameters(160, 30, 40, 15, 10),
                                             parameters(0.01, 20, 20, 0.1, 3.3)};
  std::vector<double> out(voxels.size() * frame_s.size());
  curves.make(voxels, out.data());
  for (std::size_t v = 0; v < voxels.size(); ++v)
    for (std::size_t i = 0; i < frame_s.size(); ++i) {
      const double expected = by_quadrature(in, voxels[v], frame_s[i]);
      EXPECT_NEAR(out[v * frame_s.size() + i], expected, 2e-8) << v << ", " << frame_s[i] << " s";
    }
}

TEST(TissueCurves, OfAVoxelDoNotDependOnItsNeighbours) {
  const tissue_curves curves(make_input_curves(10, 2.37, 48), {20, 30, 40});
  std::vector<liver_parameters> voxels;
  for (int i = 0; i < 19; ++i) voxels.push_back(parameters(100 + 50 * i, 20 + i, 90, 0.3 * i, 1));
  std::vector<double> together(3 * voxels.size()), alone(3);
  curves.make(voxels, together.data());
  for (std::size_t v = 0; v < voxels.size(); ++v) {
    curves.make({&voxels[v], 1}, alone.data());
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(alone[i], together[3 * v + i]);
  }
}

TEST(TissueCurves, OfSampledInputsMatchTheFitsModel) {
  liver_phantom_settings p = liver_preset("toy");
  p.inputs = inputs_between_frames::sampled;
  const liver_signal signal(p);
  perfusion::time_course frames;
  frames.time_s = signal.frame_s();
  frames.arterial = signal.inputs().arterial, frames.portal = signal.inputs().portal;
  frames.counts.assign(p.frames, 1);
  const perfusion::curves_table<double> table(frames);
  const perfusion::recursion_model<perfusion::dual_model, double, perfusion::discretisation_kind::exact> model(
      table.view());
  const tissue_curves curves(signal.inputs(), signal.frame_s());
  for (const liver_parameters& v :
       {parameters(400, 20, 100, 1, 2), parameters(180, 30, 40, 0, 4.74), parameters(700, 140, 0, 3.3, 0.7)}) {
    std::vector<double> out(p.frames);
    curves.make({&v, 1}, out.data());
    double at[perfusion::dual_parameters];
    std::copy(v.begin(), v.end(), at);
    model.curve(at, [&](int i, double c) { EXPECT_NEAR(out[static_cast<std::size_t>(i)], c, 1e-13) << i; });
  }
}

TEST(TissueCurves, RejectFramesOutsideTheInputs) {
  const input_curves in = make_input_curves(10, 1, 50);
  EXPECT_THROW(tissue_curves(in, {0, 49.5}), std::invalid_argument);
  EXPECT_THROW(tissue_curves(in, {-1, 4}), std::invalid_argument);
  EXPECT_THROW(tissue_curves(in, {}), std::invalid_argument);
}

TEST(LiverAnatomy, HasExactlyTheRequestedNumberOfVoxels) {
  for (const auto& p : liver_phantom_presets()) {
    const liver_anatomy body(p.anatomy(), 2);
    EXPECT_EQ(body.count(abdomen_tissue::liver), p.liver_voxels) << p.name;
    std::uint64_t aorta = 0, portal = 0;
    for (std::uint64_t v = 0; v < p.size[0] * p.size[1] * p.size[2]; ++v) {
      aorta += body.in_aorta_voi(v) ? 1 : 0;
      portal += body.in_portal_voi(v) ? 1 : 0;
      if (body.in_aorta_voi(v)) {
        ASSERT_EQ(body.tissue_at(v), abdomen_tissue::aorta);
      }
      if (body.in_portal_voi(v)) {
        ASSERT_EQ(body.tissue_at(v), abdomen_tissue::portal_vein);
      }
    }
    EXPECT_EQ(aorta, p.aorta_voxels) << p.name;
    EXPECT_EQ(portal, p.portal_voxels) << p.name;
  }
  EXPECT_EQ(liver_preset("paper").size, (std::array<std::uint64_t, 3>{320, 320, 66}));
  EXPECT_EQ(liver_preset("paper").voxel_size_mm, (std::array<double, 3>{1.03125, 1.03125, 3}));
  EXPECT_EQ(liver_preset("paper").liver_voxels, 638728u);
  EXPECT_EQ(liver_preset("paper").frames, 48u);
}

TEST(LiverAnatomy, IsTheSameForAnyNumberOfThreads) {
  const auto p = liver_preset("clinical");
  const liver_anatomy one(p.anatomy(), 1), three(p.anatomy(), 3);
  for (std::uint64_t v = 0; v < p.size[0] * p.size[1] * p.size[2]; ++v) {
    ASSERT_EQ(one.tissue_at(v), three.tissue_at(v));
    ASSERT_EQ(one.in_aorta_voi(v), three.in_aorta_voi(v));
    ASSERT_EQ(one.in_portal_voi(v), three.in_portal_voi(v));
  }
}

TEST(LiverAnatomy, HasEveryRegionWithinTheFitsBounds) {
  using namespace perfusion;
  const fit_settings fit;
  for (const auto& p : liver_phantom_presets()) {
    const liver_anatomy body(p.anatomy(), 2);
    std::array<std::uint64_t, liver_region_count> count{};
    for (std::uint64_t v = 0; v < p.size[0] * p.size[1] * p.size[2]; ++v) {
      if (body.tissue_at(v) != abdomen_tissue::liver) continue;
      const abdomen_voxel here = body.at(v);
      ++count[static_cast<std::size_t>(here.region)];
      for (std::size_t i = 0; i < dual_parameters; ++i) {
        ASSERT_GE(here.parameters[i], fit.rules[i].least);
        ASSERT_LE(here.parameters[i], fit.rules[i].most);
      }
      if (here.region == liver_region::tumour) {
        ASSERT_LT(here.parameters[kp] * per_second, 10);
        ASSERT_GT(here.parameters[ka] * per_second, 50);
      }
    }
    EXPECT_EQ(count[0], 0u);
    for (std::size_t i = 1; i < count.size(); ++i) EXPECT_GE(count[i], 10u) << p.name << ", " << i;
  }
}

TEST(LiverAnatomy, RejectsImagesTooSmallForItsVessels) {
  EXPECT_THROW(liver_anatomy({{3, 3, 1}, 1, 1, 1}, 1), failure);
  EXPECT_THROW(liver_anatomy({{32, 32, 8}, 8192, 1, 1}, 1), failure);
}

/// Signals of some voxels without noise, frames fastest.
std::vector<double> simulate_frames(const liver_phantom_settings& p, const std::vector<abdomen_voxel>& voxels) {
  const liver_signal signal(p);
  std::vector<float> line(voxels.size() * p.frames);
  signal.make_frames(voxels, 0, line.data(), voxels.size());
  std::vector<double> frames;
  for (std::size_t v = 0; v < voxels.size(); ++v)
    for (std::size_t k = 0; k < p.frames; ++k) frames.push_back(line[k * voxels.size() + v]);
  return frames;
}

TEST(LiverSignal, ConvertsBackToTheOriginalConcentration) {
  using perfusion::signal_kind;
  abdomen_voxel liver, aorta, air;
  liver.tissue = abdomen_tissue::liver, liver.parameters = parameters(400, 20, 100, 1, 2);
  liver.t1_s = 0.7, liver.density = 0.9, liver.hu = 60;
  aorta.tissue = abdomen_tissue::aorta, aorta.t1_s = tissue_t1_s(abdomen_tissue::aorta), aorta.density = 1,
  aorta.hu = 40;
  for (const signal_kind kind :
       {signal_kind::concentration, signal_kind::linear, signal_kind::spoiled_echo, signal_kind::ct}) {
    liver_phantom_settings p = liver_preset("toy");
    p.signal = kind, p.noise.kind = noise_kind::none;
    const liver_signal signal(p);
    std::vector<double> tissue(p.frames);
    tissue_curves(signal.inputs(), signal.frame_s()).make({&liver.parameters, 1}, tissue.data());
    const auto frames = simulate_frames(p, {liver, aorta, air});
    perfusion::conversion c;
    c.signal = kind, c.relaxivity_per_mM_s = p.relaxivity_per_mM_s;
    c.repetition_s = p.repetition_s, c.flip_rad = p.flip_deg * M_PI / 180;
    const auto of_liver = perfusion::signal_model(c, {frames[0], liver.t1_s});
    const auto of_aorta = perfusion::signal_model(c, {frames[p.frames], aorta.t1_s});
    const double unit = kind == signal_kind::ct ? 50 : 1;
    for (std::size_t k = 0; k < p.frames; ++k) {
      EXPECT_NEAR(of_liver.concentration(frames[k]).value, tissue[k], 2e-6 * unit);
      EXPECT_NEAR(of_aorta.concentration(frames[p.frames + k]).value, signal.inputs_at_frames().arterial[k],
                  2e-5 * unit);
      EXPECT_EQ(frames[2 * p.frames + k], 0);
    }
    EXPECT_LT(*std::max_element(frames.begin(), frames.end()), signal.largest_signal());
  }
}

TEST(LiverSignal, NoiseMatchesTheRatio) {
  abdomen_voxel typical;
  typical.tissue = abdomen_tissue::liver, typical.parameters = parameters(400, 20, 100, 1, 2);
  typical.t1_s = 0.8, typical.density = 0.85, typical.hu = 60;
  liver_phantom_settings p = liver_preset("toy");
  p.cnr = 25, p.noise.kind = noise_kind::none;
  const auto clean = simulate_frames(p, {typical});
  const double rise = *std::max_element(clean.begin(), clean.end()) - clean[0];
  EXPECT_NEAR(liver_signal(p).noise().deviation, rise / 25, 1e-5 * rise);

  p.noise.kind = noise_kind::gaussian;
  constexpr std::size_t count = 2000;
  const auto noisy = simulate_frames(p, std::vector<abdomen_voxel>(count, typical));
  double square = 0;
  for (std::size_t i = 0; i < noisy.size(); ++i) square += std::pow(noisy[i] - clean[i % p.frames], 2);
  EXPECT_NEAR(std::sqrt(square / double(noisy.size())), rise / 25, 0.01 * rise / 25);  // 96,000 draws: 0.23 %
}

}  // namespace
