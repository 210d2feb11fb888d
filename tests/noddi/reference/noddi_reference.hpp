#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernels/noddi/models.hpp"
#include "kernels/noddi/protocol.hpp"
#include "kernels/noddi/watson.hpp"
#include "kernels/voxel_model/model_estimator.hpp"

namespace voxherd::reference {

/// NODDI's parameters with a Watson distribution. Diffusivities in um2/ms.
struct noddi_parameters {
  double s0 = 1, fwf = 0, ndi = 0.5, kappa = 1, dot = 0;
  std::array<double, 3> axis{0, 0, 1};
  double d_par = 1.7, d_iso = 3.0;
};

/// Signal inside neurites by quadrature over the sphere; `cosine`: of gradient and axis; b in ms/um2.
double watson_stick(double b_times_d, double kappa, double cosine);
/// Mean square of the cosine of directions and axis.
double watson_mean_square(double kappa);

/// Signal of a measurement; b in s/mm2, a unit gradient.
double noddi_signal(const noddi_parameters& p, double b_s_per_mm2, double x, double y, double z);

/// A Bingham distribution: the fan is along an axis perpendicular to the mean.
struct bingham_parameters : noddi_parameters {
  double beta = 0;
  std::array<double, 3> fan{1, 0, 0};
};

/// The same with quadrature over half of the sphere, error 1e-4 for kappa up to 32. One voxel, with Rician noise.
std::vector<float> draw_bingham_signals(const bingham_parameters& p, const gradient_table& gradients, double sigma,
                                        unsigned seed);

/// Parameters drawn from the prior: uniform fractions, ODI across the fan, beta / kappa, and rotations.
std::vector<bingham_parameters> draw_bingham_parameters(int count, unsigned seed);

/// The program's outputs for some voxels.
class noddi_run {
 public:
  /// `rows`: voxel after voxel, with the nine numbers of a deviation if `deviates`. `voxels`: their indices in the
  /// image; empty: 0, 1, ...
  noddi_run(const device& d, const gradient_table& gradients, const noddi::settings& s, const std::vector<float>& rows,
            std::vector<std::uint64_t> voxels = {}, bool deviates = false);

  const std::vector<float>& operator[](const std::string& output) const;
  /// Bytes of all outputs, for comparisons.
  const std::vector<std::vector<float>>& all() const { return columns_; }

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<float>> columns_;
};

/// The same with a Bingham distribution.
class bingham_run : public noddi_run {
 public:
  bingham_run(const device& d, const gradient_table& gradients, noddi::settings s, const std::vector<float>& rows,
              bool deviates = false);
};

/// b = 0 (6 volumes), then `directions` on a half sphere for each shell.
gradient_table noddi_gradients(int directions, const std::vector<double>& shells_s_per_mm2);

/// Parameters drawn from the prior: uniform fractions, ODI and direction.
std::vector<noddi_parameters> draw_parameters(int count, unsigned seed);

/// Their signals, S0 = 1000, with Rician noise of this standard deviation.
std::vector<float> draw_signals(const std::vector<noddi_parameters>& p, const gradient_table& gradients, double sigma,
                                unsigned seed);

/// Columns of a table of the reference data (VOXHERD_DATA/noddi_reference), separated by tabs. Empty without it.
class noddi_table {
 public:
  explicit noddi_table(const std::string& name);
  std::size_t size() const { return rows_.size(); }
  double number(std::size_t row, const std::string& column) const { return std::stod(text(row, column)); }
  const std::string& text(std::size_t row, const std::string& column) const;

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> rows_;
};

/// Whether maps on this device agree with those of one CPU thread: best fits to rounding, means of chains within their
/// standard deviations.
void expect_agrees_with_cpu(const device& d, const noddi::settings& s, int directions, bool deviates = false);

}  // namespace voxherd::reference
