#pragma once

#include <string>

namespace voxherd {

/// A folder that only this user can read, where the system has such files (TMPDIR); removed with what is in it.
class temporary_folder {
 public:
  /// `purpose`: a part of its name. Throws failure (disk).
  explicit temporary_folder(const std::string& purpose);
  ~temporary_folder();
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace voxherd
