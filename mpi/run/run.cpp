#include "mpi/run/run.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "core/checksum.hpp"
#include "core/error_output.hpp"
#include "mpi/result/write_back.hpp"
#include "mpi/run/batch_queue.hpp"
#include "mpi/run/batch_trace.hpp"
#include "mpi/run/ending.hpp"
#include "mpi/run/estimate.hpp"
#include "mpi/run/input_check.hpp"
#include "mpi/run/run_layout.hpp"
#include "mpi/run/run_outputs.hpp"
#include "mpi/run/signals.hpp"
#include "mpi/run/staged_input.hpp"
#include "mpi/run/stall_watch.hpp"
#include "mpi/run/study.hpp"
#include "mpi/run/work_loop.hpp"

namespace voxherd {

namespace {

/// Throws if this rank has different items from rank 0, for example on a node without the shared file system.
void check_same_items(const session& s, const analysis& a) {
  checksum sum;
  sum.add(std::as_bytes(std::span(a.item_voxels())));
  const std::vector<std::uint64_t> point_offsets = a.point_offsets();
  sum.add(std::as_bytes(std::span(point_offsets)));
  const std::uint64_t own = sum.value();
  std::uint64_t of_root = own;
  s.broadcast(of_root);
  s.agree([&] {
    if (own != of_root)
      throw failure(exit_status::bad_data,
                    "this rank has different items (mask, seeds) from rank 0; do both read the same files?");
  });
}

void check_same_kind(const session& s, const std::string& kind) {
  std::string of_root = kind;
  s.broadcast(of_root);
  s.agree([&] {
    if (kind != of_root) {
      throw failure(exit_status::usage, fmt::format("this rank computes on {}, rank 0 on {}; use --backend cpu or "
                                                    "--backend cuda for all, or --backend mixed for both in one run",
                                                    kind, of_root));
    }
  });
}

/// Runs the loop; a failure ends all ranks with one message, since the others wait for this one.
void run_or_end_all(const session& s, work_loop& loop, batch_queue& queue, const std::function<void()>& every_second,
                    const run_listener* listener) {
  try {
    loop.run(queue, every_second);
  } catch (...) {
    if (s.size() == 1) throw;
    failure f = current_failure();
    if (!s.is_root()) {
      f = failure(f.status, fmt::format("{} (rank {} of {}, host {})", f.what(), s.rank(), s.size(), s.host()));
      queue.report_failure(f);
      const double start = steady_seconds();
      while (steady_seconds() - start < 5) {
        queue.settle();
        usleep(1000);
      }
    }
    if (listener != nullptr && listener->abort) listener->abort(f);
    print_error_output("voxherd: error: {}\n", f.what());
    std::fflush(nullptr);
    s.end_all_ranks(f.status);
  }
}

/// A run that computes batches.
class computation {
 public:
  computation(const session& s, analysis& a, const run_settings& settings, const device_hooks& device)
      : s_(s),
        a_(a),
        settings_(settings),
        device_(device),
        input_(a.input()),
        counts_(a.make_counts()),
        study_(s, settings, make_layout(s, a, settings, device)) {}

  exit_status run();

 private:
  exit_status estimate_only();
  exit_status compute();
  bool await_stage();
  bool compute_stages(const std::vector<run_stage>& stages, work_loop& loop, result_writer& writer,
                      std::optional<new_file>& created);

