#pragma once

#include <fcntl.h>

#include <string>

#include "mpi/result/file_names.hpp"

namespace voxherd {

/// A new file that will get the name `path` when it is complete. Until then it is next to it, as PATH.voxherd-part, or
/// PATH.voxherd-part2 and so on while other processes write files for the same path: each has its own. What a killed
/// process has left is removed by the next one. Other files and links stay. The destructor removes the
/// file if it was not renamed.
class temporary_file {
 public:
  /// `access`: O_WRONLY or O_RDWR.
  explicit temporary_file(const std::string& path, int access = O_WRONLY);
  ~temporary_file();
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  int error() const { return error_; }  ///< why it could not be created; 0 if it was
  int descriptor() const { return file_; }
  const std::string& name() const { return name_; }

  /// Returns 0 or the error number: network file systems may report a full disk only here.
  int close_file();
  /// Gives it its name; a link that has this name is replaced, not followed. Returns 0 or the error number.
  int rename(existing_file existing);

 private:
  void create(int access);

  std::string path_, name_;
  int file_ = -1, lock_ = -1, error_ = 0;
  bool renamed_ = false;
};

}  // namespace voxherd
