#include "src/analyses/connect/inputs.hpp"

#include <fmt/core.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/text.hpp"
#include "src/io/fingerprint.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/label_image.hpp"
#include "src/scan/region_names.hpp"
#include "src/scan/region_reader.hpp"
#include "src/scan/white_matter.hpp"

namespace voxherd {

namespace {

/// The region that each passable voxel represents: its own, or if it has none the most frequent region (in a tie the
/// first) among its six neighbours where fronts may not pass. So a grey matter region is entered from the white matter
/// at the border of `inside`. `region`: (nz, ny, nx), 0 for none.
std::vector<std::int32_t> regions_of_voxels(const std::vector<std::int32_t>& region, const connect_inputs& in) {
  const auto& size = in.grid.size;
  const std::array<std::uint64_t, 3> stride{1, size[0], size[0] * size[1]};
  std::vector<std::int32_t> own(in.voxels.size());
  for (std::size_t n = 0; n < own.size(); ++n) {
    const std::uint64_t v = in.voxels[n];
    own[n] = region[v];
    if (own[n] != 0) continue;
    std::map<std::int32_t, int> beside;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::uint64_t at = v / stride[d] % size[d];
      if (at > 0 && in.inside[v - stride[d]] == 0) ++beside[region[v - stride[d]]];
      if (at + 1 < size[d] && in.inside[v + stride[d]] == 0) ++beside[region[v + stride[d]]];
    }
    beside.erase(0);
    int most = 0;
    for (const auto& [number, count] : beside) {
      if (count > most) own[n] = number;
      most = std::max(most, count);
    }
  }
  return own;
}

/// Lists the voxels of regions 1 to labels.size(), and logs which have none.
std::vector<std::int32_t> add_regions(const std::vector<std::int32_t>& region, const std::vector<std::int32_t>& labels,
                                      connect_inputs& in) {
  const std::vector<std::int32_t> own = regions_of_voxels(region, in);
  std::vector<std::vector<std::uint32_t>> voxels(labels.size());
  std::uint64_t beside = 0;
  for (std::uint32_t n = 0; n < own.size(); ++n) {
    if (own[n] == 0) continue;
    voxels[static_cast<std::size_t>(own[n] - 1)].push_back(n);
    beside += region[in.voxels[n]] == 0 ? 1 : 0;
  }
  if (beside > 0)
    spdlog::info("where fronts may not pass, regions are represented by {} next to them", counted(beside, "voxel"));
  std::vector<std::int32_t> without;
  for (std::size_t r = 0; r < labels.size(); ++r) {
    in.regions.voxels.insert(in.regions.voxels.end(), voxels[r].begin(), voxels[r].end());
    in.regions.offsets.push_back(in.regions.voxels.size());
    if (voxels[r].empty()) without.push_back(labels[r]);
  }
  in.labels = labels;
  return without;
}

std::uint64_t voxel_at(const std::array<double, 3>& point_mm, const char* side, const image_grid& grid) {
  const auto index = grid_space(grid).to_index(point_mm);
  std::array<std::uint64_t, 3> nearest{};
  for (std::size_t d = 0; d < 3; ++d) {
    const double at = std::round(index[d]);
    if (!(at >= 0 && at < static_cast<double>(grid.size[d])))
      refuse_data(
          "--{}-point {},{},{}: is outside the image (voxel {:.1f}, {:.1f}, {:.1f} of {} x {} x {}); is it in world mm "
          "(RAS+)?",
          side, point_mm[0], point_mm[1], point_mm[2], index[0], index[1], index[2], grid.size[0], grid.size[1],
          grid.size[2]);
    nearest[d] = static_cast<std::uint64_t>(at);
  }
  return nearest[0] + grid.size[0] * (nearest[1] + grid.size[1] * nearest[2]);
}

void read_parcellation(region_reader& regions, connect_inputs& in) {
  label_image image = regions.read_parcellation(in.options.connectome, "connectome", in.provenance);
  if (in.options.connectome.size() == 1) keep_named_regions(in.options.region_names, in.options.labels, image);
  const std::string& path = image.path;
  check_labels(image, in.options.labels, "labels");
  if (in.options.connectome.size() == 1)
    in.provenance["connectome"]["voxels"] = image.voxels_with(in.options.labels).size();
  const auto& labels = in.options.labels.empty() ? image.values : in.options.labels;
  constexpr std::size_t max_regions = 4096;
  if (labels.size() > max_regions || labels.size() < 2)
    refuse_data("{}: {}, expected 2 to {}; choose some with --labels", path, counted(labels.size(), "region"),
                max_regions);
  std::vector<std::int32_t> region(image.label.size(), 0);
  for (std::size_t v = 0; v < region.size(); ++v) {
    if (image.label[v] == 0) continue;
    const auto at = std::lower_bound(labels.begin(), labels.end(), image.label[v]);
    if (at != labels.end() && *at == image.label[v]) region[v] = static_cast<std::int32_t>(at - labels.begin()) + 1;
  }
  in.names = names_of(labels, image.names);
  const std::vector<std::int32_t> without = add_regions(region, labels, in);
  if (without.size() == labels.size())
    refuse_data(
        "{}: none of its {} regions has a voxel where fronts may pass; does it belong to this subject, and does {} "
        "reach into the regions?",
        path, labels.size(), in.options.within.empty() ? "the mask" : "--within");
  if (!without.empty())
    spdlog::warn("{}: {} of {} without a voxel where fronts may pass, with infinite costs: {}", path, without.size(),
                 counted(labels.size(), "region"), fmt::join(without, ", "));
}

/// Where fronts may pass, in words.
std::string passable_words(const connect_inputs& in) {
  const std::string where = in.options.within.empty() ? "where there is a tensor" : "inside --within with a tensor";
  return in.options.has_min_FA() ? fmt::format("{} in white matter (--within-fa)", where) : where;
}

void list_passable_voxels(connect_inputs& in) {
  in.voxels.clear();
  for (std::uint64_t v = 0; v < in.inside.size(); ++v)
    if (in.inside[v] != 0) in.voxels.push_back(v);
}

}  // namespace

