#include "mpi/run/run.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "core/checksum.hpp"
#include "core/clock.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/result/result_writer.hpp"
#include "mpi/result/same_study.hpp"
#include "mpi/result/write_back.hpp"
#include "mpi/run/batch_queue.hpp"
#include "mpi/run/batch_trace.hpp"
#include "mpi/run/estimate.hpp"
#include "mpi/run/run_layout.hpp"
#include "mpi/run/signals.hpp"
#include "mpi/run/summary.hpp"
#include "mpi/run/work_loop.hpp"

namespace voxherd {

namespace {

/// Throws when a rank sees other inputs than rank 0, as on a node without the shared file system.
void check_same_items(const session& s, const analysis& a) {
  checksum sum;
  sum.add(std::as_bytes(std::span(a.item_voxels())));
  const std::vector<std::uint64_t> point_offsets = a.point_offsets();
  sum.add(std::as_bytes(std::span(point_offsets)));
  const std::uint64_t own = sum.value();
  std::uint64_t of_root = own;
  s.broadcast_bytes(&of_root, sizeof of_root);
  s.agree([&] {
    if (own != of_root)
      throw failure(exit_status::bad_data,
                    "this rank has other items (mask, seeds) than rank 0; do both read the "
                    "same files?");
  });
}

void check_same_kind(const session& s, const std::string& kind) {
  std::string of_root = kind;
  s.broadcast(of_root);
  s.agree([&] {
    if (kind != of_root) {
      throw failure(exit_status::usage, fmt::format("this rank computes on {}, rank 0 on {}; say --backend cpu or "
                                                    "--backend cuda for all, or --backend mixed for both in one run",
                                                    kind, of_root));
    }
  });
}

/// OUT.part under another name until it is complete, so that an OUT.part can always be read and resumed. Goes where the
/// run fails before that.
class begun_file {
 public:
  begun_file(const session& s, const std::string& part) : s_(s), part_(part), begun_(part + ".new") {}
  ~begun_file() {
    std::error_code ignored;
    if (s_.is_root() && !named_) std::filesystem::remove(begun_, ignored);
  }
  begun_file(const begun_file&) = delete;
  begun_file& operator=(const begun_file&) = delete;

  result_writer create(const result_layout& layout) const {
    result_writer writer = result_writer::create(s_, begun_, layout);
    s_.on_root([&] { reserve_blocks(begun_); });
    return writer;
  }
  void give_name() {
    s_.on_root([&] { std::filesystem::rename(begun_, part_); });
    named_ = true;
  }

 private:
  const session& s_;
  std::string part_, begun_;
  bool named_ = false;
};

failure as_failure() {
  try {
    throw;
  } catch (const failure& f) {
    return f;
  } catch (const std::bad_alloc&) {
    return {exit_status::ours, "not enough memory; a smaller --batch needs less"};
  } catch (const std::exception& e) {
    return {exit_status::ours, e.what()};
  }
}

/// Runs the loop; a failure ends all ranks with one message, since the others wait for this one.
void run_or_abort(const session& s, work_loop& loop, batch_queue& queue, const run_listener* listener) {
  try {
    loop.run(queue);
  } catch (...) {
    if (s.size() == 1) throw;
    failure f = as_failure();
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
    fmt::print(stderr, "voxherd: error: {}\n", f.what());
    std::fflush(nullptr);
    MPI_Abort(s.world(), static_cast<int>(f.status));
  }
}

/// One run from the decision where it begins to the final name.
class study {
 public:
  study(const session& s, analysis& a, const run_settings& settings, const device_hooks& device)
      : s_(s), a_(a), settings_(settings), device_(device), layout_(make_layout(s, a, settings, device)) {}

  exit_status run();

 private:
  void begin();
  std::vector<std::uint64_t> pending(const std::string& stored);
  bool await_middle();
  std::vector<run_stage> stages() const;
  bool await_stage(double& awaited);
  bool compute_stages(const std::vector<run_stage>& stages, work_loop& loop, begun_file* begun, double& awaited);
  exit_status compute();
  void note_stage(const char* name) const {
    s_.note_stage(settings_.label.empty() ? name : settings_.label + ": " + name);
  }
  void report(nlohmann::json& summary) const;

