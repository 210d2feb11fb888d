#include <fmt/core.h>
#include <fmt/ranges.h>
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
#include "src/analyses/ballstick/options.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/export/export_plan.hpp"
#include "src/export/fsl_folder.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

enum class bedpostx_meaning { value, given, no_difference, no_difference_value, unsupported };

/// A flag of FSL: `ours` is the option that replaces it, or the reason why there is none.
struct bedpostx_flag {
  std::string_view fsl;
  bedpostx_meaning kind;
  std::string_view ours;
};

constexpr std::string_view uses_folder = "the files of the subject's folder are used";

// clang-format off
constexpr bedpostx_flag bedpostx_flags[] = {
  {"-n", bedpostx_meaning::value, "--fibres"},         {"--nf", bedpostx_meaning::value, "--fibres"},
  {"--nfibres", bedpostx_meaning::value, "--fibres"},  {"-model", bedpostx_meaning::value, "--model"},
  {"-w", bedpostx_meaning::value, "--ard-weight"},     {"--fudge", bedpostx_meaning::value, "--ard-weight"},
  {"-b", bedpostx_meaning::value, "--burn-in"},        {"--bi", bedpostx_meaning::value, "--burn-in"},
  {"--burnin", bedpostx_meaning::value, "--burn-in"},  {"-j", bedpostx_meaning::value, "--jumps"},
  {"--nj", bedpostx_meaning::value, "--jumps"},        {"--njumps", bedpostx_meaning::value, "--jumps"},
  {"-s", bedpostx_meaning::value, "--sample-every"},   {"--se", bedpostx_meaning::value, "--sample-every"},
  {"--sampleevery", bedpostx_meaning::value, "--sample-every"},
  {"--upe", bedpostx_meaning::value, "--adapt-every"}, {"--updateproposalevery", bedpostx_meaning::value, "--adapt-every"},
  {"--Rmean", bedpostx_meaning::value, "--ratio-mean"}, {"--Rstd", bedpostx_meaning::value, "--ratio-std"},
  {"--seed", bedpostx_meaning::value, "--random-seed"},
  {"-g", bedpostx_meaning::given, "--gradient-deviation"}, {"--rician", bedpostx_meaning::given, "--noise=rician"},
  {"--noard", bedpostx_meaning::given, "--no-ard"},    {"--allard", bedpostx_meaning::given, "--all-ard"},
  {"--ardf0", bedpostx_meaning::given, "--f0-ard"},    {"-c", bedpostx_meaning::given, "--backend=cpu"},
  {"--nonlinear", bedpostx_meaning::no_difference, ""}, {"--cnonlinear", bedpostx_meaning::no_difference, ""},
  {"--nospat", bedpostx_meaning::no_difference, ""},   {"--forcedir", bedpostx_meaning::no_difference, ""},
  {"-V", bedpostx_meaning::no_difference, ""},
  {"--bn", bedpostx_meaning::no_difference_value, ""}, {"--burnin_noard", bedpostx_meaning::no_difference_value, ""},
  {"-NJOBS", bedpostx_meaning::no_difference_value, ""}, {"-Q", bedpostx_meaning::no_difference_value, ""},
  {"--Rfudge", bedpostx_meaning::unsupported, "the prior of R has no such weight here"},
  {"--gradnonlin", bedpostx_meaning::unsupported, "use -g; grad_dev is read from the subject's folder"},
  {"-k", bedpostx_meaning::unsupported, uses_folder},     {"--data", bedpostx_meaning::unsupported, uses_folder},
  {"-m", bedpostx_meaning::unsupported, uses_folder},     {"--mask", bedpostx_meaning::unsupported, uses_folder},
  {"-r", bedpostx_meaning::unsupported, uses_folder},     {"--bvecs", bedpostx_meaning::unsupported, uses_folder},
  {"--bvals", bedpostx_meaning::unsupported, uses_folder}, {"--ld", bedpostx_meaning::unsupported, "the output is SUBJECT_DIR.bedpostX"},
  {"--logdir", bedpostx_meaning::unsupported, "the output is SUBJECT_DIR.bedpostX"},
};
// clang-format on

