#include "mpi/result/output_place.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "mpi/result/file_names.hpp"
#include "mpi/result/named_output.hpp"
#include "mpi/result/result_reader.hpp"
#include "mpi/result/same_study.hpp"
#include "mpi/result/table_checksum.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

std::string parent_folder(const std::string& out) {
  const fs::path parent = fs::path(out).parent_path();
  return parent.empty() ? "." : parent.string();
}

/// Throws if a file of the result cannot exist under `path`: a folder or a pipe has that name, or it is too long.
void check_file_name(const std::string& out, const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    if (S_ISREG(status.st_mode)) return;
    refuse_usage("--out {}: {} is {}, expected a file; choose another name", out, path,
                 S_ISDIR(status.st_mode) ? "a folder" : "a device or a pipe");
  }
  if (errno == ENOENT) return;
  throw failure(errno == ENAMETOOLONG ? exit_status::usage : exit_status::disk,
                fmt::format("--out {}: {}: {}", out, path, std::strerror(errno)));
}

bool same_file(int open_file, const std::string& path) {
  struct stat opened {
  }, named{};
  return fstat(open_file, &opened) == 0 && stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

}  // namespace

std::string unfinished_path(const std::string& out) { return out + ".part"; }

bool is_being_written(const std::string& out) {
  const int file = open((out + ".lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool held = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  return held;
}

output_lock::output_lock(const std::string& out) : path_(out + ".lock") {
  int tries_left = 20;  // one second: is_being_written() holds the lock for a moment
  while (true) {
    file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0)
      fail_on_disk("--out {}: {} cannot be created: {}; choose a folder that you may write to", out, path_,
                   std::strerror(errno));
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      const int why = errno;
      if (why != EWOULDBLOCK) {
        spdlog::warn("{}: this file system has no locks ({}); make sure that no second job writes {}", path_,
                     std::strerror(why), out);
        removed_.emplace(path_);
        return;
      }
      close(file_);
      if (tries_left-- > 0) {
        usleep(50000);
        continue;
      }
      refuse_usage("--out {}: another job is writing it (it holds the lock {}); wait for it, or choose another --out",
                   out, path_);
    }
    // The previous job may have removed the file between open and flock; then this lock protects nothing.
    if (same_file(file_, path_)) break;
    close(file_);
  }
  struct stat status {};
  if (fstat(file_, &status) == 0 && status.st_size > 0) {
    close(file_);
    refuse_usage("--out {}: {} is not empty, so it is no lock of voxherd; move it, or choose another --out", out,
                 path_);
  }
  removed_.emplace(path_);
}

std::optional<std::string> find_foreign_file(const std::string& out) {
  std::error_code ignored;
  for (const char* ending : {"", ".part", ".part.new"}) {
    if (!fs::is_regular_file(out + ending, ignored)) continue;
    std::array<char, result_mark.size()> first{};
    (void)disk_file(out + ending).read(0, std::as_writable_bytes(std::span(first)));
    const bool has_content = first != decltype(first){};  // zeros: nothing is written yet
    if (has_content && std::string_view(first.data(), first.size()) != result_mark) return out + ending;
  }
  const std::string lock = out + ".lock";
  if (fs::is_regular_file(lock, ignored) && fs::file_size(lock, ignored) > 0) return lock;
  return std::nullopt;
}

output_lock::~output_lock() {
  removed_.reset();
  close(file_);
}

