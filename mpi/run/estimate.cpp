#include "mpi/run/estimate.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <thread>

#include "mpi/result/rows.hpp"
#include "mpi/run/lane_pool.hpp"
#include "mpi/run/progress.hpp"
#include "mpi/run/summary.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t first_probed_items = 64, first_probed_parts = 16, first_probed_parts_on_gpu = 1 << 14;
constexpr int max_tries = 100;
// A shorter probe would mostly measure how threads are started.
constexpr double min_probe_seconds = 0.03;

/// Seconds of several tries. The first one, which may include the start of the device or the threads, counts only for
/// the fastest.
struct probe_times {
  double fastest = std::numeric_limits<double>::max(), mean = 0;
};

/// `parts`: of each item; 0 for all.
probe_times time_probe(analysis& a, const device_hooks& device, const result_layout& layout, batch probe,
                       std::uint64_t parts) {
  work_slot slot = make_slot(a, device, largest_room({&probe, 1}, layout.point_offsets), layout.point_offsets);
  slot.items = probe;
  load_input(a, probe, slot.input_bytes());
  if (device.enter_thread) device.enter_thread();
  const std::unique_ptr<batch_runner> runner = parts > 0 ? a.make_probe(parts) : a.make_runner();
  probe_times times;
  double all = 0;
  for (int turn = 0; turn < 2 || (all < 0.3 && turn < max_tries); ++turn) {
    const auto start = std::chrono::steady_clock::now();
    runner->run(probe, slot.input_bytes(), slot.output_spans());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    times.fastest = std::min(times.fastest, seconds);
    if (turn > 0) times.mean += (seconds - times.mean) / turn;
    all += seconds;
  }
  return times;
}

/// Input and outputs of `lanes` batches being computed, one being read and one being written.
double total_batch_bytes(analysis& a, const result_layout& layout, const batch_room& most, int lanes) {
  const item_input* input = a.input();
  std::uint64_t batch_bytes = input == nullptr ? 0 : most.items * input->bytes_per_item();
  for (const output_spec& o : layout.outputs) batch_bytes += most.rows(o.layout) * o.bytes_per_item();
  return static_cast<double>(batch_bytes) * (std::max(1, lanes) + 2);
}

/// Sizes of the largest batch for a GPU with unlimited memory.
batch_room largest_gpu_room(const analysis& a, const result_layout& layout) {
  batch_room most = largest_room(layout.batches, layout.point_offsets);
  const std::uint64_t items = std::min<std::uint64_t>(layout.item_voxels.size(), a.max_items_per_batch());
  if (!has_layout(layout.outputs, output_layout::points)) most.items = std::max(most.items, items);
  return most;
}

/// A line of /proc/self/status, in bytes; 0 if missing.
double status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(name + ":", 0) == 0) return std::stod(line.substr(name.size() + 1)) * 1024;
  return 0;
}

double load_per_core() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load / std::max(1u, std::thread::hardware_concurrency()) : 0;
}

/// `ranks`: those with a device like rank 0's; the others contribute little.
void add_time(analysis& a, const device_hooks& device, const result_layout& layout, int ranks,
              std::uint64_t pending_items, run_estimate& e) {
  // A few items do not fill a GPU.
  batch probe = middle_batch(layout);
  const bool on_host = device.free_bytes == 0;
  const std::uint64_t all_items = probe.item_count;
  if (on_host) probe.item_count = std::min(all_items, first_probed_items);
  const std::uint64_t all_parts = a.parts_of_item(probe.first_item);
  std::uint64_t parts = 0;
  if (all_parts > 0 && a.are_computed_side_by_side()) {
    parts = 1;
  } else if (all_parts > 0) {
    probe.item_count = 1;
    parts = std::min(all_parts, on_host ? first_probed_parts : first_probed_parts_on_gpu);
  }
  e.load_per_core = load_per_core();
  probe_times times = time_probe(a, device, layout, probe, parts);
  while (times.fastest < min_probe_seconds && (parts < all_parts || probe.item_count < all_items)) {
    if (parts < all_parts) {
      parts = std::min(all_parts, 4 * parts);
    } else {
      probe.item_count = std::min(all_items, 4 * probe.item_count);
    }
    times = time_probe(a, device, layout, probe, parts);
  }
  if (all_parts > 0) e.probed_part = static_cast<double>(parts) / static_cast<double>(all_parts);
  e.probe_seconds = times.fastest;
  e.mean_seconds = std::max(times.fastest, times.mean);
  e.probed_items = probe.item_count;
  const double seconds_per_item = e.probe_seconds / (static_cast<double>(probe.item_count) * e.probed_part);
  e.run_seconds = e.seconds = seconds_per_item * static_cast<double>(pending_items) / ranks;
}

}  // namespace

int gpus_that_pay(double seconds, int ranks) {
  int best = 1;
  const auto time = [&](int n) { return seconds / n + start_seconds_per_gpu * n; };
  for (int n = 2; n <= ranks; ++n)
    if (time(n) < time(best)) best = n;
  return best;
}

batch middle_batch(const result_layout& layout) {
  const std::uint64_t middle = layout.item_voxels.size() / 2;
  const auto after = std::partition_point(layout.batches.begin(), layout.batches.end(),
                                          [&](const batch& b) { return b.first_item <= middle; });
  return *std::prev(after);
}

