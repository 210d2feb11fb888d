#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <map>
#include <optional>

#include "core/command.hpp"
#include "mpi/result/output_place.hpp"
#include "src/analyses/ballstick/ballstick_options.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/export/export_folders.hpp"
#include "src/export/export_options.hpp"
#include "src/io/input_file.hpp"
#include "src/tools/bedpostx_words.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

constexpr auto finished_mark = "xfms/eye.mat";

void options(po::options_description& description) {
  // clang-format off
  description.add_options()
    ("subject", po::value<std::string>()->value_name("DIR"),
     "folder with data, nodif_brain_mask, bvals, bvecs (or .txt), and if there are any nodif, grad_dev")
    ("gradient-deviation", po::bool_switch(), "use grad_dev (FSL's -g)")
    ("no-difference", po::value<std::vector<std::string>>()->composing(),
     "a flag of FSL that makes no difference here (--cnonlinear, --nospat, --forcedir, -V, ...)");
  // clang-format on
  add_ballstick_options(description);
  add_run_options(description);
}

/// Where bedpostx finds what it needs; "" for what is not there.
struct subject_files {
  std::string folder, out, dwi, mask, bvals, bvecs, deviation, nodif;
  bool begun = false;  ///< by a call before
};

std::string result_of(const subject_files& f) { return f.out + "/voxherd.h5"; }

/// An image may be there as .nii or .nii.gz, not as both.
std::optional<std::string> find_image(const std::string& folder, const std::string& name) {
  std::optional<std::string> found;
  for (const char* ending : {".nii.gz", ".nii"}) {
    const std::string path = folder + "/" + name + ending;
    if (!fs::exists(path)) continue;
    if (found)
      throw failure(exit_status::usage, fmt::format("{} and {} are both there; take one of them out of the folder",
                                                    printable(*found), printable(path)));
    found = path;
  }
  return found;
}

std::optional<std::string> find_text(const std::string& folder, const std::string& name) {
  for (const char* ending : {"", ".txt"})
    if (const std::string path = folder + "/" + name + ending; fs::exists(path)) return path;
  return std::nullopt;
}

std::string needed(const std::optional<std::string>& found, const std::string& folder, const char* names) {
  if (found) return *found;
  throw failure(exit_status::missing_input, fmt::format("{}: found no {} in this folder", printable(folder), names));
}

subject_files find_files(const arguments& args) {
  if (!args.has("subject"))
    throw failure(exit_status::usage, "bedpostx: which folder? usage: voxherd bedpostx SUBJECT_DIR [flags]");
  subject_files f;
  fs::path folder = fs::absolute(args.get<std::string>("subject")).lexically_normal();
  if (folder.filename().empty()) folder = folder.parent_path();  // of "subject/"
  f.folder = folder.string();
  f.out = f.folder + ".bedpostX";
  f.begun = fs::exists(result_of(f)) || fs::exists(unfinished_path(result_of(f)));
  if (fs::exists(f.out + "/" + finished_mark) && !args.get<bool>("overwrite")) return f;  // nothing is read then
  if (!fs::is_directory(folder))
    throw failure(exit_status::missing_input, fmt::format("{}: no such folder, expected one with data, "
                                                          "nodif_brain_mask, bvals and bvecs in it",
                                                          printable(f.folder)));
  f.dwi = needed(find_image(f.folder, "data"), f.folder, "data.nii.gz or data.nii");
  f.mask = needed(find_image(f.folder, "nodif_brain_mask"), f.folder, "nodif_brain_mask.nii.gz or .nii");
  f.bvals = needed(find_text(f.folder, "bvals"), f.folder, "bvals or bvals.txt");
  f.bvecs = needed(find_text(f.folder, "bvecs"), f.folder, "bvecs or bvecs.txt");
  f.nodif = find_image(f.folder, "nodif").value_or("");
  if (args.get<bool>("gradient-deviation"))
    f.deviation = needed(find_image(f.folder, "grad_dev"), f.folder, "grad_dev.nii.gz or .nii (-g asks for it)");
  return f;
}

