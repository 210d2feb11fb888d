#include "kernels/perfusion/perfusion.hpp"

#include <cmath>
#include <stdexcept>

#include "kernels/perfusion/fit_arrays.hpp"
#include "kernels/perfusion/paper/block_fft_plan.hpp"

namespace voxherd::perfusion {

namespace {

void require(bool right, const char* otherwise) {
  if (!right) throw std::invalid_argument(otherwise);
}

int free_parameters(const fit_settings& s) {
  int n = 0;
  for (const auto& r : s.rules) n += r.fixed ? 0 : 1;
  return n;
}

void check_frames(const time_course& t, const fit_settings& s) {
  require(t.frames() >= 2, "perfusion: fewer than two frames");
  require(t.arterial.size() == t.frames() && t.portal.size() == t.frames() && t.counts.size() == t.frames(),
          "perfusion: input curves are not of the series' length");
  for (std::size_t i = 0; i < t.frames(); ++i) {
    require(std::isfinite(t.time_s[i]) && (i == 0 || t.time_s[i] > t.time_s[i - 1]),
            "perfusion: frame times do not rise");
    require(std::isfinite(t.arterial[i]) && std::isfinite(t.portal[i]), "perfusion: an input curve is not finite");
  }
  require(t.counted() > static_cast<std::size_t>(free_parameters(s)), "perfusion: no more frames than free parameters");
}

void check_settings(const time_course& t, const fit_settings& s) {
  require(free_parameters(s) > 0, "perfusion: every parameter is fixed");
  for (const auto& r : s.rules) {
    require(std::isfinite(r.start), "perfusion: a start is not finite");
    if (s.bounded && !r.fixed) require(r.least < r.most, "perfusion: a lower bound is not below the upper one");
  }
  require(s.starts >= 0 && s.starts <= max_starts, "perfusion: starts are 0 to 8");
  require(s.max_iterations > 0, "perfusion: iterations are 1 or more");
  const model_info& model = *s.model;
  require(s.rules.size() == model.parameters.size(), "perfusion: the rules are not those of the model's parameters");
  require(model.is_washout || (s.solver != solver_kind::varpro && s.solver != solver_kind::linear),
          "perfusion: varpro and linear are for models with one exponential");
  require(s.convolution == convolution_kind::recursion || s.solver == solver_kind::simplex,
          "perfusion: only the simplex takes another convolution than recursion");
  require(s.convolution == convolution_kind::recursion || s.discretisation == discretisation_kind::paper,
          "perfusion: direct and block-fft convolve as the paper does; they need its discretisation");
  require(s.discretisation == discretisation_kind::exact || model.is_washout,
          "perfusion: the paper's discretisation is for models with one exponential");
  require(s.convolution == convolution_kind::recursion || model.inputs == 2,
          "perfusion: direct and block-fft are for models with two inputs");
  require(s.discretisation == discretisation_kind::exact || t.spacing_s() > 0,
          "perfusion: the paper's discretisation needs evenly spaced frames");
  require(
      s.precision == precision_kind::float64 || (s.convolution == convolution_kind::recursion && t.spacing_s() > 0 &&
                                                 (s.solver == solver_kind::simplex || s.solver == solver_kind::lm)),
      "perfusion: single precision is for the simplex and lm by recursion on evenly spaced frames");
  require(s.solver != solver_kind::linear || s.starts == 0, "perfusion: the linear fit has no start");
  for (std::size_t i = 0; i < s.rules.size(); ++i)
    require(s.solver != solver_kind::linear || !model.is_delay(i) || s.rules[i].fixed,
            "perfusion: the linear fit takes the delays as given; fix both");
}

}  // namespace

fit_settings standard_settings(solver_kind solver, const model_info& model) {
  fit_settings s(model);
  s.solver = solver;
  if (solver == solver_kind::simplex) {
    s.starts = 0;
    s.bounded = false;
  } else if (solver == solver_kind::linear) {
    s.starts = 0;
    s.bounded = false;
    for (std::size_t i = 0; i < s.rules.size(); ++i)
      if (model.is_delay(i)) s.rules[i].start = 0, s.rules[i].fixed = true;
  } else {
    s.max_iterations = 100;
    s.absolute_tolerance = 0;
    s.relative_tolerance = 1e-5;
  }
  return s;
}

void check_fit(const time_course& frames, const fit_settings& settings) {
  check_frames(frames, settings);
  check_settings(frames, settings);
  if (settings.convolution == convolution_kind::block_fft) (void)block_fft_shape_of(static_cast<int>(frames.frames()));
}

std::unique_ptr<fitter> make_fitter(const device& d, const time_course& frames, const conversion& convert,
                                    const fit_settings& settings) {
  check_fit(frames, settings);
  return d.kind == backend::cuda ? make_fitter_cuda(frames, convert, settings)
                                 : make_fitter_cpu(d, frames, convert, settings);
}

std::size_t device_bytes_per_voxel(std::size_t frames, const conversion& convert, const fit_settings& settings) {
  const int starts = settings.starts > 0 ? settings.starts : 1;
  const std::size_t row = frames + static_cast<std::size_t>(convert.extras());
  std::size_t result = 0;
  for (const output& o : settings.model->outputs) result += o.bytes_per_item();
  return row * sizeof(float) + fit_arrays::floats_per_voxel(static_cast<int>(frames)) * sizeof(float) +
         fit_arrays::doubles_per_voxel(starts, settings.rules.size()) * sizeof(double) +
         static_cast<std::size_t>(starts) * 5 + 1 + result;
}

}  // namespace voxherd::perfusion
