#include "mpi/run/known_result.hpp"

#include <array>
#include <optional>

#include "core/plan.hpp"
#include "mpi/run/run_files.hpp"
#include "mpi/run/signals.hpp"
#include "mpi/run/study.hpp"

namespace voxherd {

namespace {

/// The layout, the same on every rank. The values of outputs and constants exist only on rank 0.
result_layout known_layout(const session& s, const known_result& known, const run_settings& settings,
                           const device_hooks& device) {
  result_layout layout = begin_layout(known.analysis, settings, device);
  layout.grid = known.grid;
  layout.item_voxels = known.item_voxels;
  if (s.is_root()) {
    for (const known_output& o : known.outputs) layout.outputs.push_back(o.spec);
    layout.constants = known.constants;
  }
  nlohmann::json contents = describe_contents(layout);
  s.broadcast(contents);
  if (!s.is_root()) read_contents(contents, layout);
  share_descriptions(s, device, layout);
  return layout;
}

std::vector<batch> known_plan(const known_result& known, const run_settings& settings) {
  constexpr std::uint64_t items_per_batch = 32768;
  const batch_sizes sizes(settings.batch_items > 0 ? settings.batch_items : items_per_batch);
  return make_plan(settings.partition, known.item_voxels, known.grid, sizes);
}

/// Writes the batches from rank 0's memory. Returns the signal that stopped it on any rank, 0 for none.
int write_batches(const session& s, result_writer& writer, const known_result& known, std::span<const batch> plan,
                  const std::vector<std::uint64_t>& pending, std::vector<batch_times>& times) {
  constexpr double check_interval = 0.05;  // seconds between checks for signals on all ranks
  std::vector<std::span<const std::byte>> values;
  for (const known_output& o : known.outputs) values.emplace_back(o.values);
  auto next = pending.begin();
  while (true) {
    s.on_root([&] {
      const double start = steady_seconds();
      for (; next != pending.end() && steady_seconds() - start < check_interval && stop_signals::received() == 0;
           ++next) {
        batch_times t{.number = *next, .items = plan[*next].item_count};
        for (double* at : {&t.asked, &t.read_begin, &t.read_end, &t.compute_begin, &t.compute_end, &t.write_begin})
          *at = steady_seconds();
        writer.write_known(*next, values);
        t.write_end = steady_seconds();
        times.push_back(t);
      }
    });
    std::array<int, 2> all{s.is_root() && next != pending.end() ? 1 : 0, stop_signals::received()};
    s.all_reduce(reduction::max, std::span<int>(all));
    if (all[0] == 0) return 0;
    if (all[1] != 0) return all[1];
  }
}

}  // namespace

exit_status write_known(const session& s, const known_result& known, const run_settings& settings,
                        const device_hooks& device, const step_context& step) {
  const stop_signals signals;
  study file(s, settings, step, known_layout(s, known, settings, device));
  if (file.begin() == beginning::already_complete) return exit_status::complete;
  std::vector<std::uint64_t> pending;
  if (file.resumes()) {
    pending = file.pending({});
  } else {
    file.layout().batches = known_plan(known, settings);
    for (const batch& b : file.layout().batches) pending.push_back(b.number);
    s.on_root([&] { check_output_folder(settings.out, data_bytes(file.layout()) + file_overhead_bytes); });
  }
  if (settings.dry_run) return exit_status::complete;
  std::optional<new_file> created;
  result_writer writer = file.open(created);
  if (created) created->rename(writer);
  file.note_stage("result file created");
  file.note_stage("buffers made");
  const double work_started = steady_seconds();
  std::vector<batch_times> times;
  const int signal = write_batches(s, writer, known, file.layout().batches, pending, times);
  file.note_stage("batches computed");
  refuse_changed_inputs(s, settings, &writer);
  if (signal != 0) {
    if (s.is_root()) print_stopping(signal, continuation(settings));
    writer.close();
    return exit_status::interrupted;
  }
  rank_account account;
  for (const batch_times& t : times) {
    account.items += t.items;
    ++account.batches;
    account.writing_seconds += t.write_end - t.write_begin;
  }
  const nlohmann::json summary = file.summarise(account, device, file.layout().batches.size() - pending.size());
  file.finish(writer, summary);
  s.on_root([&] { file.report(summary); });
  if (!settings.trace.empty()) write_trace(s, trace_output(settings), times, work_started);
  s.on_root([&] { log_ending(settings, step, file.layout()); });
  return exit_status::complete;
}

}  // namespace voxherd
