#include "src/tools/cohort/cost_meter.hpp"

#include <algorithm>
#include <utility>

namespace voxherd {

namespace {

constexpr double seconds_per_hour = 3600, joules_per_wh = 3600;

cost passed_on_gpu(double hours, const gpu_reading& before, const gpu_reading& now) {
  cost c;
  c.gpu_hours = hours;
  // The counter starts again when the driver is loaded again.
  if (before.energy_j && now.energy_j) c.energy_wh = std::max(0.0, *now.energy_j - *before.energy_j) / joules_per_wh;
  if (now.busy) {
    c.metered_gpu_hours = hours;
    c.busy_gpu_hours = hours * *now.busy;
  }
  return c;
}

}  // namespace

cost_meter::cost_meter(std::size_t gpus, gpu_reader read, double now_s) : read_(std::move(read)), last_s_(now_s) {
  for (std::size_t g = 0; g < gpus; ++g) last_.push_back(read_(g));
}

void cost_meter::begin(std::size_t subject, const compute_place& where, const cost& so_far) {
  running_[subject] = {where, so_far};
}

void cost_meter::divide(std::size_t gpu, const cost& passed) {
  const auto is_user = [&](const auto& entry) { return entry.second.where.gpu == gpu; };
  const auto users = std::count_if(running_.begin(), running_.end(), is_user);
  for (auto& entry : running_)
    if (is_user(entry)) entry.second.spent += passed * (1.0 / static_cast<double>(users));
}

void cost_meter::measure(double now_s) {
  const double hours = (now_s - last_s_) / seconds_per_hour;
  last_s_ = now_s;
  for (std::size_t g = 0; g < last_.size(); ++g) {
    const gpu_reading now = read_(g);
    const cost passed = passed_on_gpu(hours, last_[g], now);
    last_[g] = now;
    total_ += passed;
    divide(g, passed);
  }
  for (auto& [subject, own] : running_) {
    if (own.where.gpu) continue;
    own.spent.core_hours += hours * own.where.threads;
    total_.core_hours += hours * own.where.threads;
  }
}

}  // namespace voxherd
