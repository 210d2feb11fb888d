#include "core/removed_at_end.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace voxherd {

namespace {

std::mutex removed_mutex;
std::vector<const std::string*> removed_paths;

}  // namespace

removed_at_end::removed_at_end(std::string path) : path_(std::move(path)) {
  const std::lock_guard lock(removed_mutex);
  removed_paths.push_back(&path_);
}

removed_at_end::~removed_at_end() {
  unlink(path_.c_str());
  const std::lock_guard lock(removed_mutex);
  removed_paths.erase(std::find(removed_paths.begin(), removed_paths.end(), &path_));
}

void removed_at_end::remove_all() {
  const std::lock_guard lock(removed_mutex);
  for (const std::string* path : removed_paths) unlink(path->c_str());
}

}  // namespace voxherd
