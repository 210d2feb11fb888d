#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/command.hpp"
#include "core/text.hpp"
#include "mpi/run/signals.hpp"
#include "mpi/run/study_question.hpp"
#include "src/analyses/ballstick/options.hpp"
#include "src/fsl/bedpostx.hpp"
#include "src/fsl/fsl_output.hpp"
#include "src/fsl/joined_results.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/mask.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

const option_list& postproc_table();

const fsl_program& postproc_program() {
  static const std::vector<fsl_option> options = xfibres_options_of_fsl(fsl_answer::no_difference, "");
  static const fsl_program program{"join_parts", options, postproc_table, expected_number};
  return program;
}

std::vector<std::string> from_postproc(const std::vector<std::string>& words) {
  return translate_fsl_words(postproc_program(), words);
}

std::string list_postproc_flags() { return list_fsl_options(postproc_program()); }

std::string retell_postproc(const std::string& message, const std::vector<std::string>& typed) {
  return retell_in_fsl_words(postproc_program(), message, typed);
}

struct postproc_request {
  dwi_request series;
  std::string folder;
  std::optional<std::uint32_t> voxels, parts;
  std::string subject, fsldir;             ///< not read
  std::vector<std::string> no_difference;  ///< options of FSL
  ballstick_model_request model;
  run_request run;
};

const option_table<postproc_request>& postproc_options() {
  using T = postproc_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .include(&T::series, dwi_options())
    .group("FSL's folder", {
      {"logdir", &T::folder, text_kind::any,
       {.text = "folder of the parts: data_part_0000, ...; the images are written into the folder that contains it",
        .value = "DIR", .required = true}},
      {"voxels", &T::voxels, range{0, 4e9}, {.text = "number of voxels in the mask; not used", .value = "VOXELS",
        .required = true, .place = 1}},
      {"parts", &T::parts, range{1, 10000}, {.text = "number of parts", .value = "PARTS", .required = true, .place = 2}},
      {"subject", &T::subject, text_kind::any, {.text = "the subject's folder; not read", .value = "SUBJECT", .place = 3}},
      {"fsldir", &T::fsldir, text_kind::any, {.text = "not read", .value = "FSLDIR", .place = 4}}})
    .group("Input", {
      {"no-difference", &T::no_difference, text_kind::any,
       {.text = "an option of FSL that has no effect here (--cnonlinear, --nospat, ...)", .value = "OPTION"}}})
    .include(&T::model, ballstick_model_options())
    .include_optional(&T::run, run_options());
  // clang-format on
  return table;
}

const option_list& postproc_table() { return postproc_options(); }

std::string part_path(const postproc_request& request, std::uint32_t part) {
  return fmt::format("{}/data_part_{:04}/voxherd.h5", request.folder, part);
}

/// The options and inputs of the command, as a fit of all voxels stores them. Collective.
result_layout describe_request(const session& s, const postproc_request& request) {
  ballstick_request asked;
  asked.model = request.model;
  asked.series = request.series;
  for (std::string* image : {&asked.series.dwi, &asked.series.mask, &asked.series.gradient_deviation})
    if (const std::string found = find_image(*image); !found.empty()) *image = found;
  asked.series.masks = mask_rules::fsl;
  nlohmann::json options = nlohmann::json::object();
  add_stored(ballstick_options(), asked, options);
  return describe_fit(options, ballstick_inputs(s, asked));
}

/// Throws failure (bad_data) unless the parts are all voxels of the mask, with the options and inputs of the command.
void check_parts(const postproc_request& request, const joined_rows& joined, const result_layout& wanted) {
  check_fits(joined, wanted);
  const std::string mask = find_image(request.series.mask);
  const auto inside = voxels_inside(mask, read_nifti_header(find_image(request.series.dwi)), mask_rules::fsl);
  if (inside != joined.voxels())
    refuse_data("{}: {} parts have {} voxels together, expected the {} of {}", request.folder, joined.parts().size(),
                joined.voxels().size(), inside.size(), mask);
}

/// The parts are in the complete result now.
void remove_parts(const postproc_request& request) {
  for (std::uint32_t part = 0; part < *request.parts; ++part) {
    std::error_code code;
    fs::remove(part_path(request, part), code);
    fs::remove(fs::path(part_path(request, part)).parent_path(), code);  // if it is empty
  }
}

exit_status join_parts(session& s, const postproc_request& request, const std::string& out) {
  const result_layout wanted = describe_request(s, request);
  if (s.from_root([&] { return is_joined_already(out, wanted, request.run); })) return exit_status::complete;
  std::unique_ptr<joined_rows> joined;
  s.agree([&] {
    std::vector<std::string> paths;
    for (std::uint32_t part = 0; part < *request.parts; ++part) paths.push_back(part_path(request, part));
    joined = std::make_unique<joined_rows>(paths, 0);
    check_parts(request, *joined, wanted);
  });
  return run_joined(s, *joined, joined->first().grid(), request.run, out, wanted.provenance.at("inputs"));
}

/// "subject.bedpostX/voxherd.h5" for the parts in subject.bedpostX/diff_parts.
std::string joined_path(const postproc_request& request) {
  fs::path parts = fs::absolute(request.folder).lexically_normal();
  if (parts.filename().empty()) parts = parts.parent_path();  // "diff_parts/" has an empty name
  return (parts.parent_path() / "voxherd.h5").string();
}

exit_status run_postproc(session& s, const postproc_request& request) {
  begin_fsl_command(request.no_difference);
  const std::string out = joined_path(request);
  const exit_status status = join_parts(s, request, out);
  stop_signals::release();  // the result is complete: a signal may end the export
  if (!goes_on_with_images(status, request.run)) return status;
  write_bedpostx_folder(s, {.path = fs::path(out).parent_path().string(), .nodif = "", .has_inputs = true},
                        request.run);
  if (!is_asked()) s.on_root([&] { remove_parts(request); });
  return status;
}

}  // namespace

constexpr command make_postproc_command() {
  command c = make_command<postproc_options, run_postproc>(
      {"join_parts", "FSL's bedpostx_postproc_gpu.sh: joins the parts of xfibres",
       "voxherd join_parts --data=data --mask=nodif_brain_mask -r bvecs \\\n"
       "  -b bvals --logdir=subject.bedpostX/diff_parts --nf=2 --model=1 9000 4"});
  c.translate = from_postproc;
  c.other_usage = "--data=DATA --mask=MASK --logdir=DIR VOXELS PARTS ...";
  c.notes = list_postproc_flags;
  c.retell = retell_postproc;
  c.other_names = "bedpostx_postproc_gpu.sh";
  c.own_result = [](const given_options& given) { return joined_path(postproc_options().read(given)); };
  return run_by_first_rank(c);
}

extern const command join_parts_command = make_postproc_command();

}  // namespace voxherd
