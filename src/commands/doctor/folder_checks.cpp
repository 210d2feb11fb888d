#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/text.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/result/result_reader.hpp"
#include "mpi/result/result_writer.hpp"
#include "src/commands/doctor/checks.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t items_per_rank = 1 << 16;

/// After linux/magic.h, and what the file systems of clusters answer.
std::string file_system_name(long type) {
  constexpr std::array<std::pair<long, const char*>, 9> names{{{0x6969, "NFS"},
                                                               {0x0bd00bd0, "Lustre"},
                                                               {0x47504653, "GPFS"},
                                                               {0x19830326, "BeeGFS"},
                                                               {0xef53, "ext4"},
                                                               {0x58465342, "XFS"},
                                                               {0x9123683e, "btrfs"},
                                                               {0x01021994, "tmpfs"},
                                                               {0x794c7630, "overlay"}}};
  for (const auto& [number, name] : names)
    if (number == type) return name;
  return fmt::format("file system {:#x}", type);
}

/// On rank 0.
finding check_space(const std::string& folder) {
  struct statfs disk {};
  if (statfs(folder.c_str(), &disk) != 0) return {verdict::problem, "folder", folder + ": " + std::strerror(errno)};
  const double free_bytes = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_bsize);
  const std::string text =
      fmt::format("{}: {}, {} free", folder, file_system_name(disk.f_type), readable_bytes(free_bytes));
  if (free_bytes > 1e9) return {verdict::fine, "folder", text};
  return {verdict::advice, "folder", text + ": a result of ballstick may take several GB; --dry-run tells how much"};
}

/// On rank 0. The lock prevents that two jobs write the same result. Throws failure (disk) if no file can be created.
finding check_locks(const std::string& trial) {
  const int file = open(trial.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) fail_on_disk(errno, "--out: cannot create {}", trial);
  const bool works = flock(file, LOCK_EX | LOCK_NB) == 0;
  const int why = errno;
  close(file);
  unlink(trial.c_str());
  if (works) return {verdict::fine, "locks", "two jobs cannot write the same result"};
  return {verdict::advice, "locks",
          fmt::format("none on this file system ({}): never start two jobs with the same --out", std::strerror(why))};
}

/// A result with one batch per rank.
result_layout trial_layout(int ranks, const std::vector<std::uint64_t>& voxels) {
  result_layout layout;
  layout.version = version;
  layout.analysis = "doctor";
  layout.grid.size = {voxels.size(), 1, 1};
  layout.item_voxels = voxels;
  layout.outputs = {{"voxel", element_type::uint64, {}, output_layout::volume, "1", "index of the voxel"}};
  for (std::uint64_t r = 0; r < static_cast<std::uint64_t>(ranks); ++r)
    layout.batches.push_back({r, r * items_per_rank, items_per_rank});
  layout.configuration = nlohmann::json::object();
  layout.provenance = nlohmann::json::object();
  return layout;
}

/// Collective. Throws failure if the file cannot be created, or differs from what was written. A write that fails
/// later, although the file's blocks are reserved, ends all ranks with its message, as in a run.
void write_and_read(const session& s, const std::string& path) {
  std::vector<std::uint64_t> voxels(items_per_rank * static_cast<std::uint64_t>(s.size()));
  for (std::uint64_t v = 0; v < voxels.size(); ++v) voxels[v] = v;
  const result_layout layout = trial_layout(s.size(), voxels);
  result_writer writer = result_writer::create(s, path, layout);
  const std::array values{std::as_bytes(std::span(voxels))};
  s.agree_or_end([&] { writer.write_known(static_cast<std::uint64_t>(s.rank()), values); },
                 [&] { unlink(path.c_str()); });
  writer.finish("{}");
  s.on_root([&] {
    const result_reader reader(path);
    for (const batch& b : layout.batches) {
      if (reader.compute_checksum(b) == reader.journal()[b.number].checksum) continue;
      fail_on_disk("what rank {} wrote to {} was read differently", b.number, path);
    }
  });
}

/// Collective.
finding check_parallel_file(const session& s, const std::string& path) {
  finding result{verdict::fine, "HDF5",
                 fmt::format("{}: a file written by {} and read again", hdf5_library(),
                             counted(static_cast<std::uint64_t>(s.size()), "rank"))};
  try {
    write_and_read(s, path);
  } catch (const failure& f) {
    result = {verdict::problem, "HDF5",
              fmt::format("{}: {}; do all nodes share this folder?", hdf5_library(), f.what())};
  }
  if (s.is_root()) unlink(path.c_str());
  return result;
}

}  // namespace

findings check_folder(const session& s, const std::string& folder) {
  const std::string trial =
      fmt::format("{}/voxherd-doctor.{}.h5", folder,
                  s.all_reduce(reduction::max, s.is_root() ? static_cast<std::uint64_t>(getpid()) : 0));
  findings all;
  const bool is_usable = s.from_root([&] {
    try {
      check_output_folder(trial, 0);
      all = {check_space(folder), check_locks(trial + ".lock")};
      return true;
    } catch (const failure& f) {
      const std::string why = f.what();
      all = {{verdict::problem, "folder", why.substr(why.find(": ") + 2) + "; name another: voxherd doctor FOLDER"}};
      return false;
    }
  });
  if (is_usable) all.push_back(check_parallel_file(s, trial));
  return all;
}

}  // namespace voxherd
