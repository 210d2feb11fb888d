#include "mpi/estimate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "mpi/batch_rows.hpp"
#include "mpi/lane_pool.hpp"
#include "mpi/progress.hpp"
#include "mpi/summary.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t most_probed_items = 64;

/// Seconds of the fastest of some runs: the first ones also pay for the waking up of the device or the threads.
double probe_seconds(analysis& a, const device_hooks& device, const result_layout& layout, batch probe) {
  work_slot slot = make_slot(a, device, largest_room({&probe, 1}, layout.point_offsets), layout.point_offsets);
  slot.items = probe;
  a.load(probe, {slot.input.get(), probe.item_count * a.input_bytes_per_item()});
  if (device.enter_thread) device.enter_thread();
  const std::unique_ptr<batch_runner> runner = a.make_runner();
  double fastest = std::numeric_limits<double>::max(), all = 0;
  for (int turn = 0; turn < 2 || (all < 0.3 && turn < 20); ++turn) {
    const auto start = std::chrono::steady_clock::now();
    runner->run(probe, {slot.input.get(), probe.item_count * a.input_bytes_per_item()}, slot.output_spans());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fastest = std::min(fastest, seconds);
    all += seconds;
  }
  return fastest;
}

std::uint64_t host_bytes(const analysis& a, const result_layout& layout) {
  const batch_room most = largest_room(layout.batches, layout.point_offsets);
  std::uint64_t a_batch = most.items * a.input_bytes_per_item();
  for (const output_spec& o : layout.outputs) a_batch += most.rows(o.layout) * o.bytes_per_item();
  return a_batch * (static_cast<std::uint64_t>(std::max(1, a.lanes())) + 2);
}

std::string time_text(const session& s, analysis& a, const device_hooks& device, const result_layout& layout,
                      std::uint64_t pending_batches) {
  // The middle of the image: a batch at its rim may be untypical. A GPU is not filled by a few items.
  batch probe = layout.batches[layout.batches.size() / 2];
  if (device.free_bytes == 0) probe.item_count = std::min(probe.item_count, most_probed_items);
  const double an_item = probe_seconds(a, device, layout, probe) / static_cast<double>(probe.item_count);
  const double share = static_cast<double>(pending_batches) / static_cast<double>(layout.batches.size());
  const double seconds = an_item * static_cast<double>(layout.item_voxels.size()) * share / s.size();
  return fmt::format("time         about {} ({} items took {:.3g} s on rank 0)\n", clock_time(seconds),
                     probe.item_count, an_item * static_cast<double>(probe.item_count));
}

}  // namespace

std::string estimate(const session& s, analysis& a, const run_settings& settings, const device_hooks& device,
                     const result_layout& layout, std::uint64_t pending_batches) {
  std::string text;
  s.on_root([&] {
    const std::uint64_t items = layout.item_voxels.size();
    const std::uint64_t most = largest_room(layout.batches, layout.point_offsets).items;
    text += fmt::format("{}: {} items in {} batches of at most {}, {} batches to do\n", layout.analysis, items,
                        layout.batches.size(), most, pending_batches);
    text += fmt::format("device       {} ({} rank{})\n", device.description, s.size(), s.size() == 1 ? "" : "s");
    text +=
        fmt::format("host memory  {} a rank for batches\n", readable_bytes(static_cast<double>(host_bytes(a, layout))));
    if (device.free_bytes != 0) {
      text += fmt::format("device mem   {} of {} free\n",
                          readable_bytes(static_cast<double>(a.device_bytes_per_item() * most) * a.lanes()),
                          readable_bytes(static_cast<double>(device.free_bytes)));
    }
    text +=
        fmt::format("disk         {} for {}\n", readable_bytes(static_cast<double>(data_bytes(layout))), settings.out);
    if (items > 0) text += time_text(s, a, device, layout, pending_batches);
  });
  return text;
}

}  // namespace voxherd
