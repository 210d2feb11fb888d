#include <spdlog/spdlog.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/command.hpp"
#include "core/text.hpp"
#include "mpi/run/signals.hpp"
#include "mpi/run/study_question.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/fsl/bedpostx.hpp"
#include "src/fsl/fsl_output.hpp"
#include "src/fsl/joined_results.hpp"
#include "src/fsl/slices.hpp"
#include "src/fsl/subject_folder.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/image_checks.hpp"
#include "src/scan/mask.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

struct join_slices_request {
  std::string subject;
  run_request run;
};

void check_join_slices(const join_slices_request& r, const given_options&) {
  if (!r.run.out.empty())
    refuse_usage("join_slices: --out is not supported: the output is always SUBJECT_DIR.bedpostX");
}

const option_table<join_slices_request>& join_slices_options() {
  using T = join_slices_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Input", {
      {"subject", &T::subject, text_kind::file,
       {.text = "folder whose slices were fitted, in SUBJECT_DIR.bedpostX/diff_slices", .value = "SUBJECT_DIR",
        .required = true, .place = 1}}})
    .include_optional(&T::run, run_options())
    .check(check_join_slices);
  // clang-format on
  return table;
}

/// The fitted slices of a subject.
struct fitted_slices {
  std::string subject, folder;  ///< SUBJECT, and SUBJECT.bedpostX
  nifti_header mask;            ///< of the complete image, in the order and at the place of the series
  std::unique_ptr<joined_rows> rows;

  std::uint64_t count() const { return mask.grid.size[2]; }
};

/// The results of all slices, which xfibres of voxherd has written. Throws failure (missing_input).
std::vector<std::string> find_results(const fitted_slices& slices) {
  std::vector<std::string> paths;
  for (std::uint64_t k = 0; k < slices.count(); ++k) {
    paths.push_back(slice_folder(slices.subject, k) + "/voxherd.h5");
    if (!fs::exists(paths.back()))
      refuse_missing(
          "{}: no such file, expected one for each of the {} slices of {}; run bedpostx_single_slice.sh {} {} with "
          "voxherd's xfibres",
          paths.back(), slices.count(), slices.mask.path, slices.subject, k);
  }
  return paths;
}

void check_slices(const fitted_slices& slices) {
  const joined_rows& rows = *slices.rows;
  const nlohmann::json inputs = rows.first().provenance().value("inputs", nlohmann::json::object());
  check_fits(rows, describe_fit(rows.first().configuration(), inputs), {"dwi", "mask", "grad_dev", "image"});
  const auto& size = slices.mask.grid.size;
  for (const auto& part : rows.parts()) {
    const auto& found = part->grid().size;
    if (found[0] != size[0] || found[1] != size[1] || found[2] != 1)
      refuse_data("{}: has {} x {} x {} voxels, expected {} x {} x 1, a slice of {}", part->path(), found[0], found[1],
                  found[2], size[0], size[1], slices.mask.path);
  }
  const auto inside = voxels_inside(slices.mask.path, slices.mask, mask_rules::fsl);
  if (inside != rows.voxels())
    refuse_data(
        "{}.bedpostX/diff_slices: {} slices have {} voxels together, expected the {} of {}; were they fitted with "
        "another mask?",
        slices.subject, slices.count(), rows.voxels().size(), inside.size(), slices.mask.path);
}

/// The mask of the complete image, in SUBJECT.bedpostX or in SUBJECT.
std::string find_mask_of_all(const std::string& subject, const std::string& folder) {
  const char* const name = "nodif_brain_mask";
  const auto own = fs::is_directory(folder) ? find_only_image(folder, name) : std::nullopt;
  return own ? *own : require_file(find_only_image(subject, name), folder, "nodif_brain_mask.nii.gz or .nii");
}

std::string joined_of(const std::string& subject) { return subject + ".bedpostX/voxherd.h5"; }

/// Whether the slices have been joined, and removed, by an earlier call. The options were those of the slices.
bool are_joined(const join_slices_request& request) {
  const std::string subject = subject_path(request.subject), out = joined_of(subject);
  if (!fs::exists(out) || fs::exists(slice_folder(subject, 0) + "/voxherd.h5")) return false;
  const result_reader result(out);
  nlohmann::json inputs = result.provenance().value("inputs", nlohmann::json::object());
  const auto set_now = [&](const char* name, const std::optional<std::string>& file) {
    const nlohmann::json before = inputs.value(name, nlohmann::json());
    if (!file || !before.is_object()) return;
    inputs[name] = fingerprint(*file);
    if (before.contains("form")) inputs[name]["form"] = before.at("form");
  };
  set_now("mask", find_mask_of_all(subject, subject + ".bedpostX"));
  set_now("dwi", find_only_image(subject, "data"));
  set_now("bvals", find_text(subject, "bvals"));
  set_now("bvecs", find_text(subject, "bvecs"));
  return is_joined_already(out, describe_fit(result.configuration(), inputs), request.run);
}

