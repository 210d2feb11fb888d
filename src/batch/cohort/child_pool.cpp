#include "src/batch/cohort/child_pool.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <csignal>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "core/clock.hpp"
#include "core/own_program.hpp"
#include "core/text.hpp"
#include "mpi/run/progress.hpp"
#include "mpi/run/signals.hpp"
#include "src/batch/cohort/child_process.hpp"
#include "src/batch/cohort/cost.hpp"

namespace voxherd {

namespace {

constexpr useconds_t poll_period_us = 20000;
constexpr double measure_period_s = 1;  // NVML's busy fraction is of the last second at most
constexpr double save_period_s = 60;
constexpr double opening_period_s = 0.2;

struct running_child {
  std::size_t place;
  pid_t process;
  child_log log;
  double started_s;
};

struct pool_counts {
  std::size_t complete = 0, complete_before = 0, elsewhere = 0, failed = 0, stopped = 0;
  std::size_t ended() const { return complete + complete_before + elsewhere + failed + stopped; }
};

bool is_stop_signal(int signal) { return signal == SIGTERM || signal == SIGINT || signal == SIGUSR1; }

/// Signals of a defect, which would come again.
bool is_crash(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGABRT ||
         signal == SIGSYS;
}

class pool {
 public:
  pool(const std::vector<pool_job>& jobs, const pool_settings& settings)
      : jobs_(jobs),
        settings_(settings),
        environment_(initial_environment()),
        style_(choose_progress_style(false, true)),
        progress_(std::in_place, style_, jobs.size(), 0, "cohort", "subject"),
        start_s_(steady_seconds()),
        meter_(settings.gpus.size(), open_nvml(settings.gpus), start_s_) {
    for (std::size_t i = 0; i < jobs.size(); ++i) waiting_.push_back(i);
  }

  exit_status run() {
    while (true) {
      if (stop_signals::received() != 0) forward_stop();
      const auto ended = find_ended();
      open_places();
      if (!ended.empty() || can_start() || steady_seconds() - measured_s_ > measure_period_s) measure();
      for (const auto& [job, how] : ended) finish(job, how);
      while (can_start()) start_next();
      if (running_.empty()) break;
      if (style_ == progress_style::bar) progress_->update(counts_.ended());
      usleep(poll_period_us);
    }
    progress_->update(counts_.ended());
    progress_.reset();  // ends the bar's line
    print_summary();
    return status();
  }

 private:
  std::vector<bool> taken_places() const {
    std::vector<bool> taken;
    for (const double fraction : opening_) taken.push_back(fraction > 0);
    for (const auto& [job, child] : running_) taken[child.place] = true;
    return taken;
  }

  bool can_start() const {
    const bool ends = signal_ != 0 || (settings_.stops_at_failure && counts_.failed > 0);
    return !ends && !waiting_.empty() && choose_place(settings_.places, taken_places()).has_value();
  }

  /// Opens places whose GPU's first subject has done enough, or has ended.
  void open_places() {
    if (steady_seconds() - looked_s_ < opening_period_s) return;
    looked_s_ = steady_seconds();
    for (std::size_t i = 0; i < opening_.size(); ++i) {
      const auto first = opening_[i] > 0 ? first_on_gpu_.find(*settings_.places[i].gpu) : first_on_gpu_.end();
      if (first == first_on_gpu_.end()) continue;
      const bool runs = running_.find(first->second) != running_.end();
      if (!runs || jobs_[first->second].fraction_done() >= opening_[i]) opening_[i] = 0;
    }
  }

  std::string place_text(const compute_place& place) const {
    return place.gpu ? "GPU " + settings_.gpus[*place.gpu] : counted(static_cast<std::uint64_t>(place.threads), "core");
  }

  /// A line on its own: where a bar is shown, it is erased and drawn again later.
  template <class... T>
  void say(spdlog::level::level_enum level, fmt::format_string<T...> format, T&&... values) const {
    if (style_ == progress_style::bar) print_error_output("\r\033[K");
    spdlog::log(level, "{}{}", settings_.host.empty() ? "" : settings_.host + ": ",
                fmt::format(format, std::forward<T>(values)...));
  }

  void start_next() {
    const std::size_t job = waiting_.front();
    waiting_.pop_front();
    try {
      start(job);
    } catch (const failure& f) {
      note_failure(job, f.status, f.what());
    }
  }

  void start(std::size_t number) {
    const pool_job& job = jobs_[number];
    child_log log(job.out);
    const job_state state =
        log.is_locked_elsewhere() ? job_state{job_state::kind::computed_elsewhere, {}} : job.inspect();
    if (state.what != job_state::kind::to_compute) {
      ++(state.what == job_state::kind::complete ? counts_.complete_before : counts_.elsewhere);
      return;
    }
    const std::size_t place = choose_place(settings_.places, taken_places()).value();
    const compute_place& where = settings_.places[place];
    const std::vector<std::string> environment =
        child_environment(environment_, where.gpu ? settings_.gpus[*where.gpu] : "");
    const pid_t process = start_child(job.words(where.threads), environment, log.descriptor());
    running_.emplace(number, running_child{place, process, std::move(log), steady_seconds()});
    meter_.begin(number, where, state.so_far);
    if (where.gpu) first_on_gpu_.try_emplace(*where.gpu, number);
    say(spdlog::level::info, "subject {}: started on {}", job.name, place_text(where));
  }

