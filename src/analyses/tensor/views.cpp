#include <fmt/core.h>
#include <fmt/ranges.h>

#include "src/analyses/tensor/shells.hpp"
#include "src/show/analysis_views.hpp"
#include "src/show/common_figures.hpp"
#include "src/show/distribution.hpp"
#include "src/show/methods.hpp"
#include "src/show/pictures.hpp"

namespace voxherd::report {

namespace {

void warn_about_values(result_draft& d) {
  if (!d.result.has("FA")) return;
  std::uint64_t above = 0;
  for (const float v : read_values(d, d.result.output("FA"))) above += v > 1 ? 1 : 0;
  if (above > 0)
    d.warn(fmt::format("FA is above 1 in {} of {} voxels: noise makes an eigenvalue negative there.", above,
                       d.fitted.size()));
}

/// Noise makes FA too high where the signal is low (Pierpaoli & Basser 1996).
void warn_about_noise(result_draft& d) {
  constexpr double min_ratio = 10;
  if (!d.result.has("S0") || !d.result.has("residual")) return;
  const std::vector<float> S0 = read_values(d, d.result.output("S0")),
                           residual = read_values(d, d.result.output("residual"));
  std::vector<float> ratio;
  for (std::size_t i = 0; i < S0.size(); ++i)
    if (residual[i] > 0) ratio.push_back(S0[i] / residual[i]);
  if (ratio.empty()) return;
  const distribution q = describe_values(std::move(ratio));
  d.out.numbers["S0_over_residual"] = as_json(q);
  if (q.median < min_ratio)
    d.warn(
        fmt::format("S0 is only {:.2g} times the residual in the median voxel (expected at least {}): noise or motion "
                    "makes FA too high.",
                    q.median, min_ratio));
}

/// The volumes that were used: of the series, or of those in --shells.
std::string volumes_text(methods_text& m) {
  const std::string text = acquisition_text(m.result);
  constexpr std::string_view beginning = "The series";
  if (!m.result.configuration().contains("shells") || !text.starts_with(beginning)) return text;
  return fmt::format("Volumes that are not within 100 s/mm2 of b = {} s/mm2 were left out. The remaining series{}",
                     m.state("shells"), text.substr(beginning.size()));
}

std::string fit_text(methods_text& m) {
  const std::string fit = m.state("fit", "iwls");
  if (fit == "ols") return "ordinary least squares";
  if (fit == "wls") return "least squares weighted by the squared signal";
  return fmt::format("least squares weighted by the squared predicted signal ({} iterations)",
                     m.state("iterations", "2"));
}

void write_tensor_methods(methods_text& m) {
  m.text = fmt::format(
      "Diffusion tensors (Basser et al. 1994) were fitted to the logarithm of the signal by {} (Veraart et al. 2013) "
      "with {}. {}Fractional anisotropy, mean diffusivity and principal directions were derived from their "
      "eigenvalues and eigenvectors.",
      fit_text(m), writing_program(m.result), volumes_text(m));
  m.cite(
      "Basser PJ, Mattiello J, Le Bihan D. MR diffusion tensor spectroscopy and imaging. Biophys J 66:259-267, 1994.",
      "10.1016/S0006-3495(94)80775-1");
  m.cite(
      "Veraart J, Sijbers J, Sunaert S, Leemans A, Jeurissen B. Weighted linear least squares estimation of diffusion "
      "MRI parameters. NeuroImage 81:335-346, 2013.",
      "10.1016/j.neuroimage.2013.05.028");
}

void warn_about_b_values(result_draft& d) {
  if (const std::string text = high_b_text(stored_gradients(d.result)); !text.empty()) d.warn(text + ".");
}

void write_tensor_chapter(result_draft& d) {
  warn_about_b_values(d);
  warn_about_values(d);
  warn_about_noise(d);
  d.add_section("Maps");
  add_map(d, "FA",
          {.first = 0,
           .last = 1,
           .note = "It is high where fibres are parallel; low values in white matter are often crossings."});
  add_directions(d, "V1", "FA", 1, "In a healthy brain the corpus callosum is red and the corticospinal tract blue.");
  add_map(d, "MD", {.first = 0, .note = "Fluid is bright, tissue is dark and even."});
  add_map(d, "S0", {.first = 0, .note = "It shows the anatomy, and distortions near air."});
  add_map(d, "residual",
          {.map = colour_map::viridis, .first = 0, .note = "Bright bands or edges are artefacts or motion."});
  add_status_map(d);
  d.add_section("Distributions");
  add_histogram(d, "FA", 0, 1);
  for (const char* name : {"MD", "residual"}) add_histogram(d, name);
  add_gradients(d);
}

}  // namespace

}  // namespace voxherd::report

namespace voxherd {

namespace {

bids_json describe_fit(const result_reader& r) {
  const nlohmann::json& c = r.configuration();
  const std::string fit = c.value("fit", std::string("iwls"));
  bids_json m;
  m["Description"] = "diffusion tensor";
  m["URL"] = "https://doi.org/10.1016/S0006-3495(94)80775-1";  // Basser 1994
  m["Parameters"] = {{"FitMethod", fit}};
  if (fit == "iwls") m["Parameters"]["Iterations"] = c.value("iterations", 2);
  return m;
}

/// Voxherd's tensors have the order of BEP016: D11, D12, D13, D22, D23, D33.
bids_json tensor_encoding() {
  bids_json encoding = direction_encoding("tensor");
  encoding["TensorRank"] = 2;
  encoding["AntipodalSymmetry"] = true;
  return encoding;
}

export_plan plan_bids_tensor(const result_volumes& result, const bids_place& place) {
  const bids_json none = bids_json::object(), diffusivity{{"Units", "mm^2/s"}};
  model_plan plan(place, "tensor", describe_fit(result.result()));
  plan.add_map(result, "diffusivity", "", "tensor",
               {{"Description", "diffusion tensor: D11, D12, D13, D22, D23, D33"},
                {"Units", "mm^2/s"},
                {"OrientationEncoding", tensor_encoding()}});
  plan.add_map(result, "s0", "", "S0", none);
  plan.add_map(result, "fa", "", "FA", none);
  plan.add_map(result, "md", "", "MD", diffusivity);
  plan.add_map(result, "ad", "", "AD", diffusivity);
  plan.add_map(result, "rd", "", "RD", diffusivity);
  plan.add_map(result, "evec", "", "V1",
               {{"Description", "eigenvector of the largest eigenvalue; its sign is arbitrary"},
                {"OrientationEncoding", direction_encoding("unit3vector")}});
  return plan.take();
}

}  // namespace

extern const analysis_views tensor_views{.analysis = "tensor",
                                         .chapter = {report::write_tensor_chapter, report::write_tensor_methods},
                                         .bids = {.plan = plan_bids_tensor, .run = {.input = bids_input::diffusion}},
                                         .viewer = {.tensor_output = "tensor"}};

}  // namespace voxherd
