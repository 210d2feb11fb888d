#include "mpi/result/named_output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/failure.hpp"
#include "mpi/result/temporary_file.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

/// The number of an open descriptor that has a path, such as 1 for /dev/stdout. It is not opened again: as a path it
/// may be a file that a shell writes to.
std::optional<int> find_descriptor(const std::string& path) {
  if (path == "/dev/stdout") return 1;
  if (path == "/dev/stderr") return 2;
  for (const std::string folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    const auto [end, code] = std::from_chars(path.data() + folder.size(), path.data() + path.size(), number);
    if (code == std::errc() && end == path.data() + path.size()) return number;
  }
  return std::nullopt;
}

enum class target { new_file, old_file, stream };

/// The path to write: that behind all symbolic links, unless they stay.
std::string path_to_write(const named_output& output) {
  return output.name == file_name::given ? follow_links(output.path) : output.path;
}

target find_target(const named_output& output, const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) return target::old_file;
  if (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail_on_disk(errno, "{} {}", output.option, output.path);
    return target::new_file;
  }
  if (S_ISDIR(status.st_mode)) refuse_usage("{} {} is a folder, expected a file", output.option, output.path);
  if (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode)) return target::stream;
  if (!S_ISREG(status.st_mode)) refuse_usage("{} {} is not a file, a terminal or a pipe", output.option, output.path);
  return target::old_file;
}

[[noreturn]] void refuse_creation(const named_output& output, const std::string& path, int error) {
  const std::string given = fs::path(path).parent_path().string(), parent = given.empty() ? "." : given;
  if (error == ENOENT && access(parent.c_str(), F_OK) != 0) {
    fail_on_disk("{} {}: folder {} does not exist; create it first", output.option, output.path, parent);
  }
  if (error == ENOENT || error == EACCES || error == EPERM || error == EROFS) {
    fail_on_disk(error, "{} {}: cannot write into {}", output.option, output.path, parent);
  }
  fail_on_disk(error, "{} {}", output.option, output.path);
}

/// Returns 0 or the error number.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(file, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

void write_stream(const named_output& output, int file, std::string_view text) {
  if (file < 0) fail_on_disk(errno, "{} {}", output.option, output.path);
  const auto usual = std::signal(SIGPIPE, SIG_IGN);  // a pipe without a reader is an error as any other
  const int write_error = write_all(file, text);
  std::signal(SIGPIPE, usual);
  const int error = close(file) != 0 && write_error == 0 ? errno : write_error;
  if (error != 0) fail_on_disk(error, "{} {}", output.option, output.path);
}

void write_file(const named_output& output, const std::string& path, std::string_view text) {
  temporary_file file(path);
  if (file.error() != 0) refuse_creation(output, path, file.error());
  int error = write_all(file.descriptor(), text);
  if (error == 0) error = file.close_file();
  if (error == 0) error = file.rename(output.overwrite ? existing_file::replaced : existing_file::kept);
  if (error == EEXIST) {
    fail_on_disk("{} {} was created by another program in the meantime and is not replaced", output.option,
                 output.path);
  }
  if (error != 0) fail_on_disk(error, "{} {}", output.option, output.path);
}

/// The name behind all symbolic links, also that of a missing file; none for links that lead back to themselves.
std::optional<std::string> find_link_target(const std::string& path) {
  constexpr int max_links = 40;  // as in the kernel
  fs::path at = path;
  for (int links = 0; links <= max_links; ++links) {
    std::error_code error;
    if (find_descriptor(at.string())) return at.string();
    const fs::path next = fs::read_symlink(at, error);
    if (error) return at.string();  // not a link, or missing
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  return std::nullopt;
}

}  // namespace

void check_output(const named_output& output, const std::vector<kept_file>& others) {
  if (output.path.empty()) return;
  check_not_kept(output, others);
  const std::string path = path_to_write(output);
  if (const auto descriptor = find_descriptor(path)) {
    const int mode = fcntl(*descriptor, F_GETFL);
    if (mode < 0) fail_on_disk(errno, "{} {}", output.option, output.path);
    if ((mode & O_ACCMODE) == O_RDONLY) fail_on_disk(EBADF, "{} {}", output.option, output.path);
    return;
  }
  const target found = find_target(output, path);
  if (found == target::stream) {
    if (access(path.c_str(), W_OK) != 0) fail_on_disk(errno, "{} {}", output.option, output.path);
    return;
  }
  if (found == target::old_file && !output.overwrite) {
    refuse_usage("{} {} exists; --overwrite replaces it, or choose another name", output.option, output.path);
  }
  const temporary_file trial(path);
  if (trial.error() != 0) refuse_creation(output, path, trial.error());
}

void write_output(const named_output& output, std::string_view text) {
  if (output.path.empty()) return;
  const std::string path = path_to_write(output);
  if (const auto descriptor = find_descriptor(path)) {
    std::fflush(nullptr);  // what was printed before appears before
    write_stream(output, dup(*descriptor), text);
  } else if (find_target(output, path) == target::stream) {
    write_stream(output, open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC), text);
  } else {
    write_file(output, path, text);
  }
}

std::string follow_links(const std::string& path) {
  if (const auto target = find_link_target(path)) return *target;
  refuse_usage("{}: the symbolic link leads back to itself", path);
}

file_identity::file_identity(const std::string& path) {
  if (path.empty()) return;
  struct stat found {};
  if (stat(path.c_str(), &found) == 0) device = found.st_dev, number = found.st_ino;
  std::error_code error;
  if (const auto target = find_link_target(path))
    name = fs::weakly_canonical(fs::absolute(*target, error), error).string();
}

bool file_identity::operator==(const file_identity& other) const {
  if (number != 0 && number == other.number && device == other.device) return true;
  return !name.empty() && name == other.name;
}

bool is_same_file(const std::string& a, const std::string& b) { return file_identity(a) == file_identity(b); }

void check_not_kept(const named_output& output, const std::vector<kept_file>& others) {
  if (output.path.empty()) return;
  const file_identity own(output.path);
  for (const kept_file& other : others)
    if (file_identity(other.path) == own)
      refuse_usage("{} {} is {}; choose another name", output.option, output.path, other.role);
}

std::vector<kept_file> list_inputs(const nlohmann::json& provenance) {
  std::vector<kept_file> files;
  if (!provenance.contains("inputs")) return files;
  for (const auto& [name, input] : provenance.at("inputs").items()) {
    if (!input.is_object()) continue;
    const std::string role = "the input --" + name;
    files.push_back({input.value("path", ""), role});
    for (const auto& path : input.value("paths", nlohmann::json::array())) files.push_back({path, role});
  }
  return files;
}

std::vector<kept_file> list_result_files(const std::string& option, const std::string& result) {
  std::vector<kept_file> files{{result, "also the file of " + option}};
  for (const char* ending : {".part", ".part.new", ".lock", ".task.json"})
    files.push_back({result + ending, "a temporary file of " + option});
  return files;
}

}  // namespace voxherd
