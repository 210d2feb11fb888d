#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <limits>
#include <random>
#include <string>

#include "bench/perfusion_problem.hpp"
#include "tests/perfusion/reference/perfusion_reference_simplex.hpp"
#include "tests/perfusion/reference/perfusion_run.hpp"

/// Accuracy of perfusion fits, as CSV. --print cnr: Wang & Cao's Table 3, repeated fits of noisy curves; path: the cost
/// after every iteration of the simplex (Figure 6); differences: of maps from two fits (Table 4). --backend cpu|cuda
/// (cpu; cuda adds the GPU), --threads N (1), --repeats N (1000: repeats, and voxels of the differences).
namespace {

using namespace voxherd;
using namespace voxherd::bench;
using namespace voxherd::perfusion;
using reference::perfusion_run;

constexpr int frames = 128;
constexpr double artery_cnr = 150, portal_cnr = 100;  // the paper's
constexpr double endless = std::numeric_limits<double>::infinity();

struct options {
  device chosen{backend::cpu, 1, 0};
  std::string print = "cnr";
  std::size_t repeats = 1000;
};

options read_options(int argc, char** argv) {
  options o;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    const long number = std::atol(value.c_str());
    if (name == "--backend" && (value == "cpu" || value == "cuda"))
      o.chosen.kind = value == "cuda" ? backend::cuda : backend::cpu;
    else if (name == "--print" && (value == "cnr" || value == "path" || value == "differences"))
      o.print = value;
    else if (name == "--threads" && number > 0)
      o.chosen.threads = static_cast<int>(number);
    else if (name == "--repeats" && number > 1)
      o.repeats = static_cast<std::size_t>(number);
    else
      throw std::invalid_argument(fmt::format(
          "{} {}: expected --print cnr|path|differences, --backend cpu|cuda, --threads N or --repeats N, N above 1",
          name, value));
  }
  std::string why;
  if (o.chosen.kind == backend::cuda && visible_gpus(&why).empty())
    throw std::invalid_argument(fmt::format("--backend cuda: {}", why));
  return o;
}

perfusion_run fit_all(const device& d, const time_course& t, const fit_settings& s, const std::vector<float>& rows) {
  perfusion_run run(d, t, rows, s);
  for (std::size_t v = 0; v < run.voxels(); ++v)
    if (run.status[v] != 0) throw std::runtime_error(fmt::format("voxel {}: status {}, expected 0", v, run.status[v]));
  return run;
}

double peak(const std::vector<double>& curve) { return *std::max_element(curve.begin(), curve.end()); }

/// The noise of the input curves. The paper does not state how often it was sampled.
enum class input_noise { none, once, each_repeat };
constexpr const char* noise_name(input_noise n) {
  return n == input_noise::none ? "clean" : n == input_noise::once ? "noisy once" : "noisy";
}

/// Adds the noise of one level.
class noisy_series {
 public:
  noisy_series(const perfusion_method& m, double cnr, std::uint64_t seed)
      : clean_(paper_inputs(frames)),
        tissue_(tissue_curve(clean_, paper_truth, m.settings.discretisation)),
        sd_(peak(tissue_) / cnr),
        random_(seed) {}

  double noise_sd() const { return sd_; }
  const time_course& clean() const { return clean_; }
  time_course inputs() {
    time_course t = clean_;
    for (auto* curve : {&t.arterial, &t.portal}) {
      const double sd = peak(*curve) / (curve == &t.arterial ? artery_cnr : portal_cnr);
      for (double& c : *curve) c += sd * normal_(random_);
    }
    return t;
  }
  void append_row(std::vector<float>& rows) {
    for (const double c : tissue_) rows.push_back(static_cast<float>(c + sd_ * normal_(random_)));
  }

