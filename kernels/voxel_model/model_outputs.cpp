#include "kernels/voxel_model/model_outputs.hpp"

namespace voxherd::voxel_model {

bool has_sigma(const settings& s) { return s.noise == noise_model::rician; }
bool is_sampled(const settings& s) { return s.samples > 0; }
bool has_sigma_samples(const settings& s) { return s.samples_tau() && s.samples > 0; }
bool is_never(const settings&) { return false; }
std::vector<std::uint64_t> samples_shape(const settings& s) { return {static_cast<std::uint64_t>(s.samples)}; }

}  // namespace voxherd::voxel_model