void find_passable_voxels(const tensor_source& tensors, connect_inputs& in) {
  in.inside = tensors.image.inside;
  if (!in.options.within.empty()) {
    const std::string& path = in.options.within;
    refuse_surface(path, "within");
    const label_image mask = read_labels(path, tensors.grid, label_kind::mask);
    std::size_t without = 0;
    for (std::size_t v = 0; v < in.inside.size(); ++v) {
      without += mask.label[v] > 0 && in.inside[v] == 0 ? 1 : 0;
      in.inside[v] = mask.label[v] > 0 ? in.inside[v] : 0;
    }
    if (without > 0) spdlog::warn("{}: {} of its voxels have no tensor; left out", path, without);
    in.provenance["within"] = fingerprint(path);
    in.provenance["within"]["voxels"] = mask.voxels_with({}).size();
  }
  list_passable_voxels(in);
  if (in.voxels.empty())
    refuse_data("{}: no voxel of --within has a tensor; does it belong to this subject?", in.options.within);
}

void leave_out_grey_matter(const tensor_field::tensor_image& image, connect_inputs& in) {
  if (!in.options.has_min_FA()) return;
  const std::vector<std::uint8_t> white = keep_white_matter(image, *in.options.within_FA);
  for (std::size_t v = 0; v < in.inside.size(); ++v) in.inside[v] = in.inside[v] != 0 ? white[v] : 0;
  list_passable_voxels(in);
  if (in.voxels.empty())
    refuse_data("{}: no voxel of --within is white matter; give a smaller --within-fa, or only the mask",
                in.options.within);
}

