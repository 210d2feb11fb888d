#include "src/report/report_pages.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/program_build.hpp"
#include "core/text.hpp"
#include "kernels/portable/symmetric_eigen3.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/analyses/ballstick/views.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/image_checks.hpp"
#include "src/scan/mask.hpp"
#include "src/show/chart.hpp"
#include "src/show/pictures.hpp"

namespace voxherd::report {

namespace {

/// The path of an image in the folder; "" if there is none.
std::string image_path(const std::string& folder, const std::string& name) {
  for (const char* extension : {".nii.gz", ".nii"})
    if (const auto path = std::filesystem::path(folder) / (name + extension); std::filesystem::exists(path))
      return path.string();
  return "";
}

struct fsl_folder {
  std::string path;
  nifti_header reference;  ///< an image of directions, which are along its axes
  std::vector<std::uint64_t> inside;
  nlohmann::json inputs = nlohmann::json::object();

  std::string find(const std::string& name) const { return image_path(path, name); }

  nifti_header open(const std::string& file) {
    nifti_header header = read_nifti_header(file);
    bring_to_grid(header, reference, mask_rules::fsl);
    if (!header.order.is_as_stored())
      refuse_data(
          "{}: is stored in another order than {}, expected the same order in all images of a folder of bedpostX; copy "
          "the folder again",
          file, reference.path);
    inputs[std::filesystem::path(file).filename().string()] = find_fingerprint(file);
    return header;
  }

