#include <fmt/core.h>

#include "src/tools/report/chapters.hpp"
#include "src/tools/report/common_figures.hpp"
#include "src/tools/report/distribution.hpp"
#include "src/tools/report/pictures.hpp"

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

std::string fit_text(const result_reader& r) {
  const std::string fit = configured(r, "fit", "iwls");
  if (fit == "ols") return "ordinary least squares";
  if (fit == "wls") return "least squares weighted by the squared signal";
  return fmt::format("least squares weighted by the squared predicted signal ({} iterations)",
                     configured(r, "iterations", "2"));
}

void write_methods(result_draft& d) {
  d.out.methods = fmt::format(
      "Diffusion tensors (Basser et al. 1994) were fitted to the logarithm of the signal by {} (Veraart et al. 2013) "
      "with voxherd {}. {}Fractional anisotropy, mean diffusivity and principal directions were derived from their "
      "eigenvalues and eigenvectors.",
      fit_text(d.result), d.result.version(), acquisition_text(d.result));
  d.cite(
      "Basser PJ, Mattiello J, Le Bihan D. MR diffusion tensor spectroscopy and imaging. Biophys J 66:259-267, 1994.",
      "10.1016/S0006-3495(94)80775-1");
  d.cite(
      "Veraart J, Sijbers J, Sunaert S, Leemans A, Jeurissen B. Weighted linear least squares estimation of diffusion "
      "MRI parameters. NeuroImage 81:335-346, 2013.",
      "10.1016/j.neuroimage.2013.05.028");
}

void write(result_draft& d) {
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
  for (const char* name : {"FA", "MD", "residual"}) add_histogram(d, name);
  add_gradients(d);
}

}  // namespace

const chapter tensor_chapter{"tensor", write, write_methods};

}  // namespace voxherd::report
