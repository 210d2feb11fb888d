#include "mpi/run/summary.hpp"

#include <fmt/core.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/json_text.hpp"
#include "mpi/run/progress.hpp"

namespace voxherd {

namespace {

constexpr std::size_t max_rows = 16;
constexpr std::array<const char*, 8> numbers{
    "items",           "batches",         "reading_seconds", "computing_seconds",
    "waiting_seconds", "writing_seconds", "peak_host_bytes", "peak_device_bytes"};

nlohmann::json account_json(const rank_account& a, int rank) {
  return {{"rank", std::to_string(rank)},
          {"host", a.host},
          {"device", a.device},
          {"items", a.items},
          {"batches", a.batches},
          {"reading_seconds", a.reading_seconds},
          {"computing_seconds", a.computing_seconds},
          {"waiting_seconds", a.waiting_seconds},
          {"writing_seconds", a.writing_seconds},
          {"peak_host_bytes", a.peak_host_bytes},
          {"peak_device_bytes", a.peak_device_bytes}};
}

nlohmann::json combined(const nlohmann::json& ranks, const char* label, double (*combine)(std::vector<double>&)) {
  nlohmann::json row{{"rank", label}, {"host", ""}, {"device", ""}};
  for (const char* key : numbers) {
    std::vector<double> values;
    for (const auto& r : ranks) values.push_back(r.at(key).get<double>());
    row[key] = combine(values);
  }
  return row;
}

double sum_values(std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum;
}
double mean(std::vector<double>& v) { return sum_values(v) / static_cast<double>(v.size()); }
double minimum(std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }
double maximum(std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }

std::string table_row(const nlohmann::json& r) {
  const double device_bytes = r.at("peak_device_bytes").get<double>();
  return fmt::format("{:>5} {:>11.0f} {:>8.0f} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f} {:>10} {:>10}  {}\n",
                     r.at("rank").get<std::string>(), r.at("items").get<double>(), r.at("batches").get<double>(),
                     r.at("reading_seconds").get<double>(), r.at("computing_seconds").get<double>(),
                     r.at("waiting_seconds").get<double>(), r.at("writing_seconds").get<double>(),
                     readable_bytes(r.at("peak_host_bytes").get<double>()),
                     device_bytes > 0 ? readable_bytes(device_bytes) : "-", r.at("device").get<std::string>());
}

}  // namespace

std::uint64_t peak_host_bytes() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

nlohmann::json gather_summary(const session& s, const rank_account& own, double wall_seconds) {
  const auto texts = s.gather(dump_json(account_json(own, s.rank())));
  nlohmann::json summary;
  if (s.is_root()) {
    nlohmann::json ranks = nlohmann::json::array();
    for (const std::string& t : texts) ranks.push_back(nlohmann::json::parse(t));
    summary = {{"seconds", wall_seconds}, {"rank_count", s.size()}};
    summary["all"] = combined(ranks, "all", sum_values);
    summary["items_per_second"] = summary["all"]["items"].get<double>() / std::max(wall_seconds, 1e-9);
    if (ranks.size() > max_rows) {
      ranks = {combined(ranks, "min", minimum), combined(ranks, "mean", mean), combined(ranks, "max", maximum)};
    }
    summary["ranks"] = ranks;
  }
  s.broadcast(summary);
  return summary;
}

std::string summary_table(const nlohmann::json& summary, const std::string& item) {
  std::string table =
      fmt::format("{:>5} {:>11} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  {}\n", "rank", "items", "batches",
                  "reading s", "computing", "waiting", "writing", "host mem", "device mem", "device");
  for (const auto& r : summary.at("ranks")) table += table_row(r);
  if (summary.at("ranks").size() > 1) table += table_row(summary.at("all"));
  return table + fmt::format("{} in {}: {:.1f} {}s/s\n",
                             counted(static_cast<std::uint64_t>(summary.at("all").at("items").get<double>()), item),
                             clock_time(summary.at("seconds").get<double>()),
                             summary.at("items_per_second").get<double>(), item);
}

namespace {

constexpr std::size_t max_warnings = 100, max_length = 500;

}  // namespace

class warning_list::sink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::vector<std::string> texts() {
    const std::lock_guard lock(mutex_);
    return texts_;
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

warning_list::warning_list() : sink_(std::make_shared<sink>()) { spdlog::default_logger()->sinks().push_back(sink_); }

warning_list::~warning_list() { std::erase(spdlog::default_logger()->sinks(), sink_); }

nlohmann::json warning_list::texts() const {
  // A file name in a warning may be in any encoding.
  const nlohmann::json texts = sink_->texts();
  return nlohmann::json::parse(dump_json(texts));
}

}  // namespace voxherd
