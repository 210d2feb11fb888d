#include "mpi/result/mpi_file_name.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <semaphore.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/failure.hpp"

namespace voxherd {

namespace {

constexpr std::size_t max_mpi_name = 220, max_result_name = 190;

}  // namespace

void check_name_length(const std::string& out) {
  const std::size_t length = std::filesystem::path(out).filename().string().size();
  if (length <= max_result_name) return;
  throw failure(exit_status::usage, fmt::format("--out {}: the file's name has {} characters, expected at most {}", out,
                                                length, max_result_name));
}

short_name::short_name(const std::string& path) : name_(path) {
  if (path.size() <= max_mpi_name) return;
  const std::filesystem::path full(path);
  const std::string folder = full.has_parent_path() ? full.parent_path().string() : ".";
  folder_ = open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) throw failure(exit_status::disk, fmt::format("{}: {}", path, std::strerror(errno)));
  name_ = fmt::format("/proc/self/fd/{}/{}", folder_, full.filename().string());
}

void short_name::remove_stale_semaphore() const {
  sem_unlink(("OMPIO_" + std::filesystem::path(name_).filename().string()).c_str());
}

short_name::~short_name() {
  if (folder_ >= 0) close(folder_);
}

}  // namespace voxherd
