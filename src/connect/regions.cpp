#include "src/connect/regions.hpp"

#include <fmt/core.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "src/connect/region_names.hpp"
#include "src/input/fingerprint.hpp"
#include "src/input/grid_space.hpp"
#include "src/input/input_file.hpp"
#include "src/input/label_image.hpp"

namespace voxherd {

namespace {

[[noreturn]] void refuse(const std::string& message) { throw failure(exit_status::bad_data, message); }

/// Where fronts may pass.
void find_voxels(const tensor_source& tensors, connect_inputs& in) {
  in.inside = tensors.image.inside;
  if (!in.options.within.empty()) {
    const std::string& path = in.options.within;
    const label_image mask = read_labels(path, tensors.grid, label_kind::mask);
    std::size_t without = 0;
    for (std::size_t v = 0; v < in.inside.size(); ++v) {
      without += mask.label[v] > 0 && in.inside[v] == 0 ? 1 : 0;
      in.inside[v] = mask.label[v] > 0 ? in.inside[v] : 0;
    }
    if (without > 0) spdlog::warn("{}: {} of its voxels have no tensor; left out", printable(path), without);
    in.provenance["within"] = fingerprint(path);
  }
  for (std::uint64_t v = 0; v < in.inside.size(); ++v)
    if (in.inside[v] != 0) in.voxels.push_back(v);
  if (in.voxels.empty())
    refuse(fmt::format("{}: no voxel of --within has a tensor; is it of this subject?", printable(in.options.within)));
}

/// The numbers of those of `image_voxels` that fronts may pass.
std::vector<std::uint32_t> numbers_of(const std::vector<std::uint64_t>& image_voxels, const connect_inputs& in) {
  std::vector<std::uint32_t> numbers;
  auto at = in.voxels.begin();
  for (const std::uint64_t v : image_voxels) {
    at = std::lower_bound(at, in.voxels.end(), v);
    if (at != in.voxels.end() && *at == v) numbers.push_back(static_cast<std::uint32_t>(at - in.voxels.begin()));
  }
  return numbers;
}

void add_region(std::int32_t label, const std::vector<std::uint32_t>& voxels, connect_inputs& in) {
  in.labels.push_back(label);
  in.regions.voxels.insert(in.regions.voxels.end(), voxels.begin(), voxels.end());
  in.regions.offsets.push_back(in.regions.voxels.size());
}

std::uint64_t voxel_at(const std::array<double, 3>& point_mm, const char* side, const image_grid& grid) {
  const auto index = grid_space(grid).to_index(point_mm);
  std::array<std::uint64_t, 3> nearest{};
  for (std::size_t d = 0; d < 3; ++d) {
    const double at = std::round(index[d]);
    if (!(at >= 0 && at < static_cast<double>(grid.size[d])))
      refuse(
          fmt::format("--{}-point {},{},{}: lies outside the image (voxel {:.1f}, {:.1f}, {:.1f} of {} x {} x {}); "
                      "is it in world mm (RAS+)?",
                      side, point_mm[0], point_mm[1], point_mm[2], index[0], index[1], index[2], grid.size[0],
                      grid.size[1], grid.size[2]));
    nearest[d] = static_cast<std::uint64_t>(at);
  }
  return nearest[0] + grid.size[0] * (nearest[1] + grid.size[1] * nearest[2]);
}

void read_end(const end_choice& end, const std::string& side, std::int32_t number, connect_inputs& in) {
  const char* passable = in.options.within.empty() ? "where there is a tensor" : "inside --within with a tensor";
  if (end.file.empty()) {
    const auto voxels = numbers_of({voxel_at(end.point_mm, side.c_str(), in.grid)}, in);
    if (voxels.empty())
      refuse(fmt::format("--{}-point {},{},{}: its voxel is not {}; is it in world mm (RAS+), and of this subject?",
                         side, end.point_mm[0], end.point_mm[1], end.point_mm[2], passable));
    return add_region(number, voxels, in);
  }
  const label_image image = read_labels(end.file, in.grid, end.labels.empty() ? label_kind::mask : label_kind::labels);
  check_labels(image, end.labels, (side + "-labels").c_str());
  in.provenance[side] = fingerprint(end.file);
  const auto all = image.voxels_with(end.labels);
  const auto voxels = numbers_of(all, in);
  if (voxels.empty())
    refuse(
        fmt::format("--{} {}: none of its {} voxels is {}; give a mask that reaches into it, or a wider one for the "
                    "paths",
                    side, printable(end.file), all.size(), passable));
  spdlog::info("--{}: {} voxels, {} of them {}", side, all.size(), voxels.size(), passable);
  add_region(number, voxels, in);
}

void check_ends_apart(const connect_inputs& in) {
  const auto middle = in.regions.voxels.begin() + static_cast<std::ptrdiff_t>(in.regions.offsets[1]);
  std::vector<std::uint32_t> shared;
  std::set_intersection(in.regions.voxels.begin(), middle, middle, in.regions.voxels.end(), std::back_inserter(shared));
  if (!shared.empty())
    refuse(
        fmt::format("--from and --to share {} voxels: there is no way between them; give regions apart from each "
                    "other",
                    shared.size()));
}

void read_parcellation(connect_inputs& in) {
  const std::string& path = in.options.parcellation;
  const label_image image = read_labels(path, in.grid, label_kind::labels);
  check_labels(image, in.options.labels, "labels");
  in.provenance["connectome"] = fingerprint(path);
  const auto& labels = in.options.labels.empty() ? image.values : in.options.labels;
  constexpr std::size_t most_regions = 4096;
  if (labels.size() > most_regions || labels.size() < 2)
    refuse(fmt::format("{}: {} regions, expected 2 to {}; choose some with --labels", printable(path), labels.size(),
                       most_regions));
  std::vector<std::vector<std::uint32_t>> voxels(labels.size());
  for (std::uint32_t n = 0; n < in.voxels.size(); ++n) {
    const auto at = std::lower_bound(labels.begin(), labels.end(), image.label[in.voxels[n]]);
    if (at != labels.end() && *at == image.label[in.voxels[n]])
      voxels[static_cast<std::size_t>(at - labels.begin())].push_back(n);
  }
  std::vector<std::int32_t> without;
  for (std::size_t r = 0; r < labels.size(); ++r) {
    add_region(labels[r], voxels[r], in);
    if (voxels[r].empty()) without.push_back(labels[r]);
  }
  if (without.size() == labels.size())
    refuse(
        fmt::format("{}: none of its {} regions has a voxel where fronts may pass; is it of this subject, and does "
                    "{} reach into the regions?",
                    printable(path), labels.size(), in.options.within.empty() ? "the mask" : "--within"));
  if (!without.empty())
    spdlog::warn("{}: {} of {} regions have no voxel where fronts may pass; their costs are infinite: {}",
                 printable(path), without.size(), labels.size(), fmt::join(without, ", "));
}

}  // namespace

void read_connect_regions(const tensor_source& tensors, connect_inputs& in) {
  find_voxels(tensors, in);
  if (!in.options.connectome) {
    read_end(in.options.from, "from", 1, in);
    read_end(in.options.to, "to", 2, in);
    return check_ends_apart(in);
  }
  read_parcellation(in);
  if (in.options.region_names.empty()) return;
  in.names = read_region_names(in.options.region_names, in.labels);
  in.provenance["region-names"] = fingerprint(in.options.region_names);
}

}  // namespace voxherd
