#include "src/analyses/noddi/views.hpp"

#include <fmt/core.h>

#include "src/show/analysis_views.hpp"

namespace voxherd {

namespace {

bids_json describe_noddi(const result_reader& r) {
  const nlohmann::json& c = r.configuration();
  bids_json m;
  const bool is_bingham = r.has("beta");
  m["Description"] = fmt::format("neurite orientation dispersion and density imaging, {} distribution",
                                 is_bingham ? "Bingham" : "Watson");
  m["URL"] = is_bingham ? "https://doi.org/10.1016/j.neuroimage.2016.01.046"   // Tariq 2016
                        : "https://doi.org/10.1016/j.neuroimage.2012.03.072";  // Zhang 2012
  m["Parameters"] = {{"dPar", c.value("d-par", 0.0)},
                     {"dIso", c.value("d-iso", 0.0)},
                     {"NoiseModel", c.value("noise", std::string("gaussian"))}};
  return m;
}

/// A map times the tissue fraction.
export_image modulated(const result_volumes& result, const char* map) {
  return {"",
          describe_image(result, 1, fmt::format("[1] {} times the tissue fraction", map), 0, 1),
          {{map, 1}, {"tf", 1}},
          [map](const image_source& r, const volume_sink& sink) {
            std::vector<float> values = r.map(map);
            const std::vector<float> tissue = r.map("tf");
            for (std::size_t i = 0; i < values.size(); ++i) values[i] *= tissue[i];
            sink(values);
          }};
}

/// QSIRecon's names.
export_plan plan_bids_noddi(const result_volumes& result, const bids_place& place) {
  const bids_json none = bids_json::object();
  const bool is_sampled = result.has("NDI_SD");
  model_plan plan(place, "noddi", describe_noddi(result.result()));
  struct named {
    const char *parameter, *map, *deviation;
  };
  for (const auto& [parameter, map, deviation] : {named{"icvf", "NDI", "NDI_SD"},
                                                  {"od", "ODI", "ODI_SD"},
                                                  {"isovf", "FWF", "FWF_SD"},
                                                  {"kappa", "kappa", "kappa_SD"},
                                                  {"beta", "beta", "beta_SD"},
                                                  {"odp", "ODIp", "ODIp_SD"},
                                                  {"ods", "ODIs", "ODIs_SD"},
                                                  {"da", "DA", "DA_SD"},
                                                  {"s0", "S0", "S0_SD"}}) {
    if (!result.has(map)) continue;
    plan.add_map(result, parameter, "", map, none);
    if (is_sampled) plan.add_map(result, parameter, "std", deviation, none);
  }
  plan.add_map(result, "tf", "", "tf", none);
  for (const auto& [parameter, map] : {std::pair{"icvf", "NDI"}, {"od", "ODI"}})
    plan.add(parameter, "modulated", modulated(result, map),
             {{"Description", fmt::format("{} times the tissue fraction", map)}, {"Units", "1"}});
  plan.add_map(result, "direction", "", "direction",
               {{"Description", "mean direction of neurites; its sign is arbitrary"},
                {"OrientationEncoding", direction_encoding("unit3vector")}});
  if (result.has("fanning_direction"))
    plan.add_map(result, "fanningdirection", "", "fanning_direction",
                 {{"Description", "direction in which neurites fan out; its sign is arbitrary"},
                  {"OrientationEncoding", direction_encoding("unit3vector")}});
  plan.add_map(result, "rmse", "", "residual", none);
  return plan.take();
}

}  // namespace

extern const analysis_views noddi_views{.analysis = "noddi",
                                        .chapter = {report::write_noddi_chapter, report::write_noddi_methods},
                                        .bids = {.plan = plan_bids_noddi, .run = {.input = bids_input::diffusion}},
                                        .viewer = {.voxel_kind = "orientations", .make_voxel_panel = make_noddi_panel},
                                        .exports = {&cudimot_export, &ukb_noddi_export}};

}  // namespace voxherd
