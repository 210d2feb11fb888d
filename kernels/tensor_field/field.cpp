#include "kernels/tensor_field/field.hpp"

#include <cstring>
#include <stdexcept>
#include <string>

#include "kernels/tensor_field/finsler4.hpp"
#include "kernels/tensor_field/prepare_recipe.hpp"

namespace voxherd::tensor_field {

namespace {

void copy_to_host(const field& f, void* to, const void* from, std::size_t bytes) {
  if (f.where.kind == backend::cuda)
    copy_from_gpu(to, from, bytes);
  else
    std::memcpy(to, from, bytes);
}

template <class T>
std::vector<T> in_host_memory(const field& f, const T* from, std::size_t of_a_voxel) {
  const field_view v = f.view();
  const auto size = [&](int k) { return static_cast<std::size_t>(v.size[k]); };
  std::vector<T> to(size(0) * size(1) * size(2) * of_a_voxel);
  copy_to_host(f, to.data(), from, to.size() * sizeof(T));
  return to;
}

}  // namespace

std::unique_ptr<field> make_field(const device& d, const tensor_image& image, std::span<const std::uint32_t> regions,
                                  const preparation& settings, field_kind kind, bool spline) {
  if (kind == field_kind::quartic)
    throw std::invalid_argument("make_field: a quartic field cannot be made from tensors");
  const prepare::recipe r = prepare::make_recipe(image, settings, kind, spline);
  if (!regions.empty() && regions.size() != image.inside.size())
    throw std::invalid_argument("make_field: the regions do not have the image's number of voxels");
  auto made = d.kind == backend::cuda ? make_field_cuda(image, regions, r) : make_field_cpu(d, image, regions, r);
  made->where = d;
  made->kind = kind;
  made->spline = spline;
  made->scale = r.scale;
  return made;
}

std::unique_ptr<field> make_quartic_field(const device& d, const tensor_image& image, std::span<const float> quartics,
                                          std::span<const std::uint32_t> regions, const preparation& settings,
                                          bool spline) {
  const prepare::recipe r = prepare::make_recipe(image, settings, field_kind::quartic, spline);
  const auto refuse = [](const char* why) { throw std::invalid_argument(std::string("make_quartic_field: ") + why); };
  if (settings.metric != metric_kind::inverse && settings.metric != metric_kind::adjugate)
    refuse("a fourth-order norm has no power; expected metric inverse or adjugate");
  if (settings.smoothing_voxels > 0) refuse("a fourth-order norm cannot be smoothed");
  if (!regions.empty() && regions.size() != image.inside.size())
    refuse("the regions do not have the image's number of voxels");
  if (quartics.size() != quartic_size * image.inside.size())
    refuse("the quartics do not have the image's number of voxels");
  auto made = d.kind == backend::cuda ? make_quartic_field_cuda(image, quartics, regions, r)
                                      : make_quartic_field_cpu(d, image, quartics, regions, r);
  made->where = d;
  made->kind = field_kind::quartic;
  made->spline = spline;
  made->scale = r.scale;
  return made;
}

std::unique_ptr<field_maker> make_field_maker(const device& d, const tensor_image& grid, const preparation& settings) {
  return d.kind == backend::cuda ? make_field_maker_cuda(d, grid, settings) : make_field_maker_cpu(d, grid, settings);
}

std::array<float, 6> host_tensor(const field& f, std::size_t voxel) {
  std::array<float, 6> six;
  copy_to_host(f, six.data(), f.view().values + static_cast<std::size_t>(field_floats(f.kind)) * voxel, sizeof six);
  return six;
}

std::vector<float> host_values(const field& f) {
  return in_host_memory(f, f.view().values, static_cast<std::size_t>(field_floats(f.kind)));
}

std::vector<voxel_facts> host_facts(const field& f) { return in_host_memory(f, f.view().facts, 1); }

}  // namespace voxherd::tensor_field
