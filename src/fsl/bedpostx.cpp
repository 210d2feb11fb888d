#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/command.hpp"
#include "core/failure.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/result/result_reader.hpp"
#include "mpi/result/same_study.hpp"
#include "mpi/run/signals.hpp"
#include "mpi/run/study_question.hpp"
#include "src/analyses/ballstick/options.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/export/export_plan.hpp"
#include "src/export/fsl_folder.hpp"
#include "src/fsl/bedpostx.hpp"
#include "src/fsl/fsl_output.hpp"
#include "src/fsl/subject_folder.hpp"

namespace voxherd {

namespace {

constexpr std::string_view uses_folder = "the files of the subject's folder are used",
                           has_own_folder = "the output is SUBJECT_DIR.bedpostX";

// clang-format off
constexpr fsl_option model_options[] = {
  {"-n, --nf, --nfibres", fsl_answer::value, "--fibres"},
  {"-model, --model", fsl_answer::value, "--model"},
  {"-w, --fudge", fsl_answer::value, "--ard-weight"},
  {"--bi, --burnin", fsl_answer::value, "--burn-in"},
  {"-j, --nj, --njumps", fsl_answer::value, "--jumps"},
  {"-s, --se, --sampleevery", fsl_answer::value, "--sample-every"},
  {"--upe, --updateproposalevery", fsl_answer::value, "--adapt-every"},
  {"--Rmean", fsl_answer::value, "--ratio-mean"},
  {"--Rstd", fsl_answer::value, "--ratio-std"},
  {"--seed", fsl_answer::value, "--random-seed"},
  {"--rician", fsl_answer::given, "--noise=rician"},
  {"--noard", fsl_answer::given, "--no-ard"},
  {"--allard", fsl_answer::given, "--all-ard"},
  {"--f0", fsl_answer::given, "--f0"},
  {"--ardf0", fsl_answer::given, "--f0-ard"},
  {"--nonlinear, --cnonlinear, --nospat, -V, --verbose", fsl_answer::no_difference, ""},
  {"--bn, --burnin_noard", fsl_answer::no_difference_value, ""},
  {"--Rfudge", fsl_answer::unsupported, "the prior of R has no such weight here"},
};
constexpr fsl_option folder_options[] = {
  {"-b", fsl_answer::value, "--burn-in"},
  {"-g", fsl_answer::given, "--gradient-deviation"},
  {"-c", fsl_answer::given, "--backend=cpu"},
  {"--forcedir", fsl_answer::no_difference, ""},
  {"-NJOBS, -Q, -QSYS", fsl_answer::no_difference_value, ""},
  {"--gradnonlin", fsl_answer::unsupported, "use -g; grad_dev is read from the subject's folder"},
  {"-k, --data, -m, --mask, -r, --bvecs, --bvals", fsl_answer::unsupported, uses_folder},
  {"--ld, --logdir", fsl_answer::unsupported, has_own_folder},
};
// clang-format on

const option_list& bedpostx_table();

const fsl_program& bedpostx_program() {
  static const std::vector<fsl_option> options = with_model_options(folder_options);
  static const fsl_program program{"bedpostx", options, bedpostx_table, expected_number};
  return program;
}

std::vector<std::string> from_bedpostx(const std::vector<std::string>& words) {
  return translate_fsl_words(bedpostx_program(), words);
}

std::string list_bedpostx_flags() { return list_fsl_options(bedpostx_program()); }

std::string retell_bedpostx(const std::string& message, const std::vector<std::string>& typed) {
  return retell_in_fsl_words(bedpostx_program(), message, typed);
}

namespace fs = std::filesystem;

constexpr auto finished_marker = "xfms/eye.mat";

struct bedpostx_request {
  std::string subject;
  bool gradient_deviation = false;
  std::vector<std::string> no_difference;  ///< flags of FSL
  ballstick_model_request model;
  run_request run;
};

void check_bedpostx(const bedpostx_request&, const given_options& given) {
  if (given.has("out")) refuse_usage("bedpostx: --out is not supported: the output is always SUBJECT_DIR.bedpostX");
}

const option_table<bedpostx_request>& bedpostx_options() {
  using T = bedpostx_request;
  static const option_table<T> table =
      option_table<T>()
          .group(
              "Input",
              {{"subject",
                &T::subject,
                text_kind::file,
                {.text =
                     "folder with data (or data_ud), nodif_brain_mask, bvals, bvecs (or .txt), perhaps nodif, grad_dev",
                 .value = "SUBJECT_DIR",
                 .required = true,
                 .place = 1}},
               {"gradient-deviation", &T::gradient_deviation, {"use grad_dev (FSL's -g)"}},
               {"no-difference",
                &T::no_difference,
                text_kind::any,
                {.text = "a flag of FSL that has no effect here (--cnonlinear, --nospat, --forcedir, -V, ...)",
                 .value = "FLAG"}}})
          .include(&T::model, ballstick_model_options())
          .include_optional(&T::run, run_options())
          .check(check_bedpostx);
  return table;
}

const option_list& bedpostx_table() { return bedpostx_options(); }

/// The files that bedpostx needs; "" for missing ones.
struct subject_files {
  std::string folder, out, dwi, mask, bvals, bvecs, deviation, nodif;
  bool is_started = false;  ///< whether an earlier call has started it

