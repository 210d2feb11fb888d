#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/command.hpp"
#include "core/text.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/run/signals.hpp"
#include "src/analyses/ballstick/options.hpp"
#include "src/export/export_plan.hpp"
#include "src/export/fsl_folder.hpp"
#include "src/fsl/bedpostx.hpp"
#include "src/fsl/fsl_output.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

const option_list& xfibres_table();

const fsl_program& xfibres_program() {
  static const std::vector<fsl_option> options = xfibres_options_of_fsl(fsl_answer::given, "--forcedir");
  static const fsl_program program{"xfibres", options, xfibres_table, expected_number};
  return program;
}

/// xfibres' defaults are not those of bedpostx: one fibre, model 1.
std::vector<std::string> from_xfibres(const std::vector<std::string>& words) {
  std::vector<std::string> ours = translate_fsl_words(xfibres_program(), words);
  for (const std::string& standard : {std::string("--fibres=1"), std::string("--model=1")}) {
    const std::string name = standard.substr(0, standard.find('='));
    const bool is_given = std::any_of(ours.begin(), ours.end(), [&](const std::string& word) {
      return word == name || word.starts_with(name + "=");
    });
    if (!is_given) ours.push_back(standard);
  }
  return ours;
}

std::string list_xfibres_flags() { return list_fsl_options(xfibres_program()); }

std::string retell_xfibres(const std::string& message, const std::vector<std::string>& typed) {
  return retell_in_fsl_words(xfibres_program(), message, typed);
}

struct xfibres_request {
  dwi_request series;
  std::string folder = "logdir";
  bool force_folder = false;
  std::string subject;                ///< not read
  std::optional<std::uint32_t> part;  ///< with `parts`: only this part of the mask, from 0
  std::optional<std::uint32_t> parts, voxels;
  std::vector<std::string> no_difference;  ///< options of FSL
  ballstick_model_request model;
  run_request run;
};

void check_xfibres(const xfibres_request& r, const given_options&) {
  if (!r.run.out.empty()) refuse_usage("xfibres: --out is not supported: the output is the folder --logdir");
  if (!r.subject.empty() && !r.voxels)
    refuse_usage(
        "xfibres: unexpected argument '{}'; expected none, or SUBJECT PART PARTS VOXELS, as bedpostx_gpu gives them",
        r.subject);
  if (r.part && *r.part >= *r.parts)
    refuse_usage("xfibres: part {} of {}: parts are numbered from 0", *r.part, *r.parts);
}

const option_table<xfibres_request>& xfibres_options() {
  using T = xfibres_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .include(&T::series, dwi_options())
    .group("FSL's folder", {
      {"logdir", &T::folder, text_kind::any,
       {.text = "folder to write; while it exists, + is appended to its name", .value = "DIR"}},
      {"forcedir", &T::force_folder, {"write into DIR if it exists"}}})
    .group("One part of several", {
      {"subject", &T::subject, text_kind::any, {.text = "the subject's folder; not read", .value = "SUBJECT", .place = 1}},
      {"part", &T::part, range{0, 100000}, {.text = "fit only this part of the mask's voxels, from 0", .value = "PART", .place = 2}},
      {"parts", &T::parts, range{1, 100000}, {.text = "number of parts", .value = "PARTS", .place = 3}},
      {"voxels", &T::voxels, range{0, 4e9}, {.text = "number of voxels in the mask; not used", .value = "VOXELS", .place = 4}}})
    .group("Input", {
      {"no-difference", &T::no_difference, text_kind::any,
       {.text = "an option of FSL that has no effect here (--cnonlinear, --nospat, ...)", .value = "OPTION"}}})
    .include(&T::model, ballstick_model_options())
    .include_optional(&T::run, run_options())
    .check(check_xfibres);
  // clang-format on
  return table;
}

const option_list& xfibres_table() { return xfibres_options(); }

std::string choose_folder(const xfibres_request& request) {
  std::string folder = request.folder;
  while (!request.force_folder && !request.run.resume && fs::exists(folder)) folder += "+";
  return folder;
}

std::string fitted_in(const std::string& folder) { return folder + "/voxherd.h5"; }

ballstick_request make_ballstick_request(const xfibres_request& request, const std::string& folder) {
  ballstick_request b;
  b.series = request.series;
  for (std::string* image : {&b.series.dwi, &b.series.mask, &b.series.gradient_deviation})
    if (const std::string found = find_image(*image); !found.empty()) *image = found;
  b.series.part = request.part.value_or(0);
  b.series.parts = request.parts.value_or(1);
  b.series.masks = mask_rules::fsl;
  b.model = request.model;
  b.run = request.run;
  b.run.out = fitted_in(folder);
  const bool is_started = fs::exists(b.run.out) || fs::exists(unfinished_path(b.run.out));
  b.run.resume = b.run.resume || (is_started && !b.run.overwrite);
  return b;
}

/// The files of xfibres have the names that bedpostx's have without merged_.
export_plan plan_xfibres(const result_volumes& result) {
  export_plan all = plan_fsl_folder(result, ""), plan;
  constexpr std::string_view merged = "merged_";
  for (export_image& image : all.images) {
    if (image.name.starts_with(merged)) image.name = image.name.substr(merged.size());
    if (image.name.find("_thr") == std::string::npos) plan.images.push_back(std::move(image));
  }
  return plan;
}

void write_images(session& s, const ballstick_request& b, const std::string& folder) {
  export_folder(s, make_fsl_settings(s, b.run.out, folder, b.run), plan_xfibres);
}

exit_status run_xfibres(session& s, const xfibres_request& request) {
  begin_fsl_command(request.no_difference);
  output_folder output;
  const std::string folder = s.from_root([&] {
    const std::string chosen = choose_folder(request);
    output.create(chosen);
    return chosen;
  });
  ballstick_request b;
  s.agree([&] { b = make_ballstick_request(request, folder); });
  const run_listener listener = listen_as_part(request.run);
  b.run.listener = &listener;
  const exit_status status = run_ballstick(s, b);
  stop_signals::release();  // the result is complete: a signal may end the export
  if (!goes_on_with_images(status, request.run)) return status;
  if (request.part) {
    spdlog::info("{} written; bedpostx_postproc_gpu.sh joins the parts", b.run.out);
  } else {
    write_images(s, b, folder);
  }
  return status;
}

}  // namespace

constexpr command make_xfibres_command() {
  command c = make_command<xfibres_options, run_xfibres>(
      {"xfibres", "FSL's xfibres: takes its options, writes its folder or a part",
       "voxherd xfibres -k data -m nodif_brain_mask -r bvecs -b bvals --nf=2 \\\n"
       "  --logdir=fibres"});
  c.translate = from_xfibres;
  c.other_usage = "-k DATA -m MASK -r BVECS -b BVALS ...";
  c.notes = list_xfibres_flags;
  c.retell = retell_xfibres;
  c.other_names = "xfibres xfibres_gpu";
  c.own_result = [](const given_options& given) { return fitted_in(xfibres_options().read(given).folder); };
  return c;
}

extern const command xfibres_command = make_xfibres_command();

}  // namespace voxherd
