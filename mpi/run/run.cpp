#include "mpi/run/run.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>

#include "core/checksum.hpp"
#include "core/current_failure.hpp"
#include "core/error_output.hpp"
#include "core/text.hpp"
#include "mpi/run/batch_queue.hpp"
#include "mpi/run/estimate.hpp"
#include "mpi/run/run_files.hpp"
#include "mpi/run/signals.hpp"
#include "mpi/run/staged_input.hpp"
#include "mpi/run/stall_watch.hpp"
#include "mpi/run/study.hpp"
#include "mpi/run/study_question.hpp"
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
      refuse_data("this rank has different items (mask, seeds) from rank 0; do both read the same files?");
  });
}

void check_same_kind(const session& s, device_kind kind) {
  device_kind of_root = kind;
  s.broadcast(of_root);
  s.agree([&] {
    if (kind != of_root) {
      refuse_usage(
          "this rank computes on {}, rank 0 on {}; use --backend cpu or --backend cuda for all, or --backend mixed for "
          "both in one run",
          kind_name(kind), kind_name(of_root));
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
    print_error(f.what());
    std::fflush(nullptr);
    s.end_all_ranks(f.status);
  }
}

/// Time for which the batches of a step with a receiver are kept only in memory. Most such steps are shorter.
double unstored_seconds() {
  constexpr double usual = 10;
  const char* const given = std::getenv("VOXHERD_UNSTORED_SECONDS");
  return given == nullptr ? usual : std::strtod(given, nullptr);
}

/// A run that computes batches.
class computation {
 public:
  computation(const session& s, analysis& a, const run_settings& settings, const device_hooks& device,
              const step_context& step, const batch_receiver& receive)
      : s_(s),
        a_(a),
        settings_(settings),
        step_(step),
        device_(device),
        input_(a.input()),
        counts_(a.make_counts()),
        receive_(receive),
        count_and_receive_(receive),
        study_(s, settings, step, make_layout(s, a, settings, device)) {
    if (counts_ == nullptr) return;
    count_and_receive_ = [this](const batch& items, std::span<const std::span<const std::byte>> outputs) {
      counts_->add(items.item_count, outputs);
      if (receive_) receive_(items, outputs);
    };
  }

  exit_status run();

 private:
  exit_status estimate_only();
  exit_status compute();
  bool await_stage();
  bool compute_all(work_loop& loop, std::optional<result_writer>& writer, std::optional<new_file>& created);
  bool compute_without_file(work_loop& loop);
  bool compute_stages(work_loop& loop, result_writer& writer, std::optional<new_file>& created);
  /// Whether all batches are done. `every_second`: as for work_loop::run().
  bool run_queue(work_loop& loop, const std::vector<std::uint64_t>& batches,
                 const std::function<void(batch_queue&)>& every_second);
  /// A step that is received needs its file only if it is resumed.
  bool has_passing_file() const { return receive_ && step_.is_intermediate(); }

  const session& s_;
  analysis& a_;
  const run_settings& settings_;
  const step_context& step_;
  const device_hooks& device_;
  item_input* input_;
  std::unique_ptr<item_counts> counts_;
  const batch_receiver& receive_;
  batch_receiver count_and_receive_;
  study study_;
  std::vector<std::uint64_t> pending_;
  std::vector<run_stage> stages_;  ///< stages of the pending batches
  std::vector<double> believed_;
  std::vector<int> holders_;
  std::optional<stall_watch> watch_;
  double work_started_ = 0;      ///< on steady_seconds(); 0: not yet
  double waited_for_input_ = 0;  ///< seconds
};

exit_status computation::run() {
  if (study_.begin() == beginning::already_complete) {
    if (receive_) study_.read_complete(receive_);
    return exit_status::complete;
  }
  if (study_.resumes()) {
    pending_ = study_.pending(count_and_receive_);
  } else {
    study_.layout().batches = new_plan(s_, a_, settings_, device_, study_.layout());
    for (const batch& b : study_.layout().batches) pending_.push_back(b.number);
  }
  s_.on_root([&] {
    const std::uint64_t bytes = study_.resumes() ? 0 : data_bytes(study_.layout()) + file_overhead_bytes;
    check_output_folder(settings_.out, bytes, settings_.out_option);
  });
  return settings_.dry_run ? estimate_only() : compute();
}

/// A dry run: tries the middle of the image.
exit_status computation::estimate_only() {
  stop_signals::release();  // it has nothing to save, and one item may take for ever
  const result_layout& layout = study_.layout();
  if (input_ != nullptr && !layout.batches.empty()) {
    const batch middle = middle_batch(layout);
    input_->begin(middle.first_item, middle.first_item + middle.item_count);
    if (!await_stage()) return exit_status::interrupted;
  }
  run_estimate found = estimate(s_, a_, device_, layout, pending_);
  found.step = step_.label;
  found.item = step_.item;
  if (input_ != nullptr) found.node_bytes += static_cast<double>(input_->later_bytes());
  const bool listens = settings_.listener != nullptr && settings_.listener->estimate;
  s_.on_root(
      [&] { listens ? settings_.listener->estimate(found) : fmt::print("{}", estimate_text(found, settings_.out)); });
  return exit_status::complete;
}

bool computation::await_stage() {
  if (input_ == nullptr) return true;
  const double start = steady_seconds();
  const bool is_ready = voxherd::await_stage(s_, *input_, continuation(settings_));
  waited_for_input_ += steady_seconds() - start;
  return is_ready;
}

bool computation::run_queue(work_loop& loop, const std::vector<std::uint64_t>& batches,
                            const std::function<void(batch_queue&)>& every_second) {
  batch_queue queue(s_, settings_.schedule, study_.layout().batches, batches, believed_, holders_);
  if (watch_) queue.report_to(&*watch_);
  if (work_started_ == 0) {
    if (!settings_.trace.empty()) s_.barrier();
    work_started_ = steady_seconds();
  }
  run_or_end_all(
      s_, loop, queue, [&] { every_second(queue); }, settings_.listener);
  queue.close();
  return queue.all_done();
}

/// Returns false after a signal. Else `pending_` has the batches that were not computed within unstored_seconds().
bool computation::compute_without_file(work_loop& loop) {
  const double end = steady_seconds() + unstored_seconds();
  run_queue(loop, pending_, [&](batch_queue& queue) {
    if (s_.is_root() && steady_seconds() > end) queue.pause();
  });
  std::vector<std::uint64_t> own;
  for (const batch_times& t : loop.times()) own.push_back(t.number);
  const std::vector<std::uint64_t> all = s_.all_gather(own);
  const std::set<std::uint64_t> done(all.begin(), all.end());
  std::erase_if(pending_, [&](std::uint64_t number) { return done.contains(number); });
  return pending_.empty() || s_.all_reduce(reduction::max, stop_signals::received()) == 0;
}

/// True if all batches are done; false after a signal.
bool computation::compute_stages(work_loop& loop, result_writer& writer, std::optional<new_file>& created) {
  std::jthread writing_back;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (!await_stage()) return false;
    if (watch_) watch_->note_progress();
    if (i == 0 && input_ != nullptr) study_.note_stage("input awaited");
    if (i == 0 && created) created->rename(writer);
    if (i + 1 < stages_.size() && input_ != nullptr) input_->begin(stages_[i + 1].first, stages_[i + 1].last);
    if (i == 0 && s_.node_rank() == 0) writing_back = write_back(unfinished_path(settings_.out));
    const auto look_for_file = [&](batch_queue&) { s_.is_root() ? check_still_there(settings_.out) : void(); };
    if (!run_queue(loop, stages_[i].batches, look_for_file)) return false;
  }
  return true;
}

/// `writer` is empty if the work starts without a file; made here if it takes long.
bool computation::compute_all(work_loop& loop, std::optional<result_writer>& writer, std::optional<new_file>& created) {
  believed_ = believed_speeds(s_, device_);
  holders_ = holders_of_batches(study_.layout().batches, a_.holders());
  if (settings_.stall_minutes > 0)
    watch_.emplace(s_, settings_.stall_minutes, s_.gather(s_.host()), writer ? unfinished_path(settings_.out) : "");
  if (!writer) {
    if (!compute_without_file(loop)) return false;
    if (pending_.empty()) return true;
    stages_ = cut_into_stages(study_.layout().batches, pending_, staged_input::all_items);
    writer.emplace(study_.open(created));
    if (watch_) watch_->stored_in(unfinished_path(settings_.out));
  }
  loop.write_to(*writer);
  return compute_stages(loop, *writer, created);
}

exit_status computation::compute() {
  const result_layout& layout = study_.layout();
  stages_ =
      cut_into_stages(layout.batches, pending_, input_ == nullptr ? staged_input::all_items : input_->max_items());
  if (input_ != nullptr) input_->begin(stages_.front().first, stages_.front().last);
  const std::size_t finished_before = layout.batches.size() - pending_.size();
  std::optional<new_file> created;
  std::optional<result_writer> writer;
  bool needs_file = !has_passing_file() || input_ != nullptr || study_.resumes() || unstored_seconds() <= 0;
  s_.broadcast(needs_file);
  if (needs_file) writer.emplace(study_.open(created));
  std::uint64_t pending_items = 0;
  for (const std::uint64_t number : pending_) pending_items += layout.batches[number].item_count;
  const std::uint64_t items = layout.item_voxels.size();
  rank_account account;
  std::vector<batch_times> times;
  bool complete = false;
  {
    const std::string& label = step_.label.empty() ? layout.analysis : step_.label;
    progress shown(choose_progress_style(settings_.quiet, s_.is_root()), items, items - pending_items, label,
                   step_.item);
    std::optional<work_loop> loop;
    if (writer) study_.note_stage("result file created");
    s_.agree([&] { loop.emplace(s_, a_, device_, layout, shown, continuation(settings_), count_and_receive_); });
    study_.note_stage("buffers made");
    complete = compute_all(*loop, writer, created);
    watch_.reset();
    study_.note_stage("batches computed");
    times = loop->times();
    account = loop->account();
    account.reading_seconds += waited_for_input_;
    account.waiting_seconds += waited_for_input_;
  }
  refuse_changed_inputs(s_, settings_, writer ? &*writer : nullptr);
  if (!complete) {
    if (writer) writer->close();
    return exit_status::interrupted;
  }
  if (counts_) s_.all_reduce(reduction::sum, std::span<std::uint64_t>(counts_->counts));
  const nlohmann::json summary = study_.summarise(account, device_, finished_before, counts_.get());
  if (!has_passing_file()) {
    study_.finish(*writer, summary);
  } else if (writer) {
    writer->close();
  }
  s_.on_root([&] { study_.report(summary); });
  if (!settings_.trace.empty()) write_trace(s_, trace_output(settings_), std::move(times), work_started_);
  if (counts_) s_.on_root([&] { counts_->report(study_.layout().item_voxels.size()); });
  if (settings_.report_result) settings_.report_result();
  s_.on_root([&] { log_ending(settings_, step_, study_.layout()); });
  return exit_status::complete;
}

}  // namespace