  static constexpr auto members() {
    using T = subject_files;
    return std::tuple(&T::folder, &T::out, &T::dwi, &T::mask, &T::bvals, &T::bvecs, &T::deviation, &T::nodif,
                      &T::is_started);
  }
};

std::string result_path(const subject_files& f) { return f.out + "/voxherd.h5"; }

/// The names of the folders.
subject_files name_folders(const bedpostx_request& request) {
  subject_files f;
  fs::path folder = fs::absolute(request.subject).lexically_normal();
  if (folder.filename().empty()) folder = folder.parent_path();  // "subject/" has an empty name
  f.folder = folder.string();
  f.out = f.folder + ".bedpostX";
  f.is_started = fs::exists(result_path(f)) || fs::exists(unfinished_path(result_path(f)));
  return f;
}

subject_files find_files(const bedpostx_request& request) {
  subject_files f = name_folders(request);
  if (!fs::is_directory(f.folder))
    refuse_missing("{}: no such folder; expected a folder with data, nodif_brain_mask, bvals and bvecs", f.folder);
  const auto data = find_only_image(f.folder, "data");
  const bool is_ud = !data;  // UK Biobank: without distortions
  f.dwi = require_file(is_ud ? find_only_image(f.folder, "data_ud") : data, f.folder, "data.nii.gz or data.nii");
  const std::string mask = "nodif_brain_mask", mask_ud = mask + "_ud";
  f.mask = require_file(is_ud ? find_either(f.folder, mask_ud, mask) : find_either(f.folder, mask, mask_ud), f.folder,
                        "nodif_brain_mask.nii.gz or .nii");
  f.bvals = require_file(find_text(f.folder, "bvals"), f.folder, "bvals or bvals.txt");
  f.bvecs = require_file(find_text(f.folder, "bvecs"), f.folder, "bvecs or bvecs.txt");
  f.nodif = find_only_image(f.folder, "nodif").value_or("");
  if (request.gradient_deviation)
    f.deviation =
        require_file(find_only_image(f.folder, "grad_dev"), f.folder, "grad_dev.nii.gz or .nii (needed by -g)");
  return f;
}

ballstick_request make_ballstick_request(const bedpostx_request& request, const subject_files& f) {
  ballstick_request b;
  b.series = {f.dwi, f.bvals, f.bvecs, f.mask, f.deviation};
  b.series.masks = mask_rules::fsl;
  b.model = request.model;
  b.run = request.run;
  b.run.out = result_path(f);
  b.run.resume = b.run.resume || f.is_started;
  return b;
}

exit_status estimate_and_export(session& s, const bedpostx_request& request, const subject_files& f) {
  output_folder output;
  s.on_root([&] {
    output.create(f.out);
    std::error_code code;
    if (!request.run.dry_run) fs::remove(f.out + "/" + finished_marker, code);
    if (code)
      fail_on_disk("{}/{}: cannot be removed: {}; check that the folder is writable", f.out, finished_marker,
                   code.message());
  });
  const run_listener listener = listen_as_part(request.run);
  ballstick_request estimation = make_ballstick_request(request, f);
  estimation.run.listener = &listener;
  const exit_status status = run_ballstick(s, estimation);
  stop_signals::release();  // the result is complete: a signal may end the export
  if (goes_on_with_images(status, request.run)) write_bedpostx_folder(s, {f.out, f.nodif}, request.run);
  return status;
}

/// The first flag that differs, where the subject's folder is no longer there.
study_answer compare_flags(const bedpostx_request& request, const subject_files& f) {
  nlohmann::json now = nlohmann::json::object(), stored = nlohmann::json::object();
  add_stored(ballstick_options(), make_ballstick_request(request, f), now);
  const result_reader finished(result_path(f));
  // Without what the run adds, such as the device.
  for (const auto& [name, value] : finished.configuration().items())
    if (now.contains(name)) stored[name] = value;
  return {first_difference(stored, now, "").value_or(""), ""};
}

/// Whether nothing is left to do: the folder has the mark of a finished one, and is that of this command with all its
/// images. A folder of FSL has no record of its flags. Throws failure (usage) if it is that of another command.
bool is_finished(const bedpostx_request& request) {
  const subject_files f = name_folders(request);
  if (!fs::exists(f.out + "/" + finished_marker) || request.run.overwrite) return false;
  if (!fs::exists(result_path(f))) return true;
  study_answer answer;
  if (fs::is_directory(f.folder)) {
    bedpostx_request asked = request;
    asked.run.dry_run = true;
    answer = ask_command([&](session& alone) { return estimate_and_export(alone, asked, find_files(asked)); });
  } else {
    answer = compare_flags(request, f);
  }
  if (!answer.difference.empty())
    refuse_usage("{}: finished with other flags or inputs ({}); use the same, or --overwrite to repeat the estimation",
                 f.out, answer.difference);
  return answer.is_complete();
}

exit_status run_bedpostx(session& s, const bedpostx_request& request) {
  begin_fsl_command(request.no_difference);
  const auto [finished, f] = s.from_root([&] {
    const bool is_done = !is_asked() && is_finished(request);
    return std::pair(is_done, is_done ? name_folders(request) : find_files(request));
  });
  if (finished) {
    spdlog::info("{} is finished ({} exists): nothing to do; --overwrite repeats the estimation", f.out,
                 finished_marker);
    return exit_status::complete;
  }
  return estimate_and_export(s, request, f);
}

}  // namespace

std::vector<fsl_option> with_model_options(std::span<const fsl_option> more) {
  std::vector<fsl_option> all(std::begin(model_options), std::end(model_options));
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<fsl_option> xfibres_options_of_fsl(fsl_answer forcedir, std::string_view ours) {
  const fsl_option files[] = {{"-k, --data", fsl_answer::value, "--dwi"},
                              {"-m, --mask", fsl_answer::value, "--mask"},
                              {"-r, --bvecs", fsl_answer::value, "--bvecs"},
                              {"-b, --bvals", fsl_answer::value, "--bvals"},
                              {"--gradnonlin", fsl_answer::value, "--grad-dev"},
                              {"--ld, --logdir", fsl_answer::value, "--logdir"},
                              {"--forcedir", forcedir, ours}};
  return with_model_options(files);
}

std::string expected_number(const std::string& value, std::string_view ours) {
  const option_spec* spec = ballstick_model_options().find(ours.substr(2));
  if (spec == nullptr || !spec->limits) return "";
  double number = 0;
  const auto [stopped, code] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool is_number = code == std::errc{} && stopped == value.data() + value.size();
  const bool is_integer = spec->type == option_type::integer;
  if (is_number && (!is_integer || number == std::floor(number)) && number >= spec->limits->min &&
      number <= spec->limits->max)
    return "";
  return fmt::format("{}{}", is_integer ? "an integer, " : "", spec->accepted());
}

void write_bedpostx_folder(session& s, const bedpostx_folder& folder, const run_request& run) {
  // Without the finished marker, the folder is an incomplete one of ours or FSL's.
  const export_settings settings = make_fsl_settings(s, folder.path + "/voxherd.h5", folder.path, run);
  export_folder(s, settings, [&](const result_volumes& result) {
    export_plan plan = plan_fsl_folder(result, folder.nodif);
    if (folder.has_inputs) {
      std::erase_if(plan.images, [](const export_image& image) { return image.name == "nodif_brain_mask.nii.gz"; });
      std::erase_if(plan.texts, [](const export_text& text) { return text.name == "bvals" || text.name == "bvecs"; });
    }
    return plan;
  });
  spdlog::info("{0} written; next: probtrackx2 -s {0}/merged ..., or fsleyes {0}/dyads1", folder.path);
}

constexpr command make_bedpostx_command() {
  command c = make_command<bedpostx_options, run_bedpostx>(
      {"bedpostx", "FSL's bedpostx: takes its flags, writes SUBJECT_DIR.bedpostX",
       "voxherd bedpostx subject -n 2\n"
       "probtrackx2 -s subject.bedpostX/merged -m subject.bedpostX/nodif_brain_mask \\\n"
       "  -x seeds.nii.gz --dir=tracts"});
  c.translate = from_bedpostx;
  c.notes = list_bedpostx_flags;
  c.retell = retell_bedpostx;
  c.other_names = "bedpostx bedpostx_gpu";
  c.own_result = [](const given_options& given) { return result_path(name_folders(bedpostx_options().read(given))); };
  return c;
}

extern const command bedpostx_command = make_bedpostx_command();

}  // namespace voxherd