const bedpostx_flag* find_bedpostx_flag(std::string_view name) {
  const auto* found = std::find_if(std::begin(bedpostx_flags), std::end(bedpostx_flags),
                                   [&](const bedpostx_flag& f) { return f.fsl == name; });
  return found == std::end(bedpostx_flags) ? nullptr : found;
}

/// Names of FSL for the same option of ours: "-n, --nf, --nfibres".
std::string names_of_option(std::string_view ours) {
  std::string names;
  for (const bedpostx_flag& f : bedpostx_flags)
    if (f.ours == ours) names += (names.empty() ? "" : ", ") + std::string(f.fsl);
  return names;
}

/// A section of the help: FSL's flags and the options that they stand for.
std::string list_bedpostx_flags() {
  std::string text = "FSL's flags for these options:\n";
  std::string_view before;
  for (const bedpostx_flag& f : bedpostx_flags) {
    const bool is_ours = f.kind == bedpostx_meaning::value || f.kind == bedpostx_meaning::given;
    if (is_ours && f.ours != before && text.find(fmt::format("  {} ", f.ours)) == std::string::npos)
      text += fmt::format("  {:<22} {}\n", f.ours, names_of_option(f.ours));
    before = f.ours;
  }
  return text;
}

/// Throws failure (usage) with FSL's name of the flag.
void check_number(const std::string& name, const std::string& value, std::string_view ours) {
  const option_spec* spec = ballstick_model_options().find(ours.substr(2));
  if (spec == nullptr || !spec->limits) return;
  double number = 0;
  const auto [stopped, code] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool is_number = code == std::errc{} && stopped == value.data() + value.size();
  if (!is_number || (spec->type == option_type::integer && number != std::floor(number)) ||
      number < spec->limits->min || number > spec->limits->max)
    throw failure(exit_status::usage,
                  fmt::format("bedpostx: {} {}: expected {}{}", name, value,
                              spec->type == option_type::integer ? "an integer, " : "", spec->accepted()));
}