fitted_slices open_slices(const join_slices_request& request) {
  fitted_slices slices;
  slices.subject = subject_path(request.subject);
  slices.folder = slices.subject + ".bedpostX";
  slices.mask = read_nifti_header(find_mask_of_all(slices.subject, slices.folder));
  if (const auto data = find_only_image(slices.subject, "data")) {
    const nifti_header series = read_nifti_header(*data);
    bring_to_grid(slices.mask, series, mask_rules::fsl);
    slices.mask.grid = series.grid;
    slices.mask.geometry = series.geometry;
  }
  slices.rows =
      std::make_unique<joined_rows>(find_results(slices), slices.mask.grid.size[0] * slices.mask.grid.size[1]);
  check_slices(slices);
  return slices;
}

/// What the joined result was computed from: the slices' bvals and bvecs, and the complete images.
nlohmann::json describe_inputs(const fitted_slices& slices) {
  const nlohmann::json first = slices.rows->first().provenance().value("inputs", nlohmann::json::object());
  nlohmann::json inputs = {{"image", slices.mask.geometry}, {"mask", fingerprint(slices.mask.path)}};
  inputs["mask"]["voxels"] = slices.rows->voxels().size();
  for (const char* name : {"bvals", "bvecs"})
    if (first.contains(name)) inputs[name] = first.at(name);
  if (const auto data = find_only_image(slices.subject, "data")) inputs["dwi"] = fingerprint(*data);
  return inputs;
}

/// The slices are in the complete result now. FSL's script removes these, too.
void remove_slices(const fitted_slices& slices) {
  std::error_code code;
  fs::remove_all(slices.folder + "/diff_slices", code);
  for (std::uint64_t k = 0; k < slices.count(); ++k)
    for (const char* image : {"data", "nodif_brain_mask", "grad_dev"})
      for (const char* ending : {".nii.gz", ".nii"}) fs::remove(slice_image(slices.subject, image, k) + ending, code);
}

/// FSL's files, from the joined result.
void write_joined_folder(session& s, const std::string& folder, const run_request& run) {
  const bool has_inputs = s.from_root([&] {
    return find_only_image(folder, "nodif_brain_mask") && find_text(folder, "bvals") && find_text(folder, "bvecs");
  });
  write_bedpostx_folder(s, {.path = folder, .nodif = "", .has_inputs = has_inputs}, run);
}

exit_status run_join_slices(session& s, const join_slices_request& request) {
  begin_fsl_command({});
  if (s.from_root([&] { return are_joined(request); })) {
    if (goes_on_with_images(exit_status::complete, request.run))
      write_joined_folder(s, subject_path(request.subject) + ".bedpostX", request.run);
    return exit_status::complete;
  }
  fitted_slices slices;
  s.agree([&] { slices = open_slices(request); });
  nlohmann::json inputs = s.from_root([&] { return describe_inputs(slices); });
  const exit_status status =
      run_joined(s, *slices.rows, slices.mask.grid, request.run, joined_of(slices.subject), std::move(inputs));
  stop_signals::release();  // the result is complete: a signal may end the export
  if (!goes_on_with_images(status, request.run)) return status;
  write_joined_folder(s, slices.folder, request.run);
  if (!is_asked()) s.on_root([&] { remove_slices(slices); });
  return status;
}

}  // namespace

constexpr command make_join_slices_command() {
  command c = make_command<join_slices_options, run_join_slices>(
      {"join_slices", "FSL's bedpostx_postproc.sh: joins the fitted slices", "voxherd join_slices subject"});
  c.other_usage = "SUBJECT_DIR";
  c.other_names = "bedpostx_postproc.sh";
  c.own_result = [](const given_options& given) {
    return joined_of(subject_path(join_slices_options().read(given).subject));
  };
  return run_by_first_rank(c);
}

extern const command join_slices_command = make_join_slices_command();

}  // namespace voxherd