  std::vector<std::pair<std::size_t, child_end>> find_ended() const {
    std::vector<std::pair<std::size_t, child_end>> ended;
    for (const auto& [job, child] : running_)
      if (const auto how = poll_child(child.process)) ended.emplace_back(job, *how);
    return ended;
  }

  void measure() {
    measured_s_ = steady_seconds();
    meter_.measure(measured_s_);
    if (measured_s_ - saved_s_ < save_period_s) return;
    saved_s_ = measured_s_;
    for (const auto& [job, child] : running_) write_cost_record(jobs_[job].out, meter_.so_far(job));
  }

  void finish(std::size_t number, const child_end& how) {
    const pool_job& job = jobs_[number];
    write_cost_record(job.out, meter_.so_far(number));
    meter_.end(number);
    const running_child& child = running_.at(number);
    const std::string time = clock_time(steady_seconds() - child.started_s);
    if (how.signal == 0 && how.status == 0 && !job.is_computed()) {
      note_failure(number, exit_status::internal_error, "its process ended with status 0, but its results are missing");
    } else if (how.signal == 0 && how.status == 0) {
      ++counts_.complete;
      say(spdlog::level::info, "subject {}: complete after {}", job.name, time);
    } else if (is_stop_signal(how.signal) || how.status == static_cast<int>(exit_status::interrupted)) {
      ++counts_.stopped;
      say(spdlog::level::info, "subject {}: stopped after {}; the same command continues it", job.name, time);
    } else if (is_crash(how.signal)) {
      note_failure(number, exit_status::internal_error, fmt::format("crashed with signal {}", how.signal));
    } else if (how.signal != 0) {
      was_killed_ = true;
      note_failure(
          number, exit_status::interrupted,
          fmt::format("killed by signal {}, perhaps for lack of memory; the same command continues it", how.signal));
    } else {
      note_failure(number, static_cast<exit_status>(how.status), child.log.first_error());
    }
    running_.erase(number);
    if (style_ == progress_style::lines) progress_->update(counts_.ended());
  }

  void note_failure(std::size_t number, exit_status why, const std::string& message) {
    ++counts_.failed;
    if (!first_failure_) first_failure_ = why;
    const pool_job& job = jobs_[number];
    say(spdlog::level::err, "subject {}: failed with status {}: {}; its messages are in {}", job.name,
        static_cast<int>(why), message.empty() ? "no message" : message, log_path(job.out));
  }

  void forward_stop() {
    if (signal_ != 0) return;
    signal_ = stop_signals::received();
    if (style_ == progress_style::bar) print_error_output("\r\033[K");
    print_stopping(signal_, continued_by::same_command);
    for (const auto& [job, child] : running_) kill(child.process, signal_);
  }

  void print_summary() const {
    const double hours = (steady_seconds() - start_s_) / 3600;
    std::string text = fmt::format("{} of {} complete", counts_.complete, counted(jobs_.size(), "subject"));
    const std::pair<std::size_t, const char*> others[] = {{counts_.complete_before, "were complete"},
                                                          {counts_.elsewhere, "computed by another process"},
                                                          {counts_.failed, "failed"},
                                                          {counts_.stopped, "stopped"},
                                                          {waiting_.size(), "not started"}};
    for (const auto& [count, what] : others)
      if (count > 0) text += fmt::format(", {} {}", count, what);
    if (counts_.complete > 0)
      text += fmt::format("; {:.4g} subjects per hour", static_cast<double>(counts_.complete) / hours);
    say(spdlog::level::info, "{}; {}", text, cost_text(meter_.total()));
  }

  exit_status status() const {
    if (counts_.stopped > 0 || was_killed_ || (signal_ != 0 && !waiting_.empty())) return exit_status::interrupted;
    return first_failure_.value_or(exit_status::complete);
  }

  const std::vector<pool_job>& jobs_;
  const pool_settings& settings_;
  const std::vector<std::string> environment_;
  const progress_style style_;
  std::optional<progress> progress_;
  const double start_s_;
  cost_meter meter_;
  double measured_s_ = start_s_, saved_s_ = start_s_;
  std::vector<double> opening_ = opening_fractions(settings_.places);  ///< when each place opens; 0: it is open
  double looked_s_ = start_s_;
  std::map<std::size_t, std::size_t> first_on_gpu_;  ///< job that was started first
  std::deque<std::size_t> waiting_;
  std::map<std::size_t, running_child> running_;  ///< running children by job
  pool_counts counts_;
  std::optional<exit_status> first_failure_;
  bool was_killed_ = false;  ///< a job, from outside
  int signal_ = 0;
};

}  // namespace

exit_status run_pool(const std::vector<pool_job>& jobs, const pool_settings& settings) {
  return pool(jobs, settings).run();
}

}  // namespace voxherd