  const session& s_;
  analysis& a_;
  const run_settings& settings_;
  const device_hooks& device_;
  item_input* input_;
  std::unique_ptr<item_counts> counts_;
  study study_;
  std::vector<std::uint64_t> pending_;
  double work_started_ = 0;      ///< on steady_seconds()
  double waited_for_input_ = 0;  ///< seconds
};

exit_status computation::run() {
  if (study_.begin() == beginning::already_complete) return exit_status::complete;
  if (study_.resumes()) {
    pending_ = study_.pending(counts_.get());
  } else {
    study_.layout().batches = new_plan(s_, a_, settings_, device_, study_.layout());
    for (const batch& b : study_.layout().batches) pending_.push_back(b.number);
  }
  s_.on_root([&] {
    const std::uint64_t bytes = study_.resumes() ? 0 : data_bytes(study_.layout()) + file_overhead_bytes;
    check_output_folder(settings_.out, bytes);
  });
  return settings_.dry_run ? estimate_only() : compute();
}

/// A dry run: tries the middle of the image.
exit_status computation::estimate_only() {
  const result_layout& layout = study_.layout();
  if (input_ != nullptr && !layout.batches.empty()) {
    const batch middle = middle_batch(layout);
    input_->begin(middle.first_item, middle.first_item + middle.item_count);
    if (!await_stage()) return exit_status::interrupted;
  }
  run_estimate found = estimate(s_, a_, device_, layout, pending_);
  found.step = settings_.label;
  found.item = settings_.item;
  if (input_ != nullptr) found.node_bytes += static_cast<double>(input_->later_bytes());
  const bool listens = settings_.listener != nullptr && settings_.listener->estimate;
  s_.on_root(
      [&] { listens ? settings_.listener->estimate(found) : fmt::print("{}", estimate_text(found, settings_.out)); });
  return exit_status::complete;
}

bool computation::await_stage() {
  if (input_ == nullptr) return true;
  const double start = steady_seconds();
  const bool is_ready = voxherd::await_stage(s_, *input_);
  waited_for_input_ += steady_seconds() - start;
  return is_ready;
}

/// True if all batches are done; false after a signal.
bool computation::compute_stages(const std::vector<run_stage>& stages, work_loop& loop, result_writer& writer,
                                 std::optional<new_file>& created) {
  std::optional<write_back> writing_back;
  std::optional<stall_watch> watch;
  if (settings_.stall_minutes > 0)
    watch.emplace(s_, settings_.stall_minutes, s_.gather(s_.host()), unfinished_path(settings_.out));
  const std::vector<double> believed = believed_speeds(s_, device_);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (!await_stage()) return false;
    if (watch) watch->note_progress();
    if (i == 0 && input_ != nullptr) study_.note_stage("input awaited");
    if (i == 0 && created) created->rename(writer);
    if (i + 1 < stages.size() && input_ != nullptr) input_->begin(stages[i + 1].first, stages[i + 1].last);
    batch_queue queue(s_, settings_.schedule, study_.layout().batches, stages[i].batches, believed);
    if (watch) queue.report_to(&*watch);
    if (i == 0 && !settings_.trace.empty()) s_.barrier();
    if (i == 0) work_started_ = steady_seconds();
    if (i == 0 && s_.node_rank() == 0) writing_back.emplace(unfinished_path(settings_.out));
    const auto look_for_file = [&] { s_.is_root() ? check_still_there(settings_.out) : void(); };
    run_or_end_all(s_, loop, queue, look_for_file, settings_.listener);
    queue.close();
    if (!queue.all_done()) return false;
  }
  return true;
}

exit_status computation::compute() {
  const result_layout& layout = study_.layout();
  const std::vector<run_stage> stages =
      cut_into_stages(layout.batches, pending_, input_ == nullptr ? staged_input::all_items : input_->max_items());
  if (input_ != nullptr) input_->begin(stages.front().first, stages.front().last);
  std::optional<new_file> created;
  result_writer writer = study_.open(created);
  std::uint64_t pending_items = 0;
  for (const std::uint64_t number : pending_) pending_items += layout.batches[number].item_count;
  const std::uint64_t items = layout.item_voxels.size();
  rank_account account;
  std::vector<batch_times> times;
  bool complete = false;
  {
    const std::string& label = settings_.label.empty() ? layout.analysis : settings_.label;
    progress shown(choose_progress_style(settings_.quiet, s_.is_root()), items, items - pending_items, label,
                   settings_.item);
    std::optional<work_loop> loop;
    study_.note_stage("result file created");
    s_.agree([&] { loop.emplace(s_, a_, device_, layout, writer, shown, counts_.get()); });
    study_.note_stage("buffers made");
    complete = compute_stages(stages, *loop, writer, created);
    study_.note_stage("batches computed");
    times = loop->times();
    account = loop->account();
    account.reading_seconds += waited_for_input_;
    account.waiting_seconds += waited_for_input_;
  }
  refuse_changed_inputs(s_, settings_, writer);
  if (!complete) {
    writer.close();
    return exit_status::interrupted;
  }
  if (counts_) s_.all_reduce(reduction::sum, std::span<std::uint64_t>(counts_->counts));
  study_.finish(writer, account, device_, layout.batches.size() - pending_.size(), counts_.get());
  if (!settings_.trace.empty()) write_trace(s_, trace_output(settings_), std::move(times), work_started_);
  if (counts_) s_.on_root([&] { counts_->report(study_.layout().item_voxels.size()); });
  if (settings_.report_result) settings_.report_result();
  s_.on_root([&] { log_ending(settings_, study_.layout()); });
  return exit_status::complete;
}

}  // namespace

bool is_already_complete(const session& s, const std::string& analysis, const run_settings& settings,
                         const device_hooks& device) {
  beginning found = beginning::fresh;
  s.on_root([&] {
    check_output_folder(settings.out, 0);
    const result_layout wanted = begin_layout(analysis, settings, device);
    found = decide_beginning(requested_output(settings), wanted, compared_with::options);
  });
  s.broadcast(found);
  return found == beginning::already_complete;
}

exit_status run(const session& s, analysis& a, const run_settings& settings, const device_hooks& device) {
  const stop_signals signals;
  s.note_stage(settings.label.empty() ? "input and device ready" : settings.label + ": input and device ready");
  check_same_items(s, a);
  check_same_kind(s, device.kind);
  return computation(s, a, settings, device).run();
}

}  // namespace voxherd
