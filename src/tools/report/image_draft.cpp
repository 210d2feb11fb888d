#include "src/tools/report/image_draft.hpp"

#include <algorithm>
#include <filesystem>

namespace voxherd::report {

const output_spec* image_draft::find(const std::string& name) const {
  const auto found = std::find_if(maps_.begin(), maps_.end(), [&](const auto& m) { return m.first.name == name; });
  return found == maps_.end() ? nullptr : &found->first;
}

std::vector<output_spec> image_draft::outputs() const {
  std::vector<output_spec> all;
  for (const auto& [o, values] : maps_) all.push_back(o);
  return all;
}

std::vector<float> image_draft::read_map(const std::string& name) const {
  const auto found = std::find_if(maps_.begin(), maps_.end(), [&](const auto& m) { return m.first.name == name; });
  return found == maps_.end() ? std::vector<float>() : found->second;
}

void image_draft::add(std::string name, std::size_t width, std::string unit, std::string meaning,
                      std::vector<float> values) {
  output_spec o{std::move(name), element_type::float32, {}, output_layout::volume, std::move(unit), std::move(meaning)};
  if (width > 1) o.shape = {width};
  maps_.emplace_back(std::move(o), std::move(values));
}

void image_draft::show(std::vector<std::uint64_t> inside) {
  voxels = inside;
  fitted = std::move(inside);
  slices = plan_mosaic(view, voxels, max_slices);
}

bool is_image(const std::string& path) { return path.ends_with(".nii") || path.ends_with(".nii.gz"); }

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

}  // namespace voxherd::report
