#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace voxherd {

/// Lets the kernel write a file's changed pages to disk while the run still writes to it, so that the flush at the end
/// has little left to do. Only that flush guarantees what is on disk. Does nothing if the file cannot be opened.
class write_back {
 public:
  explicit write_back(const std::string& path);
  ~write_back();  ///< waits for the last write request
  write_back(const write_back&) = delete;
  write_back& operator=(const write_back&) = delete;

 private:
  void hurry(int file);

  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace voxherd