  const session& s_;
  analysis& a_;
  const run_settings& settings_;
  const device_hooks& device_;
  result_layout layout_;
  std::unique_ptr<output_lock> lock_;
  beginning found_ = beginning::fresh;
  std::vector<std::uint64_t> pending_;
  double start_ = steady_seconds();
  double origin_ = 0;  ///< when the work began, on steady_seconds()
};

exit_status study::run() {
  begin();
  if (found_ == beginning::already_whole) {
    spdlog::info("{} is whole already; nothing to do", settings_.out);
    return exit_status::whole;
  }
  if (found_ == beginning::resumed) {
    pending_ = pending(unfinished_path(settings_.out));
  } else {
    layout_.batches = new_plan(s_, a_, settings_, device_, layout_);
    for (const batch& b : layout_.batches) pending_.push_back(b.number);
  }
  s_.on_root([&] {
    const bool there = found_ == beginning::resumed;
    check_output_folder(settings_.out, there ? 0 : data_bytes(layout_) + file_overhead_bytes);
  });
  if (settings_.dry_run) {
    if (!await_middle()) return exit_status::resume_me;
    run_estimate found = estimate(s_, a_, device_, layout_, pending_);
    if (settings_.input != nullptr) found.node_bytes += static_cast<double>(settings_.input->later_bytes());
    const bool told = settings_.listener != nullptr && settings_.listener->estimate;
    s_.on_root(
        [&] { told ? settings_.listener->estimate(found) : fmt::print("{}", estimate_text(found, settings_.out)); });
    return exit_status::whole;
  }
  return compute();
}

void study::begin() {
  s_.on_root([&] {
    check_output_folder(settings_.out, 0);
    if (!settings_.dry_run) lock_ = std::make_unique<output_lock>(settings_.out);
    found_ = decide_beginning(settings_, layout_);
    const std::string part = unfinished_path(settings_.out);
    if (found_ == beginning::fresh && !settings_.dry_run) std::filesystem::remove(part);
    if (found_ == beginning::fresh && settings_.resume) spdlog::info("nothing to resume at {}: begun anew", part);
  });
  s_.broadcast_bytes(&found_, sizeof found_);
}

std::vector<std::uint64_t> study::pending(const std::string& stored) {
  std::unique_ptr<result_reader> reader;
  s_.agree([&] { reader = std::make_unique<result_reader>(stored); });
  layout_.batches = reader->batches();
  const std::vector<bool> good = verified_batches(s_, *reader);
  std::vector<std::uint64_t> numbers;
  std::uint64_t damaged = 0;
  for (const batch& b : layout_.batches) {
    if (good[b.number]) continue;
    numbers.push_back(b.number);
    damaged += reader->journal()[b.number].done == 1 ? 1 : 0;
  }
  if (damaged > 0) spdlog::warn("{} finished batches have another checksum now and are done again", damaged);
  spdlog::info("going on with {}: {} of {} batches are done", stored, layout_.batches.size() - numbers.size(),
               layout_.batches.size());
  return numbers;
}

/// A dry run tries the middle of the image. False after a signal.
bool study::await_middle() {
  if (settings_.input == nullptr || layout_.batches.empty()) return true;
  const batch middle = middle_batch(layout_);
  settings_.input->begin(middle.first_item, middle.first_item + middle.item_count);
  return voxherd::await_stage(s_, *settings_.input);
}

std::vector<run_stage> study::stages() const {
  const staged_input* input = settings_.input;
  return stages_of(layout_.batches, pending_, input == nullptr ? staged_input::all_items : input->max_items());
}

bool study::await_stage(double& awaited) {
  if (settings_.input == nullptr) return true;
  const double start = steady_seconds();
  const bool there = voxherd::await_stage(s_, *settings_.input);
  awaited += steady_seconds() - start;
  return there;
}

/// Whether all batches are done; else a signal came. `awaited`: seconds that the input was waited for.
bool study::compute_stages(const std::vector<run_stage>& stages, work_loop& loop, begun_file* begun, double& awaited) {
  std::optional<write_back> hurrying;
  const std::vector<double> believed = believed_speeds(s_, device_);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (!await_stage(awaited)) return false;
    if (i == 0 && settings_.input != nullptr) note_stage("input awaited");
    if (i == 0 && begun != nullptr) begun->give_name();
    if (i + 1 < stages.size() && settings_.input != nullptr)
      settings_.input->begin(stages[i + 1].first, stages[i + 1].last);
    batch_queue queue(s_, settings_.schedule, layout_.batches, stages[i].batches, believed);
    if (i == 0 && !settings_.trace.empty()) s_.barrier();
    if (i == 0) origin_ = steady_seconds();
    if (i == 0 && s_.node_rank() == 0) hurrying.emplace(unfinished_path(settings_.out));
    run_or_abort(s_, loop, queue, settings_.listener);
    if (!queue.whole()) return false;
  }
  return true;
}

exit_status study::compute() {
  const std::vector<run_stage> stages = this->stages();
  if (settings_.input != nullptr) settings_.input->begin(stages.front().first, stages.front().last);
  const bool resumed = found_ == beginning::resumed;
  std::optional<begun_file> begun;
  if (!resumed) begun.emplace(s_, unfinished_path(settings_.out));
  result_writer writer =
      resumed ? result_writer::reopen(s_, unfinished_path(settings_.out), layout_) : begun->create(layout_);
  std::uint64_t pending_items = 0;
  for (const std::uint64_t number : pending_) pending_items += layout_.batches[number].item_count;
  const std::uint64_t items = layout_.item_voxels.size();
  rank_account account;
  bool whole = false;
  {
    progress shown(choose_progress_style(settings_.quiet, s_.is_root()), items, items - pending_items, settings_.label);
    std::optional<work_loop> loop;
    note_stage("result file begun");
    s_.agree([&] { loop.emplace(s_, a_, device_, layout_, writer, shown); });
    note_stage("buffers made");
    double awaited = 0;
    whole = compute_stages(stages, *loop, begun ? &*begun : nullptr, awaited);
    note_stage("batches computed");
    if (!settings_.trace.empty() && whole) write_trace(s_, settings_.trace, loop->times(), origin_);
    account = loop->account();
    account.reading_seconds += awaited;
    account.waiting_seconds += awaited;
  }
  if (!whole) {
    writer.close();
    return exit_status::resume_me;
  }
  account.host = s_.host();
  account.device = device_.description;
  account.peak_host_bytes = peak_host_bytes();
  account.peak_device_bytes = device_.peak_bytes ? device_.peak_bytes() : 0;
  nlohmann::json summary = gather_summary(s_, account, steady_seconds() - start_);
  summary["analysis"] = layout_.analysis;
  summary["version"] = layout_.version;
  summary["resumed_batches"] = layout_.batches.size() - pending_.size();
  if (settings_.also_in_summary.is_object()) {
    nlohmann::json more = summary;
    more.update(settings_.also_in_summary);
    if (more.dump().size() < summary_bytes) summary = std::move(more);
  }
  writer.finish(summary.dump());
  s_.on_root([&] {
    give_final_name(settings_.out);
    note_stage("result named");
    report(summary);
  });
  return exit_status::whole;
}

void study::report(nlohmann::json& summary) const {
  if (!settings_.quiet) {
    const std::string title = settings_.label.empty() ? "" : settings_.label + "\n";
    fmt::print(stderr, "{}{}", title, summary_table(summary));
  }
  if (settings_.json.empty()) return;
  for (const session::stage& stage : s_.stages())
    summary["stages"].push_back({{"name", stage.name}, {"ended_seconds", stage.ended}});
  write_json(settings_.json, summary);
}

}  // namespace

bool is_whole_already(const session& s, const std::string& analysis, const run_settings& settings,
                      const device_hooks& device) {
  beginning found = beginning::fresh;
  s.on_root([&] {
    check_output_folder(settings.out, 0);
    const result_layout wanted = begin_layout(analysis, settings, device);
    found = decide_beginning(settings, wanted, compared_with::options);
    if (found == beginning::already_whole) spdlog::info("{} is whole already; nothing to do", settings.out);
  });
  s.broadcast_bytes(&found, sizeof found);
  return found == beginning::already_whole;
}

exit_status run(const session& s, analysis& a, const run_settings& settings, const device_hooks& device) {
  const stop_signals signals;
  s.note_stage(settings.label.empty() ? "input and device ready" : settings.label + ": input and device ready");
  check_same_items(s, a);
  check_same_kind(s, device.kind);
  return study(s, a, settings, device).run();
}

}  // namespace voxherd
