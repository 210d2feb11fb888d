#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/command.hpp"
#include "core/text.hpp"
#include "mpi/comm/session.hpp"
#include "src/fsl/fsl_output.hpp"
#include "src/fsl/fsl_words.hpp"
#include "src/fsl/slices.hpp"
#include "src/fsl/subject_folder.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/io/nifti/quaternion.hpp"
#include "src/io/output_file.hpp"
#include "src/scan/image_checks.hpp"
#include "src/scan/mask.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

struct split_slices_request {
  std::string subject;
  int gradient_deviation = 0;
};

const option_table<split_slices_request>& split_slices_options() {
  using T = split_slices_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Input", {
      {"subject", &T::subject, text_kind::file,
       {.text = "folder with data, nodif_brain_mask, bvals, bvecs, perhaps nodif, grad_dev", .value = "SUBJECT_DIR",
        .required = true, .place = 1}},
      {"grad-dev", &T::gradient_deviation, range{0, 1}, {.text = "1: also split grad_dev", .value = "0|1", .place = 2}}});
  // clang-format on
  return table;
}

/// The header's description of the geometry with both origins moved to a slice.
nlohmann::json slice_geometry(nlohmann::json g, std::uint64_t slice) {
  const auto numbers = [](const nlohmann::json& list) {
    return std::array<double, 3>{list.at(0).get<double>(), list.at(1).get<double>(), list.at(2).get<double>()};
  };
  const auto k = static_cast<double>(slice);
  for (nlohmann::json& row : g.at("srow")) row.at(3) = row.at(3).get<double>() + k * row.at(2).get<double>();
  const nlohmann::json& pixdim = g.at("pixdim");
  const voxel_matrix qform =
      to_matrix({numbers(g.at("quatern")),
                 numbers(g.at("qoffset")),
                 {pixdim.at(1).get<double>(), pixdim.at(2).get<double>(), pixdim.at(3).get<double>()},
                 pixdim.at(0).get<double>() < 0 ? -1.0 : 1.0});
  for (std::size_t r = 0; r < 3; ++r) g.at("qoffset").at(r) = qform[4 * r + 3] + k * qform[4 * r + 2];
  return g;
}

/// Writes SUBJECT/IMAGE_slice_0000, ..., in the order and at the places of the voxels of `data`. Reads the image once,
/// volume by volume.
void split_image(const std::string& path, const nifti_header& data, const std::string& subject,
                 const std::string& image) {
  nifti_header stored = read_nifti_header(path);
  log_warnings(stored);
  if (path != data.path) bring_to_grid(stored, data, mask_rules::fsl);
  nifti_reader reader(stored);
  const nifti_header& header = reader.header();
  const auto& size = header.grid.size;
  const image_type type = fsl_output_type();
  std::vector<nifti_writer> slices;
  for (std::uint64_t k = 0; k < size[2]; ++k) {
    nifti_image form;
    form.grid = data.grid;
    form.grid.size[2] = 1;
    form.volumes = header.volumes;
    form.geometry = slice_geometry(data.geometry, k);
    form.description = fmt::format("voxherd: slice {} of {}", k, image);
    form.is_nifti2 = type.is_nifti2;
    const std::string name = slice_image(subject, image, k);
    fs::remove(name + image_type{!type.is_compressed}.ending());  // else there would be two of them
    slices.emplace_back(name + type.ending(), form);
  }
  std::vector<float> values(size[0] * size[1]);
  for (std::uint64_t v = 0; v < header.volumes; ++v)
    for (std::uint64_t k = 0; k < size[2]; ++k) {
      reader.read(v, k * values.size(), values.size(), values.data());
      slices[k].append(values);
    }
  for (nifti_writer& slice : slices) slice.finish();
}

