#include <string>

#include "src/export/bids_plans.hpp"

namespace voxherd {

namespace {

bids_json describe_model(const result_reader& r) {
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

}  // namespace

export_plan plan_bids_tensor(const result_volumes& result, const bids_place& place) {
  const bids_json none = bids_json::object(), diffusivity{{"Units", "mm^2/s"}};
  model_plan plan(place, "tensor", describe_model(result.result()));
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

}  // namespace voxherd
