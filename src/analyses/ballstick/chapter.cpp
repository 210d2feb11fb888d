#include <fmt/core.h>

#include <algorithm>

#include "core/text.hpp"
#include "src/analyses/ballstick/views.hpp"
#include "src/show/analysis_views.hpp"
#include "src/show/chart.hpp"
#include "src/show/common_figures.hpp"
#include "src/show/draft.hpp"
#include "src/show/methods.hpp"
#include "src/show/pictures.hpp"

namespace voxherd::report {

namespace {

constexpr double min_fraction = 0.05;  // the limit of FSL's viewers and probtrackx2

int count_fibres(const draft& d) {
  int n = 0;
  while (d.find(fmt::format("mean_f{}", n + 1)) != nullptr) ++n;
  return n;
}

std::string numbered(const char* pattern, int fibre) { return fmt::format(fmt::runtime(pattern), fibre); }

/// "S0, d, th1": the words after the last " of " of the output's meaning, one for each of its numbers.
std::vector<std::string> component_names(const output_spec& o) {
  std::vector<std::string> names;
  const std::size_t of = o.meaning.rfind(" of ");
  for (std::size_t at = of == std::string::npos ? o.meaning.size() : of + 4; at < o.meaning.size();) {
    const std::size_t end = std::min(o.meaning.find(", ", at), o.meaning.size());
    names.push_back(o.meaning.substr(at, end - at));
    at = end + 2;
  }
  const std::size_t width = o.bytes_per_item() / element_bytes(o.type);
  if (names.size() == width) return names;
  names.clear();
  for (std::size_t i = 0; i < width; ++i) names.push_back(std::to_string(i + 1));
  return names;
}

/// The 98th percentile of the sum of all fibres' volume fractions.
double largest_fraction(const draft& d) {
  if (d.find("mean_fsum") == nullptr) return 1;
  const distribution& q = describe_output(d, *d.find("mean_fsum"));
  return q.q98 > 0 ? q.q98 : 1;
}

void add_acceptance(result_draft& d) {
  if (!d.result.has("acceptance")) return;
  const output_spec& o = d.result.output("acceptance");
  const std::vector<std::string> names = component_names(o);
  const bool by_gain = is_number_of_fibres_chosen(d.result);  // a fibre that a voxel does not have was not sampled
  std::vector<bar> bars;
  table numbers{with_unit(o.name, o.unit), {"parameter", "median", "quartiles"}, {}};
  std::vector<std::vector<float>> values(names.size());
  d.visit(o.name, d.fitted, [&](std::size_t, const float* acceptance) {
    for (std::size_t k = 0; k < names.size(); ++k)
      if (!by_gain || acceptance[k] > 0) values[k].push_back(acceptance[k]);
  });
  const std::vector<distribution> all = describe_all(std::move(values));
  for (std::size_t k = 0; k < names.size(); ++k) {
    const distribution& q = all[k];
    bars.push_back({names[k], q.median});
    numbers.rows.push_back({names[k], number_text(q.median), number_text(q.q25) + " to " + number_text(q.q75)});
    d.out.numbers["acceptance"][names[k]] = as_json(q);
  }
  d.out.sections.back().figures.push_back(
      {"Acceptance",
       draw_bars(bars, "Median acceptance of each parameter."),
       explain(o.name, o.meaning) +
           " The bars are medians; about one half is right, and angles of a fibre that the data do "
           "not support are almost always accepted.",
       {numbers},
       false});
}

void add_crossings(draft& d, int fibres) {
  std::vector<bar> bars;
  for (int i = 1; i <= fibres; ++i) {
    const std::vector<float> f = read_values(d, *d.find(numbered("mean_f{}", i)));
    const auto above = std::count_if(f.begin(), f.end(), [](float v) { return v >= min_fraction; });
    bars.push_back({numbered("fibre {}", i), static_cast<double>(above)});
    d.out.numbers["voxels_with_fibre"].push_back(above);
  }
  d.out.sections.back().figures.push_back(
      {"Voxels that have each fibre",
       draw_bars(bars, "Number of voxels that have each fibre."),
       fmt::format("A fibre counts where its mean volume fraction is at least {}. Of {}.", min_fraction,
                   counted(d.fitted.size(), "voxel")),
       {},
       false});
}

}  // namespace

int add_ballstick_maps(draft& d) {
  const int fibres = count_fibres(d);
  d.add_section("Maps");
  std::vector<std::pair<std::string, std::string>> sticks;
  for (int i = 1; i <= fibres; ++i) sticks.emplace_back(numbered("dyads{}", i), numbered("mean_f{}", i));
  // All fractions have the same window, so that fibres can be compared.
  const double brightest = largest_fraction(d);
  add_sticks(d, "mean_fsum", brightest, sticks, std::min(min_fraction, brightest / 4));
  for (int i = 1; i <= fibres; ++i)
    add_map(d, numbered("mean_f{}", i),
            {.first = 0,
             .last = brightest,
             .note = i == 1 ? "It is high where fibres are parallel." : "It is above 0 in crossings."});
  for (int i = 1; i <= fibres; ++i)
    add_directions(d, numbered("dyads{}", i), numbered("mean_f{}", i), brightest,
                   "Neighbouring voxels of a bundle have similar colours.");
  for (int i = 1; i <= fibres; ++i)
    add_map(d, numbered("dyads{}_dispersion", i),
            {.map = colour_map::viridis,
             .first = 0,
             .note = d.find("log_likelihood_gain") == nullptr
                         ? "Dark means a certain direction, bright an uncertain one."
                         : "Dark means a certain direction or no fibre, bright an uncertain one."});
  add_map(d, "mean_d", {.first = 0, .note = "Fluid is bright."});
  add_map(d, "mean_S0", {.first = 0, .note = "It shows the anatomy."});
  return fibres;
}

void add_ballstick_distributions(draft& d, int fibres) {
  d.add_section("Distributions");
  add_crossings(d, fibres);
  for (int i = 1; i <= fibres; ++i) add_histogram(d, numbered("mean_f{}", i), 0, {});
  for (int i = 1; i <= fibres; ++i) add_histogram(d, numbered("dyads{}_dispersion", i), 0, {});
  add_histogram(d, "mean_d", 0, {});
}

void write_ballstick_methods(methods_text& m) {
  const std::string fibres = m.state("fibres"), model = m.state("model");
  const bool has_range_of_diffusivities = model != "1";
  std::string choice;
  if (is_number_of_fibres_chosen(m.result))
    choice = fmt::format(
        " The number of fibres is the one with the largest mean log likelihood of the samples after subtracting {} for "
        "each fibre.",
        m.state("fibre-odds"));
  m.text = fmt::format(
      "Fibre orientations were estimated with the ball & stick model with {}{} fibre{} per voxel (Behrens et al. 2003, "
      "2007{}) by {}, an implementation for GPUs and CPUs (after Hernández et al. 2013). {}Posterior samples "
      "were drawn by Metropolis sampling: {} jumps of burn-in, {} more of which every {}th was kept; {} noise, model "
      "{}.{}",
      choice.empty() ? "" : "up to ", fibres, fibres == "1" ? "" : "s",
      has_range_of_diffusivities ? "; Jbabdi et al. 2012" : "", writing_program(m.result), acquisition_text(m.result),
      m.state("burn-in"), m.state("jumps"), m.state("sample-every"), m.state("noise", "gaussian"), model, choice);
  cite_ball_and_stick(m);
  if (has_range_of_diffusivities)
    m.cite(
        "Jbabdi S et al. Model-based analysis of multishell diffusion MR data for tractography: how to get over "
        "fitting "
        "problems. Magn Reson Med 68:1846-1855, 2012.",
        "10.1002/mrm.24204");
  m.cite(
      "Hernández M et al. Accelerating fibre orientation estimation from diffusion weighted magnetic resonance imaging "
      "using GPUs. PLoS ONE 8:e61892, 2013.",
      "10.1371/journal.pone.0061892");
}

void write_ballstick_chapter(result_draft& d) {
  if (configured(d.result, "model", "1") != "1" && count_weighted_shells(d.result) == 1)
    d.warn(
        "The series has one shell, which does not determine both d and d_std: their maps are noisy. For maps of d use "
        "--model 1 --fibres 2.");
  const int fibres = add_ballstick_maps(d);
  add_status_map(d);
  add_ballstick_distributions(d, fibres);
  add_acceptance(d);
  add_gradients(d);
}

}  // namespace voxherd::report