 private:
  time_course clean_;
  std::vector<double> tissue_;
  double sd_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

std::vector<perfusion_parameters> repeated_fits(const options& o, const perfusion_method& m, noisy_series& series,
                                                input_noise inputs) {
  std::vector<perfusion_parameters> all;
  std::vector<float> rows;
  if (inputs == input_noise::each_repeat) {
    for (std::size_t i = 0; i < o.repeats; ++i) {
      const time_course t = series.inputs();
      rows.clear();
      series.append_row(rows);
      all.push_back(fit_all(o.chosen, t, m.settings, rows).parameters(0));
    }
    return all;
  }
  for (std::size_t i = 0; i < o.repeats; ++i) series.append_row(rows);
  const time_course t = inputs == input_noise::once ? series.inputs() : series.clean();
  const perfusion_run fits = fit_all(o.chosen, t, m.settings, rows);
  for (std::size_t i = 0; i < o.repeats; ++i) all.push_back(fits.parameters(i));
  return all;
}

/// Returns the error of the row; empty if it is correct.
std::string print_level(const options& o, const perfusion_method& m, input_noise inputs, double cnr) {
  noisy_series series(m, cnr, 5601 + static_cast<std::uint64_t>(std::isfinite(cnr) ? cnr : 0));
  const auto all = repeated_fits(o, m, series, std::isfinite(cnr) ? inputs : input_noise::none);
  const auto least = min_deviations(series.clean(), paper_truth, m.settings.discretisation, series.noise_sd());
  const auto n = static_cast<double>(all.size());
  std::string words, wrong;
  for (std::size_t i = 0; i < dual_parameters; ++i) {
    double mean = 0, square = 0;
    for (const auto& p : all) mean += p[i] / n;
    for (const auto& p : all) square += (p[i] - mean) * (p[i] - mean) / (n - 1);
    const double unit = i <= kp ? per_second : 1, sd = std::sqrt(square);
    words += fmt::format(",{:.6g},{:.4g},{:.4g}", unit * mean, unit * sd, unit * least[i]);
    // A tolerance of a twentieth of the truth covers the bias by noise at a ratio of 10; the simplex stops before the
    // minimum.
    const double off = std::abs(mean - paper_truth[i]), margin = std::isfinite(cnr) ? 0.05 : 0.003;
    if (i <= kp && !(off <= margin * paper_truth[i] + 4 * sd / std::sqrt(n)))
      wrong = fmt::format("{}, CNR {}: the mean of parameter {} is {}, expected {}", m.name, cnr, i, unit * mean,
                          unit * paper_truth[i]);
  }
  fmt::print("{},{},{},{}{}\n", m.name, noise_name(inputs), cnr, all.size(), words);
  std::fflush(stdout);
  return wrong;
}

std::string print_cnr(const options& o) {
  fmt::print("method,inputs,cnr,repeats");
  for (const char* name : {"kl", "ka", "kp", "tau_a", "tau_p"}) fmt::print(",{0}_mean,{0}_sd,{0}_least_sd", name);
  fmt::print("\n");
  std::string wrong;
  for (const char* name : {"simplex-paper", "simplex", "lm"})
    for (const input_noise inputs : {input_noise::none, input_noise::once, input_noise::each_repeat})
      for (const double cnr : {endless, 100.0, 90.0, 80.0, 70.0, 60.0, 50.0, 40.0, 30.0, 20.0, 10.0}) {
        const std::string why = print_level(o, perfusion_method_named(name), inputs, cnr);
        if (wrong.empty()) wrong = why;
      }
  return wrong;
}

/// The best cost after every iteration, from fits with a limited number of iterations.
std::vector<double> cost_path(const device& d, const time_course& t, fit_settings s, const std::vector<float>& row) {
  std::vector<double> costs;
  const int most = s.max_iterations;
  for (int n = 1; n <= most; ++n) {
    s.max_iterations = n;
    const perfusion_run fits = fit_all(d, t, s, row);
    if (static_cast<int>(fits.iterations[0]) < n) break;
    costs.push_back(fits.map(sum_of_squares, 0));
  }
  return costs;
}

std::vector<double> reference_cost_path(const time_course& t, const fit_settings& s, const std::vector<float>& row) {
  const std::vector<double> y(row.begin(), row.end());
  perfusion_parameters start{};
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = s.rules[i].start;
  const auto cost = [&](const perfusion_parameters& p) { return reference::perfusion_cost(t, s.discretisation, p, y); };
  std::vector<double> costs;
  for (const auto& step : reference::nelder_mead(cost, start).trace) costs.push_back(step.f_best);
  return costs;
}

void print_costs(const char* voxel, const char* method, const char* device, const std::vector<double>& costs) {
  for (std::size_t i = 0; i < costs.size(); ++i)
    fmt::print("{},{},{},{},{:.9e}\n", voxel, method, device, i + 1, costs[i]);
}

std::string print_path(const options& o) {
  fmt::print("voxel,method,device,iteration,cost\n");
  std::string wrong;
  for (const char* voxel : {"noise-free", "CNR 50"})
    for (const char* name : {"simplex-paper", "lm"}) {
      const perfusion_method m = perfusion_method_named(name);
      noisy_series series(m, std::string(voxel) == "CNR 50" ? 50 : endless, 6);
      std::vector<float> row;
      series.append_row(row);
      std::vector<device> places{{backend::cpu, 1, 0}};
      if (o.chosen.kind == backend::cuda) places.push_back(o.chosen);
      if (m.settings.solver == solver_kind::simplex)
        print_costs(voxel, name, "reference", reference_cost_path(series.clean(), m.settings, row));
      for (const device& d : places) {
        const auto costs = cost_path(d, series.clean(), m.settings, row);
        print_costs(voxel, name, d.kind == backend::cuda ? "GPU" : "CPU", costs);
        if (costs.empty()) wrong = fmt::format("{}: no iterations", name);
      }
    }
  return wrong;
}

struct fit_setting {
  perfusion_method method;
  device on;
  std::string name() const { return method.name + (on.kind == backend::cuda ? ", GPU" : ", CPU"); }
};

struct map_name {
  dual_map which;
  const char* name;
};
constexpr map_name compared[] = {{map_kl, "kl"},       {map_ka, "ka"},       {map_kp, "kp"},
                                 {map_tau_a, "tau_a"}, {map_tau_p, "tau_p"}, {sum_of_squares, "sum_of_squares"}};

void print_pair(const char* livers, const perfusion_data& data, const fit_setting& a, const fit_setting& b) {
  const auto left = fit_all(a.on, data.frames, a.method.settings, data.rows);
  const auto right = fit_all(b.on, data.frames, b.method.settings, data.rows);
  double same = 0;
  for (std::size_t v = 0; v < left.voxels(); ++v) same += left.iterations[v] == right.iterations[v];
  const auto n = static_cast<double>(left.voxels());
  for (const map_name& m : compared) {
    const auto& l = left.maps[static_cast<std::size_t>(m.which)];
    const auto& r = right.maps[static_cast<std::size_t>(m.which)];
    std::vector<double> off;
    double mean = 0, square = 0;
    for (std::size_t v = 0; v < l.size(); ++v) off.push_back(static_cast<double>(l[v]) - static_cast<double>(r[v]));
    for (const double d : off) mean += d / n;
    for (double& d : off) square += (d - mean) * (d - mean) / n, d = std::abs(d);
    std::sort(off.begin(), off.end());
    fmt::print("{},\"{}\",\"{}\",{},{},{:.3e},{:.3e},{:.3e},{:.3e},{:.2f}\n", livers, a.name(), b.name(), left.voxels(),
               m.name, mean, std::sqrt(square), off[off.size() / 2], off[off.size() * 99 / 100], 100 * same / n);
  }
  std::fflush(stdout);
}

void print_map_differences(const options& o, const char* livers, perfusion_truth truth) {
  const device cpu{backend::cpu, o.chosen.threads, 0};
  const bool cuda = o.chosen.kind == backend::cuda;
  const auto pair = [&](const std::string& a, const std::string& b, const device& on_b) {
    const fit_setting one{perfusion_method_named(a), o.chosen}, other{perfusion_method_named(b), on_b};
    print_pair(livers, make_perfusion_data(48, o.repeats, truth, one.method.settings.discretisation), one, other);
  };
  for (const std::string name : {"simplex-paper", "simplex", "lm"}) {
    if (cuda) pair(name, name, cpu);
    pair(name + "-float", name, o.chosen);
  }
  pair("simplex-paper", "simplex-paper-direct", o.chosen);
  pair("simplex-paper", "simplex-paper-fft", o.chosen);
}

std::string print_differences(const options& o) {
  fmt::print("livers,one,other,voxels,map,mean,sd,median_absolute,p99_absolute,same_iterations_percent\n");
  print_map_differences(o, "alike", perfusion_truth::paper);
  print_map_differences(o, "various", perfusion_truth::physiology);
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const options o = read_options(argc, argv);
    const std::string wrong = o.print == "cnr"    ? print_cnr(o)
                              : o.print == "path" ? print_path(o)
                                                  : print_differences(o);
    if (wrong.empty()) return 0;
    std::cerr << "error: " << wrong << '\n';
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
  }
  return 1;
}
