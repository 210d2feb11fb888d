#include "src/analyses/perfusion/model_forms.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

namespace voxherd {

namespace {

using namespace perfusion;

constexpr model_form forms[] = {
    {"dual", &info_of<dual_model>, 2, "an arterial and a portal input", "dualinput"},
    {"arterial", &info_of<dual_model>, 1, "an arterial input", "singleinput"},
};

}  // namespace

std::span<const model_form, model_form_count> model_forms() { return forms; }

const model_form& stored_form(const nlohmann::json& configuration) {
  const auto name = configuration.value("model", std::string(forms[0].name));
  const auto* const found =
      std::find_if(std::begin(forms), std::end(forms), [&](const auto& f) { return name == f.name; });
  return found != std::end(forms) ? *found : forms[0];
}

std::string names_with_portal_input() {
  std::string names;
  for (const model_form& f : forms)
    if (f.has_portal_input()) names += (names.empty() ? "" : "|") + std::string(f.name);
  return names;
}

namespace perfusion {

std::vector<std::size_t> shown_order(const model_info& model) {
  const auto rank = [&](std::size_t i) {
    const parameter_role role = model.parameters[i].role;
    return role == parameter_role::flow ? 0 : role == parameter_role::shape ? 1 : 2;
  };
  std::vector<std::size_t> order(model.parameters.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  return order;
}

shown_outputs::shown_outputs(const model_info& model) {
  for (const std::size_t i : shown_order(model)) {
    fitted.emplace_back(model.parameters[i].name);
    (model.is_delay(i) ? delays : maps).push_back(fitted.back());
  }
  summary = maps;
  for (const derived_value& d : model.derived) {
    derived.emplace_back(d.name);
    if (d.in_summary) summary.emplace_back(d.name);
  }
  maps.insert(maps.end(), derived.begin(), derived.end());
  maps.insert(maps.end(), delays.begin(), delays.end());
}

double map_unit(const parameter& p, double density_g_per_ml) {
  return p.unit().is_per_mass ? p.unit().factor / density_g_per_ml : p.unit().factor;
}

double kernel_unit(const parameter& p, double density_g_per_ml) {
  return p.unit().is_per_mass ? density_g_per_ml / p.unit().factor : 1 / p.unit().factor;
}

std::size_t output_place(const model_info& model, std::string_view name) {
  for (std::size_t i = 0; i < model.outputs.size(); ++i)
    if (name == model.outputs[i].name) return i;
  throw std::out_of_range("a perfusion model has no output " + std::string(name));
}

}  // namespace perfusion

}  // namespace voxherd
