#pragma once

#include "kernels/noddi/bingham_model.hpp"
#include "kernels/noddi/watson_model.hpp"

namespace voxherd::noddi {

/// Calls use(model) with the model of these settings.
template <class Use>
auto with_model(const settings& s, const Use& use) {
  if (s.distribution == distribution::watson) return s.dot ? use(watson_dot_model(s)) : use(watson_model(s));
  return s.dot ? use(bingham_dot_model(s)) : use(bingham_model(s));
}

}  // namespace voxherd::noddi
