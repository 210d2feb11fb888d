#include <fmt/core.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/command.hpp"
#include "core/command_line.hpp"
#include "core/own_program.hpp"
#include "core/text.hpp"
#include "mpi/comm/session.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

struct shims_request {
  std::string folder, fsldir;
  std::vector<std::string> names;
};

void check_shims(const shims_request& r, const given_options&) {
  for (const std::string& name : r.names)
    if (name.find('/') != std::string::npos || find_replaced(all_commands(), name) == nullptr)
      refuse_usage(
          "--name {}: expected a program that voxherd replaces, perhaps with a version, e.g. probtrackx2_gpu10.2",
          name);
}

const option_table<shims_request>& shims_options() {
  using T = shims_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Output", {
      {"folder", &T::folder, text_kind::file,
       {.text = "folder to make, or to add links to", .value = "DIR", .required = true, .place = 1}}})
    .group("Programs", {
      {"fsldir", &T::fsldir, text_kind::file,
       {.text = "an installation of FSL: DIR becomes its copy made of links, in whose bin voxherd takes the place of "
                "the programs that it replaces; then set FSLDIR=DIR", .value = "FSLDIR"}},
      {"name", &T::names, text_kind::any,
       {.text = "a further name, e.g. probtrackx2_gpu10.2", .value = "NAME"}}})
    .check(check_shims);
  // clang-format on
  return table;
}

/// A link to make.
struct link_plan {
  fs::path link, target;
};

fs::path this_program() {
  const fs::path path = own_program();
  if (path.empty()) refuse_missing("this program's own file cannot be found; mount /proc, or start it by its path");
  return path;
}

/// What a link in `bin` names: relative to it inside the program's own installation, which may be moved.
fs::path target_from(const fs::path& bin) {
  const fs::path program = this_program(), prefix = program.parent_path().parent_path();
  const fs::path place = fs::weakly_canonical(bin);
  const bool is_inside = place.string().starts_with(prefix.string() + "/");
  return is_inside ? program.lexically_relative(place) : program;
}

std::set<std::string> replaced_names(const shims_request& request) {
  std::set<std::string> names(request.names.begin(), request.names.end());
  for (const command* c : all_commands()) {
    for (const replaced_name& other : list_replaced(*c)) names.insert(other.program);
  }
  return names;
}

void plan_folder(const fs::path& from, const fs::path& to, const std::set<std::string>& left_out,
                 std::vector<link_plan>& plan) {
  for (const fs::directory_entry& entry : fs::directory_iterator(from))
    if (const std::string name = entry.path().filename().string(); !left_out.contains(name))
      plan.push_back({to / name, fs::absolute(entry.path())});
}

/// All links of the copy of FSL but those to voxherd. Adds the versions of our programs that FSL's bin has to `names`.
void plan_fsl(const shims_request& request, std::set<std::string>& names, std::vector<link_plan>& plan) {
  const fs::path fsl = request.fsldir, bin = fsl / "bin";
  if (!fs::is_directory(bin))
    refuse_missing("--fsldir {}: has no folder bin; expected an installation of FSL", request.fsldir);
  // Otherwise the copy would contain itself.
  const std::string inside = fs::weakly_canonical(request.folder).string() + "/";
  if (inside.starts_with(fs::canonical(fsl).string() + "/"))
    refuse_usage("--fsldir {}: {} lies in it; choose a folder elsewhere", request.fsldir, request.folder);
  for (const fs::directory_entry& entry : fs::directory_iterator(bin))
    if (const std::string name = entry.path().filename().string(); find_replaced(all_commands(), name) != nullptr)
      names.insert(name);
  plan_folder(fsl, request.folder, {"bin"}, plan);
  plan_folder(bin, fs::path(request.folder) / "bin", names, plan);
}

bool is_made(const link_plan& l) {
  std::error_code code;
  return fs::read_symlink(l.link, code) == l.target && !code;
}

/// Whether the link is one of an earlier call, whose target was moved since: it leads to nothing, or to another copy of
/// this program, by the same name as the target now has.
bool is_outdated(const link_plan& l) {
  std::error_code code;
  const fs::path target = fs::read_symlink(l.link, code);
  if (code || target.filename() != l.target.filename()) return false;
  return !fs::exists(l.link, code) || l.target.filename() == this_program().filename();
}

/// Throws failure (usage) before anything is changed if a name is taken.
void check_free(const std::vector<link_plan>& plan) {
  for (const link_plan& l : plan) {
    std::error_code code;
    if (!is_made(l) && !is_outdated(l) && fs::exists(fs::symlink_status(l.link, code)))
      refuse_usage("{} exists, and is not a link to {}; choose another folder", l.link.string(), l.target.string());
  }
}

void make_links(const fs::path& folder, const std::vector<link_plan>& plan) {
  try {
    fs::create_directories(folder);
    for (const link_plan& l : plan) {
      if (is_made(l)) continue;
      if (is_outdated(l)) fs::remove(l.link);
      fs::create_symlink(l.target, l.link);
    }
  } catch (const fs::filesystem_error& e) {
    fail_on_disk(e.code().value(), "{}: cannot be made", e.path1().string());
  }
}

exit_status run_shims(session& s, const shims_request& request) {
  s.on_root([&] {
    std::set<std::string> names = replaced_names(request);
    std::vector<link_plan> plan;
    const bool is_copy = !request.fsldir.empty();
    const fs::path bin = is_copy ? fs::path(request.folder) / "bin" : fs::path(request.folder);
    if (is_copy) plan_fsl(request, names, plan);
    for (const std::string& name : names) plan.push_back({bin / name, target_from(bin)});
    check_free(plan);
    make_links(bin, plan);
    for (const std::string& name : names) fmt::print("{}\n", (bin / name).string());
    const std::string folder = fs::absolute(request.folder).lexically_normal().string();
    if (is_copy) fmt::print(stderr, "next: export FSLDIR={0} PATH={0}/bin:$PATH\n", folder);
    if (!is_copy) fmt::print(stderr, "next: export PATH={}:$PATH\n", folder);
  });
  return exit_status::complete;
}

}  // namespace

extern const command shims_command = run_by_first_rank(
    make_command<shims_options, run_shims>({"shims", "links by which pipelines call voxherd instead of FSL",
                                            "voxherd shims voxherd-bin\n"
                                            "voxherd shims fsl --fsldir /usr/local/fsl"}));

}  // namespace voxherd
