#include <fmt/core.h>

#include "src/analyses/connect/options.hpp"
#include "src/show/analysis_views.hpp"
#include "src/show/chart.hpp"
#include "src/show/common_figures.hpp"
#include "src/show/fibres.hpp"
#include "src/show/matrix.hpp"
#include "src/show/methods.hpp"
#include "src/show/pictures.hpp"

namespace voxherd::report {

namespace {

constexpr auto pathway_group = "pathway";

/// A chart of constants of the pathway against epsilon.
void add_epsilon_chart(result_draft& d, const std::vector<std::string>& names, const std::string& y_label) {
  const constant* epsilon = d.result.find_constant(pathway_group, "epsilon");
  if (epsilon == nullptr) return;
  line_chart chart{y_label + " against epsilon", "epsilon", y_label, epsilon->values, {}, {}};
  for (const std::string& name : names)
    if (const constant* c = d.result.find_constant(pathway_group, name);
        c != nullptr && c->values.size() == chart.x.size())
      chart.lines.push_back({c->meaning, c->values});
  if (chart.lines.empty()) return;
  d.out.sections.back().figures.push_back({chart.title,
                                           draw_lines(chart, chart.title + "."),
                                           explain("epsilon", epsilon->meaning),
                                           {line_table(chart)},
                                           false});
}

void add_pathway_numbers(result_draft& d) {
  table t{"The least-cost path", {"quantity", "value", "unit", "meaning"}, {}};
  for (const constant& c : d.result.constants()) {
    if (c.group != pathway_group) continue;
    d.out.numbers["pathway"][c.name] = c.values;
    if (c.values.size() == 1) t.rows.push_back({c.name, number_text(c.values.front()), c.unit, c.meaning});
  }
  if (!t.rows.empty()) d.out.sections.back().tables.push_back(t);
  const constant *gap = d.result.find_constant(pathway_group, "gap"),
                 *joining = d.result.find_constant(pathway_group, "joining_excess");
  constexpr double max_gap = 0.15, max_joining = 0.05;  // those of the program's own warnings and tests
  if (gap != nullptr && !gap->values.empty() && gap->values.front() > max_gap)
    d.warn(fmt::format("The costs of both directions differ by {:.2g} %; the solution is not more exact than that.",
                       100 * gap->values.front()));
  if (joining != nullptr && !joining->values.empty() && joining->values.front() > max_joining)
    d.warn(fmt::format("The pathway joins both regions only with paths {:.2g} % above the least cost.",
                       100 * joining->values.front()));
}

void warn_about_paths(result_draft& d) {
  const constant *cost = d.result.find_constant("connectome", "cost"),
                 *along = d.result.find_constant("connectome", "path_cost");
  if (cost == nullptr || along == nullptr || cost->values.size() != along->values.size()) return;
  constexpr double max_ratio = 1.5;
  std::uint64_t doubtful = 0;
  for (std::size_t i = 0; i < cost->values.size(); ++i)
    if (cost->values[i] > 0 && along->values[i] > max_ratio * cost->values[i]) ++doubtful;
  if (doubtful > 0)
    d.warn(fmt::format(
        "{} entries of the matrix have a path that costs more than {} times the arrival time; do not rely on "
        "cost and length of these pairs.",
        doubtful, max_ratio));
}

void write_connect_methods(methods_text& m) {
  const bool is_selling = m.state("scheme", "selling") == "selling";
  m.text = fmt::format(
      "Least-cost paths were found by solving the Hamilton-Jacobi equation of a metric that follows from the diffusion "
      "tensor (metric {}, Jeong et al. 2007) with {}; {} of order {}; smoothing with a standard deviation of "
      "{} "
      "voxels.",
      m.state("metric", "jeong"), writing_program(m.result),
      is_selling ? "Selling's scheme (Mirebeau 2019)" : "scheme " + m.state("scheme", "selling"), m.state("order", "2"),
      m.state("smooth", "0"));
  m.cite(
      "Jeong W-K, Fletcher PT, Tao R, Whitaker RT. Interactive visualization of volumetric white matter connectivity "
      "in "
      "DT-MRI using a parallel-hardware Hamilton-Jacobi solver. IEEE Trans Vis Comput Graph 13:1480-1487, 2007.",
      "");
  if (is_selling)
    m.cite(
        "Mirebeau J-M. Riemannian fast-marching on Cartesian grids, using Voronoi's first reduction of quadratic "
        "forms. "
        "SIAM J Numer Anal 57:2608, 2019.",
        "");
}

void write_connect_chapter(result_draft& d) {
  if (d.result.find_constant("connectome", "labels") != nullptr) {
    d.add_section("Connectome");
    add_matrix(d, "cost", best::smallest, names_shown::yes);
    add_matrix(d, "length_mm", best::smallest);
    add_matrix(d, "mean_speed", best::largest);
    add_matrix(d, "gain", best::largest);
    add_matrix(d, "asymmetry", best::largest);
    warn_about_paths(d);
  }
  d.add_section("Maps");
  add_codes(d, "pathway", {{1, "in the pathway"}}, "Dark grey voxels are outside.");
  add_map(d, "excess", {.map = colour_map::viridis, .first = 0, .note = "Dark voxels are on the cheapest paths."});
  for (const char* name : {"total", "arrival_from", "arrival_to", "first_cost", "second_cost"})
    add_map(d, name, {.map = colour_map::viridis, .first = 0, .note = "Dark means a low cost."});
  if (d.result.find_constant(pathway_group, "epsilon") != nullptr) {
    d.add_section("Pathway");
    add_pathway_numbers(d);
    add_epsilon_chart(d, {"volume_mm3"}, "volume (mm3)");
    add_epsilon_chart(d, {"mean_FA", "min_FA"}, "FA");
  }
  d.add_section("Distributions");
  for (const char* name : {"excess", "total", "first_cost", "second_cost", "length_mm", "cost", "path_cost"})
    add_histogram(d, name);
  add_fibres(d, "cost");
}

}  // namespace

}  // namespace voxherd::report

namespace voxherd {

namespace {

std::vector<std::string> connect_words(const bids_inputs& inputs) {
  connect_request r;
  r.tensors.series = inputs.series;
  r.region_names = inputs.region_names;
  if (!inputs.parcellation.empty()) r.connectome = {inputs.parcellation};
  r.paths = inputs.paths;
  return connect_options().words(r);
}

}  // namespace

extern const analysis_views connect_views{
    .analysis = "connect",
    .chapter = {report::write_connect_chapter, report::write_connect_methods},
    .bids = {.method = {"leastcost", "least-cost paths in the metric of the diffusion tensor"},
             .run = {.input = bids_input::diffusion, .has_regions = true, .has_paths = true, .words = connect_words}},
    .viewer = {.has_connection_settings = true}};

}  // namespace voxherd
