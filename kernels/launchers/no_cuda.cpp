#include "kernels/device/no_cuda.hpp"

#include <utility>

#include "kernels/ballstick/ballstick.hpp"
#include "kernels/connect/solver.hpp"
#include "kernels/device/held_memory.hpp"
#include "kernels/geodesic/pair_work.hpp"
#include "kernels/geodesic/trace_job.hpp"
#include "kernels/noddi/watson_model.hpp"
#include "kernels/perfusion/perfusion.hpp"
#include "kernels/tensor/bootstrap.hpp"
#include "kernels/tensor_field/field.hpp"
#include "kernels/track/tracker.hpp"
#include "kernels/voxel_model/model_estimator.hpp"

// What .cu files define, for a build without CUDA. It is compiled in every build: qualified names must match their
// declarations.

bool voxherd::built_with_cuda() { return false; }

std::vector<voxherd::gpu> voxherd::visible_gpus(std::string* why_none) {
  if (why_none) *why_none = "this program was built without CUDA; rebuild with -DVOXHERD_CUDA=ON (needs nvcc)";
  return {};
}

void voxherd::use_device(const device&) {}

std::size_t voxherd::free_device_bytes(const device&) { return 0; }

std::size_t voxherd::peak_device_bytes() { return 0; }

voxherd::host_buffer::host_buffer(const device&, std::size_t bytes) : data_(new std::byte[bytes]), bytes_(bytes) {}

voxherd::host_buffer::~host_buffer() { delete[] data_; }

voxherd::host_buffer::host_buffer(host_buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

voxherd::host_buffer& voxherd::host_buffer::operator=(host_buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

std::shared_ptr<void> voxherd::hold_device_memory(std::size_t) { refuse_cuda("hold_device_memory"); }

std::unique_ptr<voxherd::tensor_bootstrap> voxherd::make_tensor_bootstrap_cuda(const gradient_table&,
                                                                               const bootstrap_settings&,
                                                                               std::span<const std::uint64_t>,
                                                                               std::span<const float>) {
  refuse_cuda("bootstrap");
}

std::unique_ptr<voxherd::tensor_field::field> voxherd::tensor_field::make_field_cuda(const tensor_image&,
                                                                                     std::span<const std::uint32_t>,
                                                                                     const prepare::recipe&) {
  refuse_cuda("tensor_field");
}

std::unique_ptr<voxherd::tensor_field::field> voxherd::tensor_field::make_quartic_field_cuda(
    const tensor_image&, std::span<const float>, std::span<const std::uint32_t>, const prepare::recipe&) {
  refuse_cuda("tensor_field");
}

std::unique_ptr<voxherd::tensor_field::field_maker> voxherd::tensor_field::make_field_maker_cuda(const device&,
                                                                                                 const tensor_image&,
                                                                                                 const preparation&) {
  refuse_cuda("tensor_field");
}

void voxherd::tensor_field::copy_from_gpu(void*, const void*, std::size_t) { refuse_cuda("tensor_field"); }

template <>
voxherd::voxel_model::estimator_of<voxherd::ballstick_model> voxherd::voxel_model::make_cuda_estimator(
    const ballstick_model&, const gradient_table&, bool, const ballstick::output_settings&) {
  refuse_cuda("ballstick");
}

template <>
voxherd::voxel_model::estimator_of<voxherd::watson_model> voxherd::voxel_model::make_cuda_estimator(
    const watson_model&, const gradient_table&, bool, const settings&) {
  refuse_cuda("noddi");
}

template <>
voxherd::voxel_model::estimator_of<voxherd::watson_dot_model> voxherd::voxel_model::make_cuda_estimator(
    const watson_dot_model&, const gradient_table&, bool, const settings&) {
  refuse_cuda("noddi");
}

std::unique_ptr<voxherd::track::tracker> voxherd::track::make_tracker_cuda(const track_input&) { refuse_cuda("track"); }

std::unique_ptr<voxherd::geodesic::tracker> voxherd::geodesic::make_tracker_cuda(const field&, std::span<const seed>,
                                                                                 const ray_settings&) {
  refuse_cuda("geodesic");
}

std::vector<std::uint32_t> voxherd::geodesic::ranked_cuda(const candidates&) { refuse_cuda("geodesic"); }

void voxherd::geodesic::summarise_cuda(const candidates&, std::span<const std::uint32_t>, std::span<const pair_range>,
                                       std::span<pair_summary>) {
  refuse_cuda("geodesic");
}

voxherd::geodesic::picks voxherd::geodesic::distinct_cuda(std::span<const float>, std::span<const pair_range>,
                                                          std::uint32_t, double) {
  refuse_cuda("geodesic");
}

std::unique_ptr<voxherd::connect::solver> voxherd::connect::make_solver_cuda(const device&, solver_parts&&,
                                                                             std::span<const float>) {
  refuse_cuda("connect");
}

std::unique_ptr<voxherd::perfusion::fitter> voxherd::perfusion::make_fitter_cuda(const time_course&, const conversion&,
                                                                                 const fit_settings&) {
  refuse_cuda("perfusion");
}