  /// All volumes of an image, component fastest; empty if the folder has no such image.
  std::vector<float> read(const std::string& name, std::size_t width) {
    const std::string file = find(name);
    if (file.empty()) return {};
    const nifti_header header = open(file);
    if (header.volumes != width) refuse_data("{}: has {}, expected {}", file, counted(header.volumes, "volume"), width);
    const std::size_t voxels = header.grid.voxel_count();
    std::vector<float> volume(voxels), all(voxels * width);
    nifti_reader reader(header);
    for (std::size_t k = 0; k < width; ++k) {
      reader.read(k, 0, voxels, volume.data());
      for (std::size_t v = 0; v < voxels; ++v) all[v * width + k] = volume[v];
    }
    return all;
  }
};

/// Means over samples of one fibre.
struct sample_means {
  std::vector<float> fraction, direction, dispersion;
};

/// Main axis of the mean dyadic tensor, and 1 minus its eigenvalue (Behrens et al. 2007).
void find_main_axes(const fsl_folder& f, const std::vector<std::array<float, 6>>& dyads, std::size_t samples,
                    sample_means& means) {
  for (std::size_t i = 0; i < f.inside.size(); ++i) {
    double m[6];
    for (int k = 0; k < 6; ++k)
      m[k] = static_cast<double>(dyads[i][static_cast<std::size_t>(k)]) / static_cast<double>(samples);
    const auto e = symmetric_eigen3(m[0], m[1], m[2], m[3], m[4], m[5]);
    const std::uint64_t v = f.inside[i];
    for (std::size_t a = 0; a < 3; ++a) means.direction[3 * v + a] = static_cast<float>(e.vector[0][a]);
    means.dispersion[v] = static_cast<float>(1 - e.value[0]);
  }
}

/// From merged_th, ph and f samples, for folders without FSL's own means.
sample_means average_samples(fsl_folder& f, int fibre) {
  const std::string theta = f.find(fmt::format("merged_th{}samples", fibre)),
                    phi = f.find(fmt::format("merged_ph{}samples", fibre)),
                    fraction = f.find(fmt::format("merged_f{}samples", fibre));
  if (theta.empty() || phi.empty() || fraction.empty()) return {};
  const std::size_t voxels = f.reference.grid.voxel_count();
  nifti_reader readers[3] = {nifti_reader(f.open(theta)), nifti_reader(f.open(phi)), nifti_reader(f.open(fraction))};
  const std::uint64_t samples = readers[0].header().volumes;
  for (const nifti_reader& r : readers)
    if (r.header().volumes != samples)
      refuse_data("{}: has {}, expected {}", r.header().path, counted(r.header().volumes, "volume"), samples);
  sample_means means{std::vector<float>(voxels), std::vector<float>(3 * voxels), std::vector<float>(voxels)};
  std::vector<std::array<float, 6>> dyads(f.inside.size());
  std::vector<float> volume[3];
  for (auto& one : volume) one.resize(voxels);
  for (std::uint64_t k = 0; k < samples; ++k) {
    for (std::size_t i = 0; i < 3; ++i) readers[i].read(k, 0, voxels, volume[i].data());
    for (std::size_t i = 0; i < f.inside.size(); ++i) {
      const std::uint64_t v = f.inside[i];
      const float t = volume[0][v], p = volume[1][v], x = std::sin(t) * std::cos(p), y = std::sin(t) * std::sin(p),
                  z = std::cos(t);
      const float products[6] = {x * x, x * y, x * z, y * y, y * z, z * z};
      for (std::size_t n = 0; n < 6; ++n) dyads[i][n] += products[n];
      means.fraction[v] += volume[2][v] / static_cast<float>(samples);
    }
  }
  find_main_axes(f, dyads, samples, means);
  return means;
}

void add_fibre(image_draft& d, fsl_folder& f, int fibre) {
  const std::string n = std::to_string(fibre);
  sample_means means{f.read("mean_f" + n + "samples", 1), f.read("dyads" + n, 3),
                     f.read("dyads" + n + "_dispersion", 1)};
  const bool has_means = !means.fraction.empty() && !means.direction.empty();
  if (!has_means) means = average_samples(f, fibre);
  if (means.fraction.empty()) return;
  d.add("mean_f" + n, 1, "1", "mean volume fraction of fibre " + n, std::move(means.fraction));
  d.add("dyads" + n, 3, "1", "mean direction of fibre " + n, std::move(means.direction));
  if (!means.dispersion.empty())
    d.add("dyads" + n + "_dispersion", 1, "1",
          "dispersion of the samples of fibre " + n + " around their mean direction", std::move(means.dispersion));
}

/// The sum of all fractions, which FSL stores only sometimes.
void add_sum(image_draft& d) {
  std::vector<float> sum(d.grid.voxel_count());
  for (int i = 1; d.find(fmt::format("mean_f{}", i)) != nullptr; ++i) {
    const map_values f = d.read_map(fmt::format("mean_f{}", i));
    for (std::size_t v = 0; v < sum.size(); ++v) sum[v] += f[v];
  }
  d.add("mean_fsum", 1, "1", "sum of the mean volume fractions", std::move(sum));
}

fsl_folder open_folder(const std::string& path) {
  fsl_folder f{path, {}, {}};
  const std::string mask = f.find("nodif_brain_mask");
  const bool has_means = !f.find("mean_f1samples").empty() && !f.find("dyads1").empty();
  if (mask.empty() || (!has_means && f.find("merged_th1samples").empty()))
    refuse_missing("{}: has no {}, expected a folder of bedpostX, a result or a scan", path,
                   mask.empty() ? "nodif_brain_mask.nii.gz" : "merged_th1samples.nii.gz");
  f.reference = read_nifti_header(f.find(has_means ? "dyads1" : "merged_th1samples"));
  f.inside = voxels_inside(mask, f.reference, mask_rules::fsl);
  return f;
}

void describe_folder(image_draft& d, const fsl_folder& f, int fibres) {
  const auto& grid = f.reference.grid;
  page& out = d.out;
  out.title = "voxherd report: " + std::filesystem::absolute(f.path).lexically_normal().filename().string();
  out.lead = "a folder of bedpostX: fibre orientations of the ball & stick model";
  out.facts_title = "Folder";
  out.facts = {"What was read", {}, {}};
  const auto add = [&](const char* name, const std::string& text) { out.facts.rows.push_back({name, text}); };
  add("folder", f.path);
  add("image",
      fmt::format("{} voxels of {:.4g} mm", fmt::join(grid.size, " × "), fmt::join(grid.voxel_size_mm, " × ")));
  add("mask", counted(f.inside.size(), "voxel"));
  add("fibres per voxel", std::to_string(fibres));
  add("voxherd", version);
  out.numbers["folder"] = f.path;
  out.numbers["voxherd_version"] = version;
  out.numbers["image"] = {{"size", grid.size}, {"voxel_size_mm", grid.voxel_size_mm}};
  out.numbers["items"] = f.inside.size();
  out.numbers["provenance"]["inputs"] = f.inputs;
}

void write_methods(image_draft& d, int fibres) {
  d.out.methods = fmt::format(
      "Fibre orientations were estimated with the ball & stick model with {} per voxel (Behrens et al. 2007) by "
      "bedpostX or a program with the same output; the pictures were made with {}.",
      counted(static_cast<std::uint64_t>(fibres), "fibre"), program_name());
  d.cite(
      "Behrens TEJ et al. Probabilistic diffusion tractography with multiple fibre orientations: what can we gain? "
      "NeuroImage 34:144-155, 2007.",
      "10.1016/j.neuroimage.2006.09.018");
}

}  // namespace

bool has_result_of_images(const std::string& folder, const std::string& result) {
  const std::string image = image_path(folder, "mean_f1samples");
  if (image.empty()) return true;
  const result_reader r(result);
  const nifti_header header = read_nifti_header(image);
  if (header.grid.size != r.grid().size || !r.has("mean_f1")) return false;
  const std::vector<float> map = r.read_map("mean_f1");
  std::vector<float> volume(map.size());
  nifti_reader(header).read(0, 0, volume.size(), volume.data());
  return volume == map;
}

page make_fsl_page(const std::string& folder, view_sides sides) {
  fsl_folder f = open_folder(folder);
  image_draft d(f.reference.grid, sides);
  for (int i = 1;
       !f.find(fmt::format("mean_f{}samples", i)).empty() || !f.find(fmt::format("merged_th{}samples", i)).empty(); ++i)
    add_fibre(d, f, i);
  add_sum(d);
  for (const auto& [name, file, unit] :
       {std::tuple{"mean_d", "mean_dsamples", "mm2/s"}, std::tuple{"mean_S0", "mean_S0samples", "input"}})
    if (std::vector<float> values = f.read(file, 1); !values.empty())
      d.add(name, 1, unit, std::string("mean ") + (name + 5), std::move(values));
  d.show(f.inside);
  const int fibres = add_ballstick_maps(d);
  add_ballstick_distributions(d, fibres);
  describe_folder(d, f, fibres);
  add_output_table(d);
  write_methods(d, fibres);
  return std::move(d.out);
}

}  // namespace voxherd::report