analysis_wrapper wrap_analysis = nullptr;

bool is_already_complete(const session& s, const std::string& analysis, const run_settings& settings,
                         const device_hooks& device) {
  if (is_asked()) {
    answer_question(s, analysis, settings);
    return true;
  }
  beginning found = beginning::fresh;
  s.on_root([&] {
    check_output_folder(settings.out, 0, settings.out_option);
    const result_layout wanted = begin_layout(analysis, settings, device);
    found = decide_beginning(requested_output(settings), wanted, compared_with::options);
  });
  s.broadcast(found);
  return found == beginning::already_complete;
}

exit_status run(const session& s, analysis& a, const run_settings& settings, const device_hooks& device) {
  return run_step(s, a, settings, device, {});
}

exit_status run_step(const session& s, analysis& a, const run_settings& settings, const device_hooks& device,
                     const step_context& step, const batch_receiver& receive) {
  if (is_asked()) {
    answer_question(s, a.name(), settings);
    return exit_status::complete;
  }
  const stop_signals signals;
  s.note_stage(step.label.empty() ? "input and device ready" : step.label + ": input and device ready");
  check_same_items(s, a);
  check_same_kind(s, device.kind);
  const std::unique_ptr<analysis> wrapped = wrap_analysis == nullptr ? nullptr : wrap_analysis(a);
  return computation(s, wrapped ? *wrapped : a, settings, device, step, receive).run();
}

}  // namespace voxherd