/// Its components are along the axes of its own file, of which slices would not tell. Throws failure (bad_data).
void refuse_other_order(const std::string& deviation, const nifti_header& data) {
  nifti_header header = read_nifti_header(deviation);
  bring_to_grid(header, data, mask_rules::fsl);
  if (!header.order.is_as_stored())
    refuse_data(
        "{}: is stored in another order than {}, expected the same; fit all slices at once with bedpostx -g, which "
        "reads it in any order",
        deviation, data.path);
}

void copy_text(const std::string& subject, const std::string& name, const std::string& folder) {
  const std::string from = require_file(find_text(subject, name), subject, (name + " or " + name + ".txt").c_str());
  for (const std::string& to : {folder + "/" + name, subject + "/" + name})  // the next script reads SUBJECT/bvals
    if (to != from) copy_file(from, to);
}

/// nodif_brain: nodif inside the mask.
void write_brain(const std::string& nodif, const std::string& mask, const std::string& folder) {
  const nifti_header header = read_nifti_header(nodif);
  std::vector<float> brain = read_volume(header);
  const std::vector<float> inside = read_mask_values(mask, header, mask_rules::fsl);
  for (std::size_t v = 0; v < brain.size(); ++v)
    if (!(inside[v] > 0)) brain[v] = 0;
  const image_type type = fsl_output_type();
  nifti_image form;
  form.grid = header.grid;
  form.geometry = header.geometry;
  form.description = "voxherd: nodif inside the mask";
  form.is_nifti2 = type.is_nifti2;
  write_nifti(folder + "/nodif_brain" + type.ending(), form, brain);
}

void prepare_slices(const split_slices_request& request) {
  const std::string subject = subject_path(request.subject), folder = subject + ".bedpostX";
  if (!fs::is_directory(subject))
    refuse_missing("{}: no such folder; expected a folder with data, nodif_brain_mask, bvals and bvecs", subject);
  const std::string data = require_file(find_only_image(subject, "data"), subject, "data.nii.gz or data.nii");
  const std::string mask =
      require_file(find_only_image(subject, "nodif_brain_mask"), subject, "nodif_brain_mask.nii.gz or .nii");
  std::string deviation;
  if (request.gradient_deviation == 1)
    deviation = require_file(find_only_image(subject, "grad_dev"), subject, "grad_dev.nii.gz or .nii");
  create_folder(folder);
  copy_text(subject, "bvals", folder);
  copy_text(subject, "bvecs", folder);
  copy_file(mask, (fs::path(folder) / fs::path(mask).filename()).string());
  if (const auto nodif = find_only_image(subject, "nodif")) write_brain(*nodif, mask, folder);
  const nifti_header series = read_nifti_header(data);
  split_image(data, series, subject, "data");
  split_image(mask, series, subject, "nodif_brain_mask");
  if (!deviation.empty()) {
    refuse_other_order(deviation, series);
    split_image(deviation, series, subject, "grad_dev");
  }
  const std::uint64_t slices = series.grid.size[2];
  fmt::print("{} of {}; next: bedpostx_single_slice.sh {} SLICE OPTIONS for SLICE 0 to {}\n", counted(slices, "slice"),
             data, subject, slices - 1);
}

exit_status run_split_slices(session& s, const split_slices_request& request) {
  begin_fsl_command({});
  s.on_root([&] {
    try {
      prepare_slices(request);
    } catch (const fs::filesystem_error& e) {
      fail_on_disk(e.code().value(), "{}: cannot be written", e.path1().string());
    }
  });
  return exit_status::complete;
}

}  // namespace

constexpr command make_split_slices_command() {
  command c = make_command<split_slices_options, run_split_slices>(
      {"split_slices", "FSL's bedpostx_preproc.sh: an image of each slice, for xfibres",
       "voxherd split_slices subject"});
  c.other_usage = "SUBJECT_DIR [0|1]";
  c.other_names = "bedpostx_preproc.sh";
  return run_by_first_rank(c);
}

extern const command split_slices_command = make_split_slices_command();

}  // namespace voxherd