void set_ends(const std::vector<std::uint64_t>& from, const std::vector<std::uint64_t>& to, connect_inputs& in) {
  in.regions = {};
  std::vector<std::int32_t> region(in.inside.size(), 0);
  for (const std::uint64_t v : from) region[v] = 1;
  const auto shared = std::count_if(to.begin(), to.end(), [&](std::uint64_t v) { return region[v] == 1; });
  if (shared > 0)
    refuse_data("--from and --to share {} voxels: there is no path between them; give regions without common voxels",
                shared);
  for (const std::uint64_t v : to) region[v] = 2;
  for (const std::int32_t none : add_regions(region, {1, 2}, in))
    refuse_data("--{} {}: none of its {} voxels is {}, or next to such a voxel; give a larger region or a wider mask",
                none == 1 ? "from" : "to", none == 1 ? in.options.from : in.options.to,
                none == 1 ? from.size() : to.size(), passable_words(in));
  spdlog::info("from: {}, paths start in {} (in or next to the region, {}); to: {}, paths end in {}",
               counted(from.size(), "voxel"), in.regions.offsets[1], passable_words(in), counted(to.size(), "voxel"),
               in.regions.offsets[2] - in.regions.offsets[1]);
}

namespace {

/// The image's voxels of an end.
std::vector<std::uint64_t> read_end(end_side side, region_reader& regions, connect_inputs& in) {
  const std::string name = side == end_side::from ? "from" : "to";
  const end_choice end = choose_end(in.options, side);
  if (end.file.empty()) {
    const std::uint64_t voxel = voxel_at(end.point_mm, name.c_str(), in.grid);
    if (in.inside[voxel] == 0)
      refuse_data("--{}-point {},{},{}: its voxel is not {}; is it in world mm (RAS+), and of this subject?", name,
                  end.point_mm[0], end.point_mm[1], end.point_mm[2], passable_words(in));
    return {voxel};
  }
  nlohmann::json& input = in.provenance[name] = fingerprint(end.file);
  const label_image image = regions.read(end.file, end.labels.empty() ? label_kind::mask : label_kind::labels, input);
  check_labels(image, end.labels, (name + "-labels").c_str());
  std::vector<std::uint64_t> voxels = image.voxels_with(end.labels);
  input["voxels"] = voxels.size();
  return voxels;
}

}  // namespace

void read_connect_regions(const tensor_source& tensors, connect_inputs& in) {
  find_passable_voxels(tensors, in);
  leave_out_grey_matter(tensors.image, in);
  const connect_settings& o = in.options;
  region_reader regions(o.surfaces, in.grid, in.provenance.value("image", nlohmann::json()));
  std::vector<std::string> files = o.connectome;
  files.insert(files.end(), {o.from, o.to});
  regions.match_values(files, in.provenance);
  if (!o.is_connectome()) {
    const auto from = read_end(end_side::from, regions, in), to = read_end(end_side::to, regions, in);
    in.meshes = regions.used_meshes();
    return set_ends(from, to, in);
  }
  read_parcellation(regions, in);
  in.meshes = regions.used_meshes();
  if (in.options.region_names.empty()) return;
  in.names = read_region_names(in.options.region_names, in.labels);
  in.provenance["region-names"] = fingerprint(in.options.region_names);
}

double connect_inputs::voxel_mm3() const { return std::abs(determinant(grid_space(grid).axes_mm)); }

connect_inputs read_connect_inputs(const session& s, const connect_request& request, const device_chooser& choose) {
  connect_inputs in;
  in.options = make_connect_settings(request);
  tensor_source tensors = read_tensor_source(s, request.tensors, request.run.host_memory_bytes(), choose,
                                             {false, in.options.bootstrap > 0});
  s.note_stage("tensors read");
  in.grid = tensors.grid;
  in.provenance = tensors.provenance;
  s.on_root([&] { read_connect_regions(tensors, in); });
  s.broadcast(static_cast<connect_regions&>(in));
  in.options.surfaces.meshes = in.meshes;
  s.note_stage("regions read");
  in.image = std::move(tensors.image);
  in.signals = std::move(tensors.signals);
  in.configuration = nlohmann::json::object();
  add_stored(connect_options(), static_cast<const connect_request&>(in.options), in.configuration);
  in.configuration["paths"] = !request.paths.empty();
  if (!in.names.empty()) in.configuration["region-names"] = in.names;
  spdlog::info("{}, {} where fronts may pass", counted(in.labels.size(), "region"), counted(in.voxels.size(), "voxel"));
  return in;
}

}  // namespace voxherd
