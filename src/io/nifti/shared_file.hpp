#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "mpi/comm/session.hpp"
#include "mpi/result/temporary_file.hpp"

namespace voxherd {

/// A plain file written by all ranks, each its own ranges. It is a temporary_file until finish() renames it. Throws
/// failure (disk).
class shared_file {
 public:
  /// Collective. `bytes`: the final size (ranges never written read as zeros), or 0 if not known yet.
  shared_file(const session& s, const std::string& path, std::uint64_t bytes);
  ~shared_file();
  shared_file(const shared_file&) = delete;
  shared_file& operator=(const shared_file&) = delete;

  /// May be called by any thread.
  void write(std::uint64_t offset, const void* data, std::size_t bytes) const;
  void read(std::uint64_t offset, void* data, std::size_t bytes) const;

  /// Collective.
  void finish();

 private:
  int close_file();  ///< 0 or the error number

  const session& session_;
  std::string path_;
  std::unique_ptr<temporary_file> own_;  ///< of rank 0; the others open it
  int descriptor_ = -1;
};

/// Writes the first `bytes` of `plain` as the gzip file `path`, in members of 4 MiB, so that ranks and threads share
/// the work and the result does not depend on their number. Collective. Throws failure (disk).
void write_gzip(const session& s, const shared_file& plain, std::uint64_t bytes, const std::string& path, int threads);

}  // namespace voxherd
