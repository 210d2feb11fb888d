#include "src/tools/view/work_queue.hpp"

#include <utility>

namespace voxherd::view {

void work_queue::post(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  work_.push_back(std::move(work));
  changed_.notify_one();
}

void work_queue::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_one();
}

void work_queue::clear() {
  const std::lock_guard lock(mutex_);
  work_.clear();
}

bool work_queue::run(std::chrono::steady_clock::duration max_idle) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (!changed_.wait_for(lock, max_idle, [&] { return stopped_ || !work_.empty(); })) return false;
    if (stopped_) return true;
    const std::function<void()> next = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    next();
    lock.lock();
  }
}

}  // namespace voxherd::view
