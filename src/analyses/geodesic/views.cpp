#include <fmt/core.h>

#include <algorithm>

#include "src/analyses/geodesic/ray_panel.hpp"
#include "src/show/analysis_views.hpp"
#include "src/show/chart.hpp"
#include "src/show/fibres.hpp"
#include "src/show/matrix.hpp"
#include "src/show/pictures.hpp"

namespace voxherd::report {

namespace {

/// Counts that the run stored in the result's summary, under its own words.
void add_counts(result_draft& d, const char* name, const std::string& title, const std::string& explanation) {
  const auto& summary = d.result.summary();
  if (!summary.is_object() || !summary.contains(name) || !summary.at(name).is_object()) return;
  std::vector<bar> bars;
  for (const auto& [word, count] : summary.at(name).items())
    if (count.is_number() && count.get<double>() > 0) bars.push_back({word, count.get<double>()});
  if (bars.empty()) return;
  std::stable_sort(bars.begin(), bars.end(), [](const bar& a, const bar& b) { return a.value > b.value; });
  table numbers{title, {"outcome", "count"}, {}};
  for (const bar& b : bars) numbers.rows.push_back({b.name, fmt::format("{:.0f}", b.value)});
  d.out.sections.back().figures.push_back({title, draw_bars(bars, title + "."), explanation, {numbers}, false});
  d.out.numbers["counts"][name] = summary.at(name);
}

void warn_about_drift(result_draft& d) {
  constexpr double max_drift = 0.05;
  if (!d.result.has("drift")) return;
  const std::vector<float> drift = read_values(d, d.result.output("drift"));
  const auto above = std::count_if(drift.begin(), drift.end(), [](float v) { return !(v <= max_drift); });
  if (above > 0)
    d.warn(
        fmt::format("The energy, which a geodesic keeps, changes by more than {:.0f} % along {} of {} paths; use a "
                    "smaller --step, or --max-drift.",
                    100 * max_drift, above, drift.size()));
}

void write_geodesic_methods(result_draft& d) {
  const result_reader& r = d.result;
  const std::string form = configured(r, "form", "hamiltonian");
  const bool is_streamline = form == "streamline";
  d.out.methods = fmt::format(
      "{} with voxherd {} (form {}, {} interpolation, integrator {}, step {} mm, metric {}, {} directions per seed; "
      "after "
      "van Aart et al. 2011).",
      is_streamline ? "Streamlines along the main eigenvector of the diffusion tensor were traced"
                    : "Geodesics of the metric that follows from the diffusion tensor were traced",
      r.version(), form, configured(r, "interpolation", "bspline"), configured(r, "integrator", "rk2"),
      configured(r, "step", "?"), configured(r, "metric", "inverse"), configured(r, "directions", "?"));
  d.cite(
      "van Aart E et al. CUDA-accelerated geodesic ray-tracing for fiber tracking. Int J Biomed Imaging 2011:698908.",
      "10.1155/2011/698908");
}

void write_geodesic_chapter(result_draft& d) {
  warn_about_drift(d);
  add_fibres(d, "measure");
  if (find_constant(d.result, "connectome", "labels") != nullptr) {
    d.add_section("Connectome");
    add_matrix(d, "count", best::largest, names_shown::yes);
    add_matrix(d, "best_measure", best::largest);
    add_matrix(d, "mean_length_mm", best::largest);
  }
  d.add_section("Distributions");
  for (const char* name : {"length_mm", "measure", "mean_FA", "weakest", "drift"}) add_histogram(d, name);
  add_counts(d, "paths", "Outcome of paths",
             "What became of all paths that were traced. Only accepted ones, or the best of them, are in the result.");
  add_counts(d, "rays_ended_by", "Why rays ended",
             "Each ray has one reason. A path has one ray, or two from the same seed.");
}

}  // namespace

}  // namespace voxherd::report

namespace voxherd {

extern const analysis_views geodesic_views{
    .analysis = "geodesic",
    .chapter = {report::write_geodesic_chapter, report::write_geodesic_methods},
    .bids = {.method = {"geodesics", "geodesic streamlines in the metric of the diffusion tensor"}},
    .viewer = {.make_ray_panel = make_ray_panel}};

}  // namespace voxherd
