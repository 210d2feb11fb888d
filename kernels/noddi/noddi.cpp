#include "kernels/noddi/noddi.hpp"

#include <stdexcept>

#include "kernels/noddi/chain_model.hpp"

namespace voxherd::noddi {

bool outputs::has_dot(const settings& s) { return s.dot; }
bool outputs::has_sigma(const settings& s) { return s.noise == noise_model::rician; }
bool outputs::is_sampled(const settings& s) { return s.samples > 0; }
bool outputs::has_dot_samples(const settings& s) { return s.dot && s.samples > 0; }
bool outputs::has_sigma_samples(const settings& s) { return s.samples_tau() && s.samples > 0; }
outputs::shape outputs::samples(const settings& s) { return {static_cast<std::uint64_t>(s.samples)}; }

outputs::shape outputs::acceptances(const settings& s) {
  return {static_cast<std::uint64_t>(make_parameter_layout(s.dot, s.samples_tau()).count)};
}

chain_settings make_chain_settings(const protocol& p, const settings& s, const float* table) {
  chain_settings c{};
  c.lengths = s.lengths();
  c.measurements = static_cast<int>(p.measurements());
  c.row_numbers = p.row_numbers();
  c.table = table;
  c.dot = s.dot;
  c.samples_tau = s.samples_tau();
  c.uniform_kappa = s.prior == dispersion_prior::kappa;
  return c;
}

std::vector<output_spec> list_outputs(const settings& s) { return output_specs<noddi_outputs>(s); }

std::unique_ptr<estimator> make_estimator(const device& d, const gradient_table& gradients, const settings& s,
                                          bool deviates) {
  if (d.kind != backend::cuda) return make_cpu_estimator(d, gradients, s, deviates);
  if (deviates) throw std::invalid_argument("noddi: gradient deviations are corrected only on the CPU");
  return make_cuda_estimator(gradients, s);
}

std::size_t device_bytes_per_voxel(const settings& s, std::size_t measurements) {
  constexpr std::size_t fit_numbers = 32, chain_numbers = 16;
  settings all = s;
  return output_bytes_per_item<noddi_outputs>(all) +
         sizeof(float) *
             (2 * measurements + 288 + fit_numbers + chain_numbers * (static_cast<std::size_t>(s.samples) + 2)) +
         sizeof(std::uint64_t);
}

}  // namespace voxherd::noddi