run_estimate estimate(const session& s, analysis& a, const device_hooks& device, const result_layout& layout,
                      std::span<const std::uint64_t> pending) {
  run_estimate e;
  std::uint64_t pending_items = 0;
  for (const std::uint64_t number : pending) pending_items += layout.batches[number].item_count;
  const int with_gpu = s.all_reduce(reduction::sum, device.free_bytes > 0 ? 1 : 0);
  s.on_root([&] {
    const batch_room most = largest_room(layout.batches, layout.point_offsets);
    e.analysis = layout.analysis;
    e.device = device.record;
    e.ranks = s.size();
    e.items = layout.item_voxels.size();
    e.batches = layout.batches.size();
    e.largest_batch = most.items;
    e.pending_batches = pending.size();
    e.batch_bytes = total_batch_bytes(a, layout, most, a.lanes());
    e.gpu_batch_bytes = total_batch_bytes(a, layout, largest_gpu_room(a, layout), 2);
    if (device.free_bytes != 0) {
      e.device_bytes = static_cast<double>(a.device_bytes_per_item() * most.items) * a.lanes();
      e.free_device_bytes = static_cast<double>(device.free_bytes);
    }
    e.disk_bytes = static_cast<double>(data_bytes(layout));
    const int alike = device.free_bytes > 0 ? with_gpu : s.size();
    if (e.items > 0) add_time(a, device, layout, alike, pending_items, e);
    e.node_bytes = status_bytes("RssShmem");
    e.process_bytes = std::max(0.0, static_cast<double>(peak_host_bytes()) - e.node_bytes);
  });
  return e;
}

namespace {

constexpr double busy_load_per_core = 0.5, notable_spread = 1.1;

/// "0:29", or "0:29 to 0:41" if the tries differed: the machine does other work too. Of a bound, the larger one.
std::string time_range(const run_estimate& e, double seconds, bool is_bound = false) {
  const double spread = e.mean_seconds / std::max(e.probe_seconds, 1e-9);
  if (is_bound) return "at most " + clock_time(seconds * spread);
  if (spread < notable_spread || clock_time(seconds * spread) == clock_time(seconds))
    return "about " + clock_time(seconds);
  return fmt::format("about {} to {}", clock_time(seconds), clock_time(seconds * spread));
}

std::string later_text(const run_estimate& e) {
  constexpr const char* line = "             {}: {} ({})\n";
  std::string text;
  for (const later_step& l : e.later) text += fmt::format(line, l.name, time_range(e, l.seconds, l.is_bound), l.from);
  if (!e.not_estimated.empty())
    text += fmt::format(line, fmt::join(e.not_estimated, ", "), "not estimated",
                        "reads and writes results of the other steps");
  const bool is_bound = std::any_of(e.later.begin(), e.later.end(), [](const later_step& l) { return l.is_bound; });
  if (!e.later.empty()) text += fmt::format("             together {}\n", time_range(e, e.seconds, is_bound));
  return text;
}

/// Only a hint: the user may have other reasons.
std::string hint_text(const run_estimate& e) {
  if (e.device.kind != "cuda") return "";
  const double on_one_gpu = e.seconds * e.ranks;
  const int enough = gpus_that_pay(on_one_gpu, e.ranks);
  if (enough == e.ranks) return "";
  const bool is_one = enough == 1;
  return fmt::format(
      "hint         {} enough, start {} instead of {}: one GPU computes for {:.2g} s, and each further "
      "one takes about {} s to start\n",
      is_one ? "one GPU is" : fmt::format("{} GPUs are", enough), counted(static_cast<std::uint64_t>(enough), "rank"),
      e.ranks, on_one_gpu, start_seconds_per_gpu);
}

std::string time_text(const run_estimate& e) {
  if (e.probed_items == 0) return "";
  std::string text = fmt::format("time         {}{} ({}{} took {:.3g} s on rank 0)\n",
                                 e.step.empty() ? "" : e.step + ": ", time_range(e, e.run_seconds),
                                 e.probed_part < 1 ? fmt::format("{:.2g} % of ", 100 * e.probed_part) : "",
                                 counted(e.probed_items, e.item), e.probe_seconds);
  text += later_text(e);
  if (e.load_per_core > busy_load_per_core)
    text += fmt::format(
        "             other programs use this machine (load {:.1f} per core): the time may be several "
        "times longer\n",
        e.load_per_core);
  return text + hint_text(e);
}

}  // namespace

std::string estimate_text(const run_estimate& e, const std::string& out) {
  std::string text = fmt::format("{}: {} in {} of at most {}, {} to do\n", e.analysis, counted(e.items, e.item),
                                 e.batches == 1 ? "1 batch" : fmt::format("{} batches", e.batches), e.largest_batch,
                                 e.pending_batches);
  text += fmt::format("device       {} ({} rank{})\n", describe(e.device), e.ranks, e.ranks == 1 ? "" : "s");
  text += fmt::format(
      "host memory  {} per rank for batches{}{}\n", readable_bytes(e.batch_bytes),
      e.kept_bytes > 0 ? fmt::format(", {} for their sums", readable_bytes(e.kept_bytes)) : "",
      e.root_bytes > 0 ? fmt::format("; {} more on rank 0 to write the result", readable_bytes(e.root_bytes)) : "");
  if (e.free_device_bytes > 0)
    text += fmt::format("device mem   {} of {} free\n", readable_bytes(e.device_bytes),
                        readable_bytes(e.free_device_bytes));
  text += fmt::format("disk         {} for {}{}\n", readable_bytes(e.disk_bytes), out,
                      e.result.empty() ? "" : ", which is removed at the end");
  if (e.result_bytes > 0)
    text += fmt::format("             {} of maps, compressed to at most that and usually far less, for {}\n",
                        readable_bytes(e.result_bytes), e.result);
  return text + time_text(e);
}

}  // namespace voxherd
