#include "mpi/run/run_warnings.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace voxherd {

namespace {

constexpr std::size_t max_warnings = 100, max_length = 500;

/// Keeps the texts of warnings in memory.
class warning_list final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::vector<std::string> texts() {
    const std::lock_guard lock(mutex_);
    return texts_;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    texts_.clear();
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (message.level != spdlog::level::warn || texts_.size() >= max_warnings) return;
    std::string text(message.payload.data(), std::min<std::size_t>(message.payload.size(), max_length));
    if (std::find(texts_.begin(), texts_.end(), text) == texts_.end()) texts_.push_back(std::move(text));
  }
  void flush_() override {}

 private:
  std::vector<std::string> texts_;
};

const std::shared_ptr<warning_list>& all_warnings() {
  static const auto all = std::make_shared<warning_list>();
  return all;
}

}  // namespace

void note_warnings() { spdlog::default_logger()->sinks().push_back(all_warnings()); }

void forget_warnings() { all_warnings()->clear(); }

nlohmann::json noted_warnings() {
  // A file name in a warning may be in any encoding.
  const nlohmann::json texts = all_warnings()->texts();
  return nlohmann::json::parse(texts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace voxherd
