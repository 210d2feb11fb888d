#include <fmt/core.h>

#include <cmath>
#include <map>

#include "src/analyses/noddi/views.hpp"
#include "src/export/connectome_text.hpp"
#include "src/show/common_figures.hpp"
#include "src/show/distribution.hpp"
#include "src/show/methods.hpp"
#include "src/show/pictures.hpp"

namespace voxherd::report {

namespace {

constexpr const char* measures[] = {"NDI", "ODI", "FWF"};

double correlation(const std::vector<float>& x, const std::vector<float>& y) {
  double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) mx += static_cast<double>(x[i]) / n, my += static_cast<double>(y[i]) / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = static_cast<double>(x[i]) - mx, dy = static_cast<double>(y[i]) - my;
    xx += dx * dx, yy += dy * dy, xy += dx * dy;
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

/// Means weighted by the tissue fraction (Parker 2021), and correlations.
void add_means(result_draft& d) {
  std::map<std::string, std::vector<float>> values;
  for (const char* name : {"NDI", "ODI", "FWF", "tf"}) {
    if (!d.result.has(name)) return;
    values[name] = read_values(d, d.result.output(name));
  }
  table means{"Means of all voxels, and means weighted by the tissue fraction", {"map", "mean", "weighted by tf"}, {}};
  table correlations{"Correlations between maps", {"", "NDI", "ODI", "FWF"}, {}};
  for (const char* name : measures) {
    double sum = 0, weighted = 0, weights = 0;
    const std::vector<float>&v = values[name], &tf = values["tf"];
    for (std::size_t i = 0; i < v.size(); ++i) {
      sum += static_cast<double>(v[i]);
      weighted += static_cast<double>(v[i]) * static_cast<double>(tf[i]);
      weights += static_cast<double>(tf[i]);
    }
    const double mean = v.empty() ? 0 : sum / static_cast<double>(v.size());
    const double by_tissue = weights > 0 ? weighted / weights : 0;
    d.out.numbers["means"][name] = {{"mean", mean}, {"weighted_by_tissue", by_tissue}};
    means.rows.push_back({name, fmt::format("{:.3f}", mean), fmt::format("{:.3f}", by_tissue)});
    std::vector<std::string> row{name};
    for (const char* other : measures) {
      const double r = correlation(v, values[other]);
      d.out.numbers["correlations"][name][other] = r;
      row.push_back(fmt::format("{:.2f}", r));
    }
    correlations.rows.push_back(row);
  }
  d.add_section("Means and correlations");
  d.out.sections.back().paragraphs.push_back(
      "In fluid, NDI and ODI are noise: means of regions should be weighted by the tissue fraction tf. A correlation "
      "of "
      "NDI and FWF across tissue is often their ambiguity, not anatomy.");
  d.out.sections.back().tables = {means, correlations};
}

/// Means of NDI and ODI in each of --regions, weighted by the tissue fraction (Parker 2021).
void add_regions(result_draft& d) {
  const std::vector<std::int32_t> labels = d.result.constant_labels("regions", "label");
  if (labels.empty() || labels.size() != d.result.item_voxels().size()) return;
  const map_values tf = d.read_map("tf"), maps[] = {d.read_map("NDI"), d.read_map("ODI")};
  struct sums {
    std::size_t voxels = 0;
    double weights = 0, weighted[2] = {};
  };
  std::vector<bool> is_fitted(d.grid.voxel_count());
  for (const std::uint64_t voxel : d.fitted) is_fitted[voxel] = true;
  std::map<std::int32_t, sums> regions;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::uint64_t voxel = d.result.image_voxels()[i];
    if (labels[i] == 0) continue;
    sums& region = regions[labels[i]];
    if (!is_fitted[voxel]) continue;
    ++region.voxels;
    region.weights += static_cast<double>(tf[voxel]);
    for (int m = 0; m < 2; ++m)
      region.weighted[m] += static_cast<double>(tf[voxel]) * static_cast<double>(maps[m][voxel]);
  }
  const region_name_list names = given_region_names(d.result);
  table t{"Means weighted by the tissue fraction", {"region", "voxels", "NDI", "ODI"}, {}};
  nlohmann::json& list = d.out.numbers["regions"] = nlohmann::json::array();
  for (const auto& [label, region] : regions) {
    const std::string name = list.size() < names.size() ? names[list.size()] : std::to_string(label);
    list.push_back({{"label", label}, {"name", name}, {"voxels", region.voxels}});
    t.rows.push_back({name, std::to_string(region.voxels)});
    for (int m = 0; m < 2; ++m) {
      const bool has_mean = region.weights > 0;
      if (has_mean) list.back()[m == 0 ? "NDI" : "ODI"] = region.weighted[m] / region.weights;
      t.rows.back().push_back(has_mean ? fmt::format("{:.3f}", region.weighted[m] / region.weights) : "");
    }
  }
  d.add_section("Regions").tables.push_back(t);
}

void warn_about_free_water(result_draft& d) {
  if (!d.result.has("FWF")) return;
  std::size_t fluid = 0;
  for (const float f : read_values(d, d.result.output("FWF"))) fluid += f > 0.8f ? 1 : 0;
  if (fluid > 0)
    d.out.notes.push_back(fmt::format("FWF is above 0.8 in {} of {} voxels: NDI, ODI and direction are noise there.",
                                      fluid, d.fitted.size()));
}

}  // namespace