void set(arguments& args, const char* name, const boost::any& value) {
  static_cast<std::map<std::string, po::variable_value>&>(args.values)[name] = po::variable_value(value, false);
}

/// What `voxherd ballstick` would have been told.
arguments ballstick_arguments(const arguments& args, const subject_files& f) {
  arguments b = args;
  set(b, "dwi", f.dwi);
  set(b, "bvals", f.bvals);
  set(b, "bvecs", f.bvecs);
  set(b, "mask", f.mask);
  if (!f.deviation.empty()) set(b, "grad-dev", f.deviation);
  set(b, "out", result_of(f));
  if (f.begun) set(b, "resume", true);
  return b;
}

void refuse_another_place(const arguments& args) {
  if (!args.has("out")) return;
  throw failure(exit_status::usage, "bedpostx: --out is not for this command: the output is SUBJECT_DIR.bedpostX");
}

void say_what_is_ignored(const arguments& args) {
  if (!args.has("no-difference")) return;
  spdlog::info("these flags of FSL make no difference here: {}",
               fmt::join(args.get<std::vector<std::string>>("no-difference"), ", "));
}

void write_fsl_folder(session& s, const arguments& args, const subject_files& f) {
  export_settings settings;
  settings.result = result_of(f);
  settings.out = f.out;
  settings.overwrite = true;  // a folder without the finished mark is our own, half written, or FSL's
  settings.quiet = args.get<bool>("quiet");
  settings.threads = export_threads(s, args.get<long long>("threads"));
  export_folder(s, settings, [&](const result_volumes& result) { return plan_fsl_folder(result, f.nodif); });
  spdlog::info("{}: finished; probtrackx2 can read it", f.out);
}

exit_status estimate_and_export(session& s, const arguments& args, const subject_files& f) {
  bool made = false;
  s.on_root([&] {
    std::error_code code;
    made = fs::create_directory(f.out, code);
    if (code)
      throw failure(exit_status::disk,
                    fmt::format("{}: the folder cannot be made: {}", printable(f.out), code.message()));
    if (!args.get<bool>("dry-run")) fs::remove(f.out + "/" + finished_mark);
  });
  const auto remove_if_empty = [&] {
    std::error_code not_empty;
    if (made) fs::remove(f.out, not_empty);
  };
  exit_status status = exit_status::whole;
  try {
    status = run_ballstick(s, ballstick_arguments(args, f));
  } catch (const failure&) {
    remove_if_empty();
    throw;
  }
  const bool dry_run = args.get<bool>("dry-run");
  if (dry_run) remove_if_empty();
  if (status == exit_status::whole && !dry_run) write_fsl_folder(s, args, f);
  return status;
}

exit_status run_command(session& s, const arguments& args) {
  refuse_another_place(args);
  say_what_is_ignored(args);
  subject_files f;
  s.on_root([&] { f = find_files(args); });
  for (std::string* path : {&f.folder, &f.out, &f.dwi, &f.mask, &f.bvals, &f.bvecs, &f.deviation, &f.nodif})
    s.broadcast(*path);
  s.broadcast(f.begun);
  if (f.dwi.empty()) {
    spdlog::info("{} is finished ({} is there): nothing done; --overwrite estimates it anew", f.out, finished_mark);
    return exit_status::whole;
  }
  return estimate_and_export(s, args, f);
}

}  // namespace

extern const command bedpostx_command{
    "bedpostx",
    "FSL's bedpostx: its folder and flags in, SUBJECT_DIR.bedpostX out; called again, it goes on",
    "SUBJECT_DIR [-n 3] [-w 1] [-b 1000] [-j 1250] [-s 25] [-model 2] [-g] [-c] [--rician] [--noard | --allard] "
    "[--f0 [--ardf0]] [--nf= --fudge= --bi= --nj= --se= --upe= --model= --seed= --Rmean= --Rstd=]",
    "subject",
    options,
    run_command,
    from_bedpostx};

}  // namespace voxherd
