#include "src/analyses/track/surface_masks.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/text.hpp"

namespace voxherd {

std::array<float, 3> to_float(const vector3& v) {
  return {static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
}

vector3 surface_masks::position(std::size_t vertex) const {
  const float* p = &all_.positions[3 * vertex];
  return {static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2])};
}

std::size_t surface_masks::find(const std::string& path) const {
  const auto known = std::find_if(files().begin(), files().end(), [&](const file& f) { return f.path == path; });
  return static_cast<std::size_t>(known - files().begin());
}

track::surface_input surface_masks::input() const {
  track::surface_input in{all_.cubes,     all_.cell_begin, all_.cell_triangles, all_.triangles,
                          all_.positions, all_.uses,       all_.targets,        {},
                          all_.one_corner};
  for (std::size_t d = 0; d < 3; ++d) {
    in.corner_reach[d] = static_cast<float>(all_.corner_reach[d]);
    in.voxel_mm[d] = static_cast<float>(corner_reach_mm / all_.corner_reach[d]);
  }
  return in;
}

nlohmann::json describe_list(const std::vector<std::string>& paths, const std::vector<std::uint64_t>& sizes,
                             const surface_masks& surfaces) {
  nlohmann::json list = nlohmann::json::array();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const bool is_surface = is_surface_mask(paths[i]);
    nlohmann::json entry = {{"file", one_line(std::filesystem::path(paths[i]).filename().string())},
                            {"kind", is_surface ? "surface" : "volume"},
                            {is_surface ? "vertices" : "voxels", sizes[i]}};
    if (is_surface) entry["structure"] = surfaces.files()[surfaces.find(paths[i])].structure;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace voxherd
