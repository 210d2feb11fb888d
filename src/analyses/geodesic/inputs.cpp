#include "src/analyses/geodesic/inputs.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/text.hpp"
#include "kernels/tensor_field/field.hpp"
#include "src/analyses/geodesic/seeding.hpp"
#include "src/io/fingerprint.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/region_names.hpp"
#include "src/scan/tensor_file.hpp"
#include "src/scan/white_matter.hpp"

namespace voxherd {

namespace {

namespace region = tensor_field::region;

/// A target that no tensor touches cannot be reached.
void log_targets(const region_words& words, const std::string& path) {
  const std::size_t count = words.target_labels().size();
  std::vector<char> reachable(count + 1, 0);
  std::uint64_t voxels = 0, beyond = 0;
  for (const std::uint32_t w : words.words()) {
    const std::uint32_t number = w >> region::target_shift;
    if (number == 0) continue;
    ++voxels;
    beyond += (w & region::inside) == 0 ? 1 : 0;
    if ((w & region::inside) != 0) reachable[number] = 1;
  }
  const auto never = count - static_cast<std::size_t>(std::count(reachable.begin(), reachable.end(), 1));
  spdlog::info(
      "{}: {} in {}; {} of the voxels without a tensor, {} of the regions without a "
      "voxel that has one",
      path, counted(count, "target region"), counted(voxels, "voxel"), beyond, never);
}

}  // namespace

region_words::region_words(const std::vector<std::uint8_t>& inside) : words_(inside.size()) {
  for (std::size_t v = 0; v < inside.size(); ++v) words_[v] = inside[v] != 0 ? region::inside : 0;
}

void region_words::exclude(std::span<const std::uint64_t> voxels) {
  for (const std::uint64_t v : voxels) words_[v] |= region::exclude;
}

void region_words::include(int number, std::span<const std::uint64_t> voxels) {
  for (const std::uint64_t v : voxels) words_[v] |= region::first_include << number;
}

void region_words::targets(const label_image& image, const std::vector<std::int32_t>& wanted) {
  const std::vector<std::int32_t>& labels = wanted.empty() ? image.values : wanted;
  if (labels.size() > static_cast<std::size_t>(region::max_targets))
    refuse_data("{}: has {} labels, expected at most {}; choose some with --target-labels", image.path, labels.size(),
                region::max_targets);
  target_labels_.assign(labels.begin(), labels.end());
  names_ = image.names;
  for (std::size_t v = 0; v < words_.size(); ++v) {
    const auto at = std::lower_bound(labels.begin(), labels.end(), image.label[v]);
    if (at == labels.end() || *at != image.label[v]) continue;
    words_[v] |= static_cast<std::uint32_t>(at - labels.begin() + 1) << region::target_shift;
  }
}

region_words read_regions(const region_request& request, const tensor_source& tensors, region_reader& reader,
                          nlohmann::json& provenance) {
  const auto read_mask = [&](const std::string& path, nlohmann::json& input) {
    return counted_voxels(reader.read(path, label_kind::mask, input), input);
  };
  const double min_FA = request.within_FA.value_or(0);
  region_words words(min_FA > 0 ? keep_white_matter(tensors.image, min_FA) : tensors.image.inside);
  int number = 0;
  for (const std::string& path : request.excludes) {
    nlohmann::json& input = provenance[fmt::format("exclude {}", ++number)] = fingerprint(path);
    words.exclude(read_mask(path, input));
  }
  number = 0;
  for (const std::string& path : request.includes) {
    nlohmann::json& input = provenance[fmt::format("include {}", number + 1)] = fingerprint(path);
    words.include(number++, read_mask(path, input));
  }
  const bool connectome = !request.connectome.empty();
  const std::vector<std::string> paths = connectome ? request.connectome : std::vector{request.targets};
  if (paths.front().empty()) return words;
  const char* option = connectome ? "connectome" : "targets";
  label_image image = reader.read_parcellation(paths, option, provenance);
  if (paths.size() == 1) keep_named_regions(request.region_names, request.target_labels, image);
  check_labels(image, request.target_labels, "target-labels");
  words.targets(image, request.target_labels);
  if (paths.size() == 1) provenance[option]["voxels"] = image.voxels_with(request.target_labels).size();
  log_targets(words, image.path);
  return words;
}

namespace {

/// Settings that change the result, with the values in effect, under the options' names.
nlohmann::json make_configuration(geodesic_request request, const ray_request& complete_rays,
                                  const std::optional<mesh_space>& meshes) {
  request.rays = complete_rays;
  request.regions.surfaces.meshes = meshes;
  nlohmann::json c = nlohmann::json::object();
  add_stored(geodesic_options(), request, c);
  c["connectome"] = request.is_connectome();
  return c;
}

seeding_settings make_seeding(const geodesic_request& request) {
  return {request.seeding.kind, request.seeding.per_voxel, request.rays.random_seed, request.seeding.labels};
}

/// Names of the matrices' rows: of the targets, after that of the seeds if they are a row.
std::vector<std::string> name_rows(const std::string& path, const region_words& regions, bool has_seeds,
                                   nlohmann::json& provenance) {
  const std::vector<std::int64_t>& labels = regions.target_labels();
  std::vector<std::string> names;
  if (!path.empty()) {
    names = read_region_names(path, {labels.begin(), labels.end()});
    provenance["region-names"] = fingerprint(path);
  } else {
    names = names_of({labels.begin(), labels.end()}, regions.names());
  }
  if (has_seeds) names.insert(names.begin(), "seeds");
  return names;
}

/// Leaves out seeds that --within-fa excludes.
void keep_seeds_inside(const image_grid& grid, ray_places& in) {
  const std::size_t all = in.seeds.size();
  std::erase_if(in.seeds, [&](const geodesic::seed& seed) {
    const auto voxel = find_voxel(grid, {seed.voxel[0], seed.voxel[1], seed.voxel[2]});
    return !voxel || (in.regions[*voxel] & region::inside) == 0;
  });
  if (in.seeds.empty()) refuse_data("--within-fa: none of {} seeds is in white matter", all);
  if (in.seeds.size() < all)
    spdlog::info("{} of {} seeds are outside white matter; ignored", all - in.seeds.size(), all);
}

/// Reads seeds and regions, by one process.
ray_places read_ray_places(const geodesic_request& request, bool has_seed_row, const tensor_source& tensors) {
  ray_places in;
  in.provenance = tensors.provenance;
  region_reader reader(request.regions.surfaces, tensors.grid, in.provenance.value("image", nlohmann::json()));
  std::vector<std::string> files = request.regions.connectome;
  files.insert(files.begin(), {request.seeding.image, request.regions.targets});
  reader.match_values(files, in.provenance);
  const region_words regions = read_regions(request.regions, tensors, reader, in.provenance);
  in.regions = regions.words();
  in.target_labels = regions.target_labels();
  if (!request.regions.region_names.empty() || !regions.names().empty())
    in.names = name_rows(request.regions.region_names, regions, has_seed_row, in.provenance);
  in.seeds =
      read_seeds(request.seeding.points, request.seeding.image, make_seeding(request), tensors, reader, in.provenance);
  in.meshes = reader.used_meshes();
  if (request.regions.within_FA.value_or(0) > 0) keep_seeds_inside(tensors.grid, in);
  return in;
}

}  // namespace

geodesic_inputs read_geodesic_inputs(const session& s, const geodesic_request& request, const device_chooser& choose) {
  ray_request rays = geodesic_options().complete(request).rays;
  const auto choose_suitable = [&] {
    const device d = choose();
    check_device(rays, d.kind);
    return d;
  };
  tensor_source tensors = read_tensor_source(s, request.tensors, request.run.host_memory_bytes(), choose_suitable,
                                             {rays.form == geodesic::ray_form::finsler4, false});
  s.note_stage("tensors read");
  geodesic_inputs in;
  static_cast<ray_places&>(in) = s.from_root([&] { return read_ray_places(request, !*rays.two_way, tensors); });
  fill_in_lengths(tensors.grid, rays);
  const ray_choice choice = make_ray_choice(rays);
  in.grid = tensors.grid;
  in.image = std::move(tensors.image);
  in.quartics = std::move(tensors.quartics);
  in.rays = choice.rays;
  in.rays.includes = static_cast<std::uint32_t>(request.regions.includes.size());
  in.rays.ordered = request.regions.ordered;
  in.rays.targets = !in.target_labels.empty();
  in.how = choice.how;
  in.selection = choice.selection;
  in.connectome = request.is_connectome();
  in.configuration = make_configuration(request, rays, in.meshes);
  if (!in.names.empty()) in.configuration["region-names"] = in.names;
  spdlog::info("{} with {} each: {}", counted(in.seeds.size(), "seed"),
               counted(in.rays.directions_per_seed, "direction"),
               counted(in.seeds.size() * in.rays.directions_per_seed, "path"));
  return in;
}

std::unique_ptr<tensor_field::field> prepare_field(const session& s, const geodesic_inputs& inputs, const device& d) {
  std::unique_ptr<tensor_field::field> field;
  s.agree([&] {
    use_device(d);
    const bool spline = inputs.rays.reading == geodesic::interpolation::bspline;
    const tensor_field::field_kind kind = field_for(inputs.rays.form);
    field = kind == tensor_field::field_kind::quartic
                ? tensor_field::make_quartic_field(d, inputs.image, inputs.quartics, inputs.regions, inputs.how, spline)
                : make_field(d, inputs.image, inputs.regions, inputs.how, kind, spline);
  });
  warn_repaired(field->repaired, inputs.image, inputs.how.min_eigenvalue, "--max-ratio");
  return field;
}

}  // namespace voxherd
