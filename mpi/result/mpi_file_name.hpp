#pragma once

#include <string>

namespace voxherd {

/// A name for MPI-IO. Open MPI 4.1 copies a file's name into 256 bytes, without a check, and appends to it: long paths
/// are replaced by one through /proc while this object exists.
class short_name {
 public:
  explicit short_name(const std::string& path);
  ~short_name();
  short_name(const short_name&) = delete;
  short_name& operator=(const short_name&) = delete;

  const std::string& name() const { return name_; }
  /// Open MPI 4.1 protects a file's shared pointer with a semaphore named after the file. If a process was killed while
  /// it held that, the next one would wait for it for ever.
  void remove_stale_semaphore() const;

 private:
  int folder_ = -1;
  std::string name_;
};

/// Throws failure (usage) if the name of a result, without its folder, is too long for MPI-IO.
void check_name_length(const std::string& out);

}  // namespace voxherd
