#include "mpi/run/known_result.hpp"

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/json_text.hpp"
#include "core/plan.hpp"
#include "core/removed_at_end.hpp"
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
  constexpr std::uint64_t items_per_batch = 1 << 20;  // each reader of a batch decompresses all chunks that it touches
  const batch_sizes sizes(settings.batch_items > 0 ? settings.batch_items : items_per_batch);
  return make_plan(settings.partition, known.item_voxels, known.grid, sizes);
}

/// Writes the file from rank 0's memory. Returns the signal that stopped it on any rank, 0 for none.
int write_parts(const session& s, const std::string& path, const known_result& known, const result_layout& layout) {
  constexpr double check_interval = 0.05;  // seconds between checks for signals on all ranks
  std::unique_ptr<known_file> file;
  s.on_root([&] {
    std::vector<known_file::rows_of_output> rows;
    for (const known_output& o : known.outputs) rows.push_back(o.rows);
    file = std::make_unique<known_file>(path, layout, std::move(rows));
  });
  bool has_more = true;
  while (true) {
    s.on_root([&] {
      const double start = steady_seconds();
      while (has_more && steady_seconds() - start < check_interval && stop_signals::received() == 0)
        has_more = file->write_part();
    });
    std::array<int, 2> all{s.is_root() && has_more ? 1 : 0, stop_signals::received()};
    s.all_reduce(reduction::max, std::span<int>(all));
    if (all[0] == 0) break;
    if (all[1] != 0) return all[1];
  }
  s.on_root([&] { file->close(); });
  return 0;
}

}  // namespace

known_size size_of_maps(const image_grid& grid, std::uint64_t items, double bytes_per_voxel, double largest_bytes) {
  const auto voxels = static_cast<double>(grid.voxel_count()), rows = static_cast<double>(items);
  constexpr double copies_of_rows = 3, list_bytes = 3 * sizeof(std::uint64_t);  // the items' voxels in both orders
  // What was written is read again for the whole grid; an uncompressed map is in memory then.
  return {rows * (copies_of_rows * largest_bytes + list_bytes) + voxels * largest_bytes, voxels * bytes_per_voxel};
}

exit_status write_known(const session& s, const known_result& known, const run_settings& settings,
                        const device_hooks& device, const step_context& step) {
  const stop_signals signals;
  study file(s, settings, step, known_layout(s, known, settings, device));
  if (file.begin() == beginning::already_complete) return exit_status::complete;
  const std::vector<batch>& batches = file.layout().batches = known_plan(known, settings);
  s.on_root([&] { check_output_folder(settings.out, file_overhead_bytes, settings.out_option); });
  if (settings.dry_run) return exit_status::complete;
  const std::string part = unfinished_path(settings.out);
  std::optional<removed_at_end> created;  // on rank 0
  s.on_root([&] {
    std::filesystem::remove(part);  // of an earlier version, which resumed it
    created.emplace(part + ".new");
  });
  const double work_started = steady_seconds();
  const int signal = write_parts(s, part + ".new", known, file.layout());
  file.note_stage("batches computed");
  refuse_changed_inputs(s, settings, nullptr);
  if (signal != 0) {
    if (s.is_root()) print_stopping(signal, continuation(settings), stored_batches::none);
    return exit_status::interrupted;
  }
  rank_account account;
  std::vector<batch_times> times;
  if (s.is_root()) {
    account.items = known.item_voxels.size();
    account.batches = batches.size();
    account.writing_seconds = steady_seconds() - work_started;
    for (const batch& b : batches) {
      batch_times t{.number = b.number, .items = b.item_count};
      for (double* at : {&t.asked, &t.read_begin, &t.read_end, &t.compute_begin, &t.compute_end, &t.write_begin})
        *at = work_started;
      t.write_end = steady_seconds();
      times.push_back(t);
    }
  }
  const nlohmann::json summary = file.summarise(account, device, 0);
  s.on_root([&] {
    rename_created(part);
    created.reset();
    mark_complete(part, dump_json(summary));
  });
  file.finish_written();
  s.on_root([&] { file.report(summary); });
  if (!settings.trace.empty()) write_trace(s, trace_output(settings), times, work_started);
  s.on_root([&] { log_ending(settings, step, file.layout()); });
  return exit_status::complete;
}

}  // namespace voxherd
