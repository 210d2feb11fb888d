#pragma once

#include <span>
#include <stdexcept>
#include <string>

#include "kernels/perfusion/model_outputs.hpp"
#include "kernels/perfusion/models/dual.hpp"

namespace voxherd::perfusion {

/// The models of the program. kernels/CMakeLists.txt lists the same for the units of their GPU kernels.
template <class... Tissues>
struct model_list {
  template <class Use>
  static bool any(const Use& use) {
    return (use.template operator()<Tissues>() || ...);
  }
};
using all_models = model_list<dual_model>;

/// A model without its type, for what does not compute with it.
struct model_info {
  const model_texts* texts;
  std::span<const parameter> parameters;
  std::span<const derived_value> derived;
  int inputs;
  bool is_washout;
  std::span<const output> outputs;  ///< model_outputs
  std::size_t maps;                 ///< outputs that a user may choose from: the first ones
  std::size_t first_sd;             ///< place of the standard deviation of parameter 0

  bool is_delay(std::size_t i) const { return parameters[i].role == parameter_role::delay; }
};

template <class Tissue>
inline constexpr model_info info_of{&Tissue::texts,
                                    Tissue::parameters,
                                    Tissue::derived,
                                    Tissue::inputs,
                                    is_washout<Tissue>,
                                    model_outputs<Tissue>::table,
                                    model_outputs<Tissue>::maps,
                                    model_outputs<Tissue>::first_sd};

/// Calls use.template operator()<Tissue>() with the model of this table.
template <class Use>
void with_tissue(const model_info& model, const Use& use) {
  const bool found = all_models::any([&]<class Tissue>() {
    if (&info_of<Tissue> != &model) return false;
    use.template operator()<Tissue>();
    return true;
  });
  if (!found) throw std::invalid_argument(std::string("perfusion: the program has no model ") + model.texts->name);
}

}  // namespace voxherd::perfusion
