#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/device.hpp"
#include "kernels/ballstick/posterior_outputs.hpp"
#include "kernels/portable/gradient_table.hpp"
#include "kernels/voxel_model/model_estimator.hpp"

namespace voxherd {

/// Ball & stick as a model of the engine in kernels/voxel_model: all stages are its own.
struct ballstick_model {
  using outputs = ballstick::posterior_outputs;
  /// A voxel with more than 144 measurements uses a complete warp, so that half as many voxels fill a GPU.
  static std::uint64_t last_items_per_batch(std::size_t measurements) { return measurements > 144 ? 2048 : 4096; }
};

namespace ballstick {

/// Outputs for these settings, with the names of fibres and parameters in their meanings.
std::vector<output_spec> list_outputs(const output_settings& s);

using estimator = voxel_model::estimator<posterior_outputs>;

/// After use_device(d). Throws device_error for a GPU without CUDA, std::invalid_argument for settings out of range.
std::unique_ptr<estimator> make_estimator(const device& d, const gradient_table& gradients, const settings& s,
                                          bool gradient_deviation);

/// These settings for another number of fibres, without the relevance prior.
settings settings_with_fibres(const settings& s, int fibres);

/// Samples each voxel with 1, 2, ... s.fibres fibres. Keeps the results of the number with the largest mean log
/// likelihood of its samples after subtracting s.gain_per_fibre for each fibre; outputs of further fibres are zero.
/// All numbers are compared, because a second fibre may gain little where there are three. `make`: an estimator with a
/// fixed number of fibres.
///
/// The log evidence is the posterior mean of the log likelihood minus the divergence of the posterior from the prior.
/// The mean already penalises each parameter by about half a unit (p_D / 2 of Spiegelhalter et al., J R Stat Soc B
/// 64:583, 2002); the threshold stands for the change of the divergence.
std::unique_ptr<estimator> make_gain_estimator(const settings& s,
                                               const std::function<std::unique_ptr<estimator>(const settings&)>& make);

/// Device memory that one voxel of a batch takes.
std::size_t device_bytes_per_voxel(const settings& s, std::size_t measurements, bool gradient_deviation);

}  // namespace ballstick

namespace voxel_model {

template <>
inline std::vector<output_spec> list_outputs<ballstick_model>(const ballstick::output_settings& s) {
  return ballstick::list_outputs(s);
}
template <>
inline std::size_t device_bytes_per_voxel<ballstick_model>(const ballstick::output_settings& s,
                                                           std::size_t measurements, bool deviates) {
  return ballstick::device_bytes_per_voxel(s.chain, measurements, deviates);
}
/// Also of --fibre-odds.
template <>
inline estimator_of<ballstick_model> make_estimator(const device& d, const ballstick_model&,
                                                    const gradient_table& gradients, bool deviates,
                                                    const ballstick::output_settings& s) {
  return ballstick::make_estimator(d, gradients, s.chain, deviates);
}

}  // namespace voxel_model

}  // namespace voxherd
