#pragma once

#include <string>

namespace voxherd {

/// A file that must not outlive this process, such as a lock. It is removed at the end of this object's life, and by
/// remove_all() where the process ends without destructors.
class removed_at_end {
 public:
  explicit removed_at_end(std::string path);
  ~removed_at_end();
  removed_at_end(const removed_at_end&) = delete;
  removed_at_end& operator=(const removed_at_end&) = delete;

  /// Removes the files of all objects. For any thread.
  static void remove_all();

 private:
  std::string path_;
};

}  // namespace voxherd
