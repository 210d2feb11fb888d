#include <algorithm>
#include <random>

#include "bench/perfusion_problem.hpp"

namespace voxherd::bench {

namespace {

using namespace perfusion;

perfusion_parameters any_liver(std::mt19937_64& random) {
  const auto between = [&](double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random);
  };
  perfusion_parameters p;
  p[ka] = between(5, 150) / per_second;
  p[kp] = between(0, 220) / per_second;
  p[kl] = (p[ka] + p[kp]) / between(0.12, 0.45);
  p[tau_a] = between(0, 6);
  p[tau_p] = between(0, 4);
  return p;
}

}  // namespace

perfusion_data make_perfusion_data(int frames, std::size_t voxels, perfusion_truth truth, discretisation_kind how) {
  perfusion_data all{paper_inputs(frames), {}, {}, {}, {}};
  std::mt19937_64 random(20120814);
  std::normal_distribution<double> normal;
  const bool paper = truth == perfusion_truth::paper;
  std::vector<double> clean = tissue_curve(all.frames, paper_truth, how);
  for (std::size_t v = 0; v < std::min<std::size_t>(voxels, 65536); ++v) {
    all.truth.push_back(paper ? paper_truth : any_liver(random));
    if (!paper) clean = tissue_curve(all.frames, all.truth.back(), how);
    all.noise_sd.push_back(*std::max_element(clean.begin(), clean.end()) / (paper ? 50 : 30));
    double cost = 0;
    for (const double c : clean) {
      all.rows.push_back(static_cast<float>(c + all.noise_sd.back() * normal(random)));
      const double off = static_cast<double>(all.rows.back()) - c;
      cost += off * off;
    }
    all.truth_cost.push_back(cost);
  }
  return all;
}

}  // namespace voxherd::bench