void write_noddi_chapter(result_draft& d) {
  warn_about_free_water(d);
  d.add_section("Maps");
  add_map(d, "NDI", {.first = 0, .last = 1, .note = "It is high in white matter; in fluid it is noise."});
  add_map(d, "ODI", {.first = 0, .last = 1, .note = "It is low where neurites are parallel, and high in grey matter."});
  add_map(d, "FWF", {.first = 0, .last = 1, .note = "Fluid is bright."});
  add_directions(d, "direction", "NDI", 1,
                 "In a healthy brain the corpus callosum is red and the corticospinal tract blue.");
  add_map(d, "DA", {.first = 0, .last = 1, .note = "It is high where neurites fan out in a plane."});
  add_directions(d, "fanning_direction", "DA", 1, "Directions matter only where DA is high.");
  for (const char* name : {"NDI_SD", "ODI_SD", "FWF_SD", "direction_dispersion"})
    add_map(d, name, {.map = colour_map::viridis, .first = 0, .note = "Bright values are uncertain."});
  add_map(d, "S0", {.first = 0, .note = "It shows the anatomy."});
  add_map(d, "dot", {.first = 0});
  add_map(d, "sigma", {.map = colour_map::viridis, .first = 0, .note = "It is even where the noise is."});
  add_map(d, "residual",
          {.map = colour_map::viridis, .first = 0, .note = "Bright bands or edges are artefacts or motion."});
  add_status_map(d);
  d.add_section("Distributions");
  for (const char* name : measures) add_histogram(d, name, 0, 1);
  add_histogram(d, "kappa");
  add_histogram(d, "residual");
  add_means(d);
  add_regions(d);
  add_gradients(d);
}

void write_noddi_methods(methods_text& m) {
  const bool rician = m.state("noise", "gaussian") == "rician";
  const bool is_bingham = m.state("model", "watson") == "bingham";
  const std::string samples = m.state("samples", "0"), d_par = m.state("d-par"), d_iso = m.state("d-iso");
  m.text = fmt::format(
      "Neurite density and orientation dispersion were estimated with NODDI ({}; "
      "diffusivities {} mm2/s along neurites and {} mm2/s of free water) by {}. {}The model was fitted by {} "
      "(Levenberg-Marquardt) from the best point of a grid.",
      is_bingham ? "Tariq et al. 2016; Bingham distribution" : "Zhang et al. 2012; Watson distribution", d_par, d_iso,
      writing_program(m.result), acquisition_text(m.result),
      rician ? "maximum likelihood under Rician noise" : "least squares");
  if (samples != "0")
    m.text += fmt::format(
        " Posterior samples were drawn by Metropolis sampling: {} jumps of burn-in, then {} samples, one every {} "
        "jumps; "
        "the prior was uniform in {}.",
        m.state("burn-in"), samples, m.state("sample-every"),
        m.state("prior", "odi") == "odi" ? (is_bingham ? "ODI across the fan and beta/kappa" : "ODI")
                                         : (is_bingham ? "kappa and beta" : "kappa"));
  m.cite(
      "Zhang H, Schneider T, Wheeler-Kingshott CA, Alexander DC. NODDI: practical in vivo neurite orientation "
      "dispersion "
      "and density imaging of the human brain. NeuroImage 61:1000-1016, 2012.",
      "10.1016/j.neuroimage.2012.03.072");
  if (is_bingham)
    m.cite(
        "Tariq M, Schneider T, Alexander DC, Gandini Wheeler-Kingshott CA, Zhang H. Bingham-NODDI: mapping anisotropic "
        "orientation dispersion of neurites using diffusion MRI. NeuroImage 133:207-223, 2016.",
        "10.1016/j.neuroimage.2016.01.046");
}

}  // namespace voxherd::report