/// The words of a bedpostx (or xfibres) command line as options of `voxherd bedpostx`: -n 3 or --nf=3 becomes
/// --fibres=3. Flags that have no effect here become --no-difference=FLAG; words unknown to FSL are kept.
/// Throws failure (usage) for a flag of FSL that voxherd does not support, or one without its value.
std::vector<std::string> from_bedpostx(const std::vector<std::string>& words) {
  std::vector<std::string> ours;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const bedpostx_flag* f = find_bedpostx_flag(name);
    if (f == nullptr) {
      ours.push_back(word);
      continue;
    }
    if (f->kind == bedpostx_meaning::unsupported)
      throw failure(exit_status::usage, fmt::format("bedpostx: {} is not supported: {}", name, f->ours));
    std::string value;
    const bool takes_value = f->kind == bedpostx_meaning::value || f->kind == bedpostx_meaning::no_difference_value;
    if (!takes_value && equals != std::string::npos)
      throw failure(exit_status::usage, fmt::format("bedpostx: {}: {} takes no value", word, name));
    if (takes_value && equals == std::string::npos && i + 1 == words.size())
      throw failure(exit_status::usage, fmt::format("bedpostx: {}: the value is missing; example: {} 3", name, name));
    if (takes_value) value = equals == std::string::npos ? words[++i] : word.substr(equals + 1);
    if (f->kind == bedpostx_meaning::value) {
      check_number(name, value, f->ours);
      ours.push_back(fmt::format("{}={}", f->ours, value));
    } else if (f->kind == bedpostx_meaning::given) {
      ours.emplace_back(f->ours);
    } else {
      ours.push_back(fmt::format("--no-difference={}{}{}", name, value.empty() ? "" : " ", value));
    }
  }
  return ours;
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
  if (given.has("out")) option::refuse("bedpostx: --out is not supported: the output is always SUBJECT_DIR.bedpostX");
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
                {.text = "folder with data, nodif_brain_mask, bvals, bvecs (or .txt), and optionally nodif, grad_dev",
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

/// The files that bedpostx needs; "" for missing ones.
struct subject_files {
  std::string folder, out, dwi, mask, bvals, bvecs, deviation, nodif;
  bool is_started = false;  ///< whether an earlier call has started it
};

std::string result_path(const subject_files& f) { return f.out + "/voxherd.h5"; }

/// An image may exist as .nii or .nii.gz, but not as both.
std::optional<std::string> find_image(const std::string& folder, const std::string& name) {
  std::optional<std::string> found;
  for (const char* ending : {".nii.gz", ".nii"}) {
    const std::string path = folder + "/" + name + ending;
    if (!fs::exists(path)) continue;
    if (found)
      throw failure(exit_status::usage,
                    fmt::format("both {} and {} exist; remove one of them", printable(*found), printable(path)));
    found = path;
  }
  return found;
}

std::optional<std::string> find_text(const std::string& folder, const std::string& name) {
  for (const char* ending : {"", ".txt"})
    if (const std::string path = folder + "/" + name + ending; fs::exists(path)) return path;
  return std::nullopt;
}

std::string require_file(const std::optional<std::string>& found, const std::string& folder, const char* names) {
  if (found) return *found;
  throw failure(exit_status::missing_input, fmt::format("{}: found no {} in this folder", printable(folder), names));
}

subject_files find_files(const bedpostx_request& request) {
  subject_files f;
  fs::path folder = fs::absolute(request.subject).lexically_normal();
  if (folder.filename().empty()) folder = folder.parent_path();  // "subject/" has an empty name
  f.folder = folder.string();
  f.out = f.folder + ".bedpostX";
  f.is_started = fs::exists(result_path(f)) || fs::exists(unfinished_path(result_path(f)));
  if (fs::exists(f.out + "/" + finished_marker) && !request.run.overwrite) return f;  // no input is needed
  if (!fs::is_directory(folder))
    throw failure(exit_status::missing_input, fmt::format("{}: no such folder; expected a folder with data, "
                                                          "nodif_brain_mask, bvals and bvecs",
                                                          printable(f.folder)));
  f.dwi = require_file(find_image(f.folder, "data"), f.folder, "data.nii.gz or data.nii");
  f.mask = require_file(find_image(f.folder, "nodif_brain_mask"), f.folder, "nodif_brain_mask.nii.gz or .nii");
  f.bvals = require_file(find_text(f.folder, "bvals"), f.folder, "bvals or bvals.txt");
  f.bvecs = require_file(find_text(f.folder, "bvecs"), f.folder, "bvecs or bvecs.txt");
  f.nodif = find_image(f.folder, "nodif").value_or("");
  if (request.gradient_deviation)
    f.deviation = require_file(find_image(f.folder, "grad_dev"), f.folder, "grad_dev.nii.gz or .nii (needed by -g)");
  return f;
}

ballstick_request make_ballstick_request(const bedpostx_request& request, const subject_files& f) {
  ballstick_request b;
  b.series = {f.dwi, f.bvals, f.bvecs, f.mask, f.deviation};
  b.model = request.model;
  b.run = request.run;
  b.run.out = result_path(f);
  b.run.resume = b.run.resume || f.is_started;
  return b;
}

/// A finished folder is kept, so the flags must be those that made it. A folder of FSL has no record of its flags.
void check_finished_folder(const bedpostx_request& request, const subject_files& f) {
  if (!fs::exists(result_path(f))) return;
  nlohmann::json now = nlohmann::json::object();
  add_stored(ballstick_options(), make_ballstick_request(request, f), now);
  const result_reader finished(result_path(f));
  nlohmann::json stored = nlohmann::json::object();  // without what the run adds, such as the device
  for (const auto& [name, value] : finished.configuration().items())
    if (now.contains(name)) stored[name] = value;
  const auto difference = first_difference(stored, now, "");
  if (difference)
    throw failure(exit_status::usage,
                  fmt::format("{}: finished with other flags ({}); use the same flags, or --overwrite "
                              "to repeat the estimation",
                              printable(f.out), *difference));
}

void log_ignored_flags(const bedpostx_request& request) {
  if (request.no_difference.empty()) return;
  spdlog::info("these flags of FSL have no effect here: {}", fmt::join(request.no_difference, ", "));
}

void write_fsl_folder(session& s, const bedpostx_request& request, const subject_files& f) {
  export_settings settings;
  settings.result = result_path(f);
  settings.out = f.out;
  settings.overwrite = true;  // without the finished marker, the folder is an incomplete one of ours or FSL's
  settings.quiet = request.run.quiet;
  settings.threads = export_threads(s, request.run.threads);
  export_folder(s, settings, [&](const result_volumes& result) { return plan_fsl_folder(result, f.nodif); });
  spdlog::info("{} written; next: probtrackx2 -s {}/merged ..., or fsleyes {}/dyads1.nii.gz", f.out, f.out, f.out);
}

exit_status estimate_and_export(session& s, const bedpostx_request& request, const subject_files& f) {
  bool created = false;
  s.on_root([&] {
    std::error_code code;
    created = fs::create_directory(f.out, code);
    if (code)
      throw failure(exit_status::disk,
                    fmt::format("{}: cannot create the folder: {}", printable(f.out), code.message()));
    if (!request.run.dry_run) fs::remove(f.out + "/" + finished_marker, code);
    if (code)
      throw failure(exit_status::disk, fmt::format("{}/{}: cannot be removed: {}; check that the folder is writable",
                                                   printable(f.out), finished_marker, code.message()));
  });
  const auto remove_if_empty = [&] {
    std::error_code not_empty;
    if (created) fs::remove(f.out, not_empty);
  };
  exit_status status = exit_status::complete;
  // The run is a part of this command, which prints its own last line.
  run_listener listener = request.run.listener == nullptr ? run_listener{} : *request.run.listener;
  listener.completes_command = true;
  listener.resumes_by_itself = true;
  ballstick_request estimation = make_ballstick_request(request, f);
  estimation.run.listener = &listener;
  try {
    status = run_ballstick(s, estimation);
  } catch (const failure&) {
    remove_if_empty();
    throw;
  }
  const bool dry_run = request.run.dry_run;
  if (dry_run) remove_if_empty();
  stop_signals::release();  // the result is complete: a signal may end the export
  if (status == exit_status::complete && !dry_run) write_fsl_folder(s, request, f);
  return status;
}

exit_status run_bedpostx(session& s, const bedpostx_request& request) {
  log_ignored_flags(request);
  subject_files f;
  s.on_root([&] { f = find_files(request); });
  for (std::string* path : {&f.folder, &f.out, &f.dwi, &f.mask, &f.bvals, &f.bvecs, &f.deviation, &f.nodif})
    s.broadcast(*path);
  s.broadcast(f.is_started);
  if (f.dwi.empty()) {
    s.on_root([&] { check_finished_folder(request, f); });
    spdlog::info("{} is finished ({} exists): nothing to do; --overwrite repeats the estimation", f.out,
                 finished_marker);
    return exit_status::complete;
  }
  return estimate_and_export(s, request, f);
}

}  // namespace

constexpr command make_bedpostx_command() {
  command c = make_command<bedpostx_options, run_bedpostx>(
      {"bedpostx", "FSL's bedpostx: reads its folder and flags, writes SUBJECT_DIR.bedpostX",
       "voxherd bedpostx subject -n 2\n"
       "probtrackx2 -s subject.bedpostX/merged -m subject.bedpostX/nodif_brain_mask \\\n"
       "  -x seeds.nii.gz --dir=tracts"});
  c.translate = from_bedpostx;
  c.notes = list_bedpostx_flags;
  return c;
}

extern const command bedpostx_command = make_bedpostx_command();

}  // namespace voxherd
