#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "kernels/perfusion/models.hpp"

namespace voxherd {

/// A value of --model: a tissue model with all of its inputs, or without the portal one.
struct model_form {
  const char* name;
  const perfusion::model_info* model;
  int inputs;
  const char* supply;      ///< "an arterial input"
  const char* bids_label;  ///< model of NAME_model-...

  bool has_portal_input() const { return inputs == 2; }
  /// Whether a parameter is of an input that this form does not have: fixed at 0.
  bool lacks(const perfusion::parameter& p) const {
    return p.role != perfusion::parameter_role::shape && p.input >= inputs;
  }
};

inline constexpr std::size_t model_form_count = 2;
std::span<const model_form, model_form_count> model_forms();

/// The form of a stored configuration.
const model_form& stored_form(const nlohmann::json& configuration);

/// The names of the forms with a portal input, separated by '|': "dual".
std::string names_with_portal_input();

namespace perfusion {

/// Names of a model's outputs in the order in which they are shown: flows, then the shape of the response, then, at the
/// end, delays.
struct shown_outputs {
  std::vector<std::string> fitted;  ///< all parameters
  std::vector<std::string> derived;
  std::vector<std::string> maps;     ///< flows and shape, derived outputs, delays
  std::vector<std::string> summary;  ///< flows and shape, and the derived outputs that summaries have
  std::vector<std::string> delays;

  explicit shown_outputs(const model_info& model);
};

/// The unit of a parameter's map for tissue of this density, per 1/s, s or 1.
double map_unit(const parameter& p, double density_g_per_ml);
/// The other direction.
double kernel_unit(const parameter& p, double density_g_per_ml);

/// Place of an output in the model's table. Throws std::out_of_range.
std::size_t output_place(const model_info& model, std::string_view name);

/// Places of a model's parameters in the order in which they are shown.
std::vector<std::size_t> shown_order(const model_info& model);

}  // namespace perfusion

}  // namespace voxherd
