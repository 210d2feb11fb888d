#include "mpi/result/write_back.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>

namespace voxherd {

namespace {
constexpr std::chrono::milliseconds between{200};
}

write_back::write_back(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file >= 0) thread_ = std::thread([this, file] { hurry(file); });
}

write_back::~write_back() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void write_back::hurry(int file) {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    lock.unlock();
    // Starts writing the changed pages and returns; waits only while the disk's queue is full.
    (void)sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);
    lock.lock();
    stopped_.wait_for(lock, between, [this] { return stop_; });
  }
  lock.unlock();
  close(file);
}

}  // namespace voxherd