beginning decide_beginning(const output_request& request, const result_layout& wanted, compared_with wanted_is) {
  const auto compare = wanted_is == compared_with::options ? check_same_options : check_same_study;
  const std::string& out = request.out;
  const std::string part = unfinished_path(out);
  const bool has_part = fs::exists(part), has_out = fs::exists(out);
  check_not_kept({request.option, out}, list_inputs(wanted.provenance));
  // No run leaves a link: continuing would write into the file that it leads to, perhaps a complete result.
  std::error_code ignored;
  const bool is_link = fs::is_symlink(fs::symlink_status(part, ignored));
  if (is_link && request.overwrite) return beginning::fresh;
  if (is_link)
    refuse_usage(
        "{} {}: {} is a link, expected a file that a stopped run has left; remove it, or replace it with --overwrite",
        request.option, out, part);
  if (request.resume && has_part && has_out && !request.overwrite) {
    refuse_usage(
        "{} {} exists, and {} was left by a stopped run; add --overwrite to continue it and replace {}, or remove one "
        "of them",
        request.option, out, part, out);
  }
  if (request.resume && has_part) {
    try {
      compare(result_reader(part), wanted);
      return beginning::resumed;
    } catch (const failure& f) {
      // A file that cannot be read now may be good.
      if (!request.overwrite || f.status == exit_status::disk) throw;
      return beginning::fresh;
    }
  }
  if (request.resume && has_out && !request.overwrite) {
    compare(result_reader(out), wanted);
    return beginning::already_complete;
  }
  if (request.overwrite) return beginning::fresh;
  if (request.is_step && (has_out || has_part)) {
    refuse_usage("{} was left by a stopped run; --resume continues it, --overwrite starts again", has_out ? out : part);
  }
  if (has_out) {
    refuse_usage("{} {} exists; --overwrite replaces it, or choose another name", request.option, out);
  }
  if (has_part) {
    refuse_usage("{} {}: {} was left by a stopped run; --resume continues it, --overwrite starts again", request.option,
                 out, part);
  }
  return beginning::fresh;
}

void check_output_folder(const std::string& out, std::uint64_t bytes, const std::string& option) {
  const std::string folder = parent_folder(out);
  if (out.empty()) refuse_usage("--out is missing: the name of the result file, e.g. result.h5");
  std::error_code ignored;
  if (fs::is_directory(out, ignored)) refuse_usage("{} {} is a folder, expected a file", option, out);
  if (!fs::is_directory(folder, ignored)) {
    fail_on_disk("{} {}: folder {} does not exist; create it first", option, out, folder);
  }
  check_name_length(out);
  for (const char* ending : {"", ".part", ".part.new", ".lock"}) check_file_name(out, out + ending);
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    fail_on_disk(errno, "{} {}: cannot write into {}", option, out, folder);
  }
  struct statvfs disk {};
  if (statvfs(folder.c_str(), &disk) != 0) return;
  const double free_bytes = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  if (free_bytes < static_cast<double>(bytes)) {
    fail_on_disk("{} {}: the result needs {}, but {} has only {} free", option, out,
                 readable_bytes(static_cast<double>(bytes)), folder, readable_bytes(free_bytes));
  }
}

void remove_leftovers(const std::string& out) {
  if (is_being_written(out)) return;
  const output_lock lock(out);  // its end removes OUT.lock
  std::error_code ignored;
  for (const char* ending : {".part", ".part.new"}) fs::remove(out + ending, ignored);
}

void check_still_there(const std::string& out) {
  const std::string part = unfinished_path(out);
  if (access(part.c_str(), F_OK) == 0) return;
  fail_on_disk("{} was removed while the run was writing it; start again", part);
}

void give_final_name(const std::string& out, existing_file existing) {
  const std::string part = unfinished_path(out);
  check_still_there(out);
  {
    const result_reader reader(part);
    const auto& journal = reader.journal();
    const auto missing = std::count_if(journal.begin(), journal.end(), [](const auto& e) { return e.done != 1; });
    if (!reader.complete() || missing != 0) {
      throw failure(exit_status::internal_error, fmt::format("{}: {} batches are missing at the end", part, missing));
    }
  }
  const int error = rename_file(part, out, existing);
  if (error == EEXIST) {
    fail_on_disk(
        "{} was created by another program during the run and is not replaced; move it, then run the same command with "
        "--resume",
        out);
  }
  if (error != 0) fail_on_disk(error, "renaming {} to {}", part, out);
  sync_folder(parent_folder(out));
}

}  // namespace voxherd
