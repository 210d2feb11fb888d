#pragma once

#include "tests/perfusion/reference/perfusion_reference.hpp"

/// A slow search for the smallest cost within bounds: a dense dictionary, then Marquardt's method with numerical
/// derivatives from its best entries.
namespace voxherd::reference {

using perfusion_rules = std::vector<perfusion::parameter_rule>;

struct perfusion_fit {
  perfusion_parameters best{};
  double cost = 0;
};

/// A local minimum within the rules, by descent from `start`.
perfusion_fit polish(const perfusion::time_course& frames, perfusion::discretisation_kind how,
                     const perfusion_rules& rules, const std::vector<double>& y, perfusion_parameters start);

/// The dictionary: `rates` log-spaced kl and `delays` evenly spaced tau_a and tau_p within the rules; ka and kp
/// minimise the cost within their bounds, in closed form.
class global_search {
 public:
  global_search(const perfusion::time_course& frames, perfusion::discretisation_kind how, const perfusion_rules& rules,
                std::size_t rates = 28, std::size_t delays = 21);

  /// The best result of descents from the `polished` deepest local minima of the dictionary.
  perfusion_fit operator()(const std::vector<double>& y, std::size_t polished = 6) const;

 private:
  using curve = std::vector<double>;
  std::vector<perfusion_fit> local_minima(const std::vector<double>& y) const;

  const perfusion::time_course& frames_;
  perfusion::discretisation_kind how_;
  perfusion_rules rules_;
  std::vector<double> rates_, arterial_delays_, portal_delays_;
  std::vector<std::vector<curve>> arterial_, portal_;  ///< [rate][delay]: the curve of a unit flow
};

/// sqrt of the diagonal of cost / (counted - free) (J'J)^-1 over the parameters not `held`; 0 for those.
perfusion_parameters standard_deviations(const perfusion::time_course& frames, perfusion::discretisation_kind how,
                                         const perfusion_parameters& p, double cost,
                                         const std::array<bool, perfusion::dual_parameters>& held);

/// (J'J)^-1 over the parameters not held; rows and columns of held ones are zero.
std::array<std::array<double, perfusion::dual_parameters>, perfusion::dual_parameters> inverse_information(
    const perfusion::time_course& frames, perfusion::discretisation_kind how, const perfusion_parameters& p,
    const std::array<bool, perfusion::dual_parameters>& held);

}  // namespace voxherd::reference
