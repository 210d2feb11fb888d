#include "mpi/run/run_layout.hpp"

#include <algorithm>
#include <limits>

#include "core/failure.hpp"
#include "core/plan.hpp"

namespace voxherd {

namespace {

/// Checks the properties that every analysis must have. The same on all ranks.
void check_items(const analysis& a, const result_layout& layout) {
  const bool has_volumes = has_layout(layout.outputs, output_layout::volume);
  if (layout.item_voxels.empty() && (has_volumes || !a.may_be_empty())) {
    throw failure(exit_status::bad_data, "the mask is empty: there are no voxels to analyse");
  }
  const auto& offsets = layout.point_offsets;
  const bool right = has_layout(layout.outputs, output_layout::points)
                         ? offsets.size() == layout.item_voxels.size() + 1 && offsets.front() == 0 &&
                               std::is_sorted(offsets.begin(), offsets.end())
                         : offsets.empty();
  if (!right) throw failure(exit_status::internal_error, a.name() + ": the point offsets do not match the items");
}

bool is_mixed(const device_hooks& device) { return device.kind == "mixed"; }

batch_sizes automatic_sizes(const analysis& a, const run_settings& settings, const device_hooks& device,
                            const result_layout& layout) {
  const bool on_host = device.free_bytes == 0;
  std::uint64_t largest = automatic_batch_items(a.item_voxels().size(), device.free_bytes, a.device_bytes_per_item(),
                                                a.lanes(), a.max_items_per_batch(), a.min_items_per_batch());
  // In the paper a batch is a slice: it is cut only if it does not fit in device memory.
  if (settings.partition == partition_kind::slices && on_host) largest = 32768;
  largest = std::min(largest, batch_items_for_points(layout.outputs, layout.point_offsets));
  if (settings.schedule != schedule_kind::dynamic) return batch_sizes(largest);
  return falling_sizes(largest, on_host ? 0 : a.last_items_per_batch(), a.max_items_per_batch());
}

}  // namespace

result_layout begin_layout(const std::string& analysis, const run_settings& settings, const device_hooks& device) {
  result_layout layout;
  layout.version = settings.provenance.is_object() ? settings.provenance.value("version", "") : "";
  layout.analysis = analysis;
  layout.configuration = settings.configuration.is_null() ? nlohmann::json::object() : settings.configuration;
  layout.configuration["backend"] = device.kind;
  layout.provenance = settings.provenance.is_null() ? nlohmann::json::object() : settings.provenance;
  return layout;
}

void share_descriptions(const session& s, const device_hooks& device, result_layout& layout) {
  layout.provenance["devices"] = nlohmann::json::array();
  for (const std::string& record : s.gather(as_json(device.record).dump()))
    layout.provenance["devices"].push_back(nlohmann::json::parse(record));
  // HDF5 requires the same metadata on every rank.
  for (nlohmann::json* j : {&layout.configuration, &layout.provenance}) s.broadcast(*j);
}

result_layout make_layout(const session& s, const analysis& a, const run_settings& settings,
                          const device_hooks& device) {
  result_layout layout = begin_layout(a.name(), settings, device);
  layout.grid = a.grid();
  layout.item_voxels = a.item_voxels();
  layout.point_offsets = a.point_offsets();
  layout.outputs = a.outputs();
  layout.constants = a.constants();
  check_items(a, layout);
  share_descriptions(s, device, layout);
  return layout;
}

std::vector<batch> new_plan(const session& s, analysis& a, const run_settings& settings, const device_hooks& device,
                            const result_layout& layout) {
  batch_sizes sizes =
      settings.batch_items > 0 ? batch_sizes(settings.batch_items) : automatic_sizes(a, settings, device, layout);
  // Batches must fit on every GPU. In a mixed run, CPU ranks use the batches made for the GPUs.
  if (is_mixed(device) && device.free_bytes == 0) sizes = batch_sizes(std::numeric_limits<std::uint64_t>::max());
  if (const item_input* input = a.input()) sizes.largest = std::min(sizes.largest, input->max_items());
  sizes.last = std::min(sizes.last, sizes.largest);
  sizes.finest = std::min(sizes.finest, sizes.last);
  for (std::uint64_t* n : {&sizes.largest, &sizes.last, &sizes.finest}) *n = s.all_reduce(reduction::min, *n);
  sizes.parts = s.all_reduce(reduction::max, sizes.parts);
  sizes.ends_for_slow_ranks = is_mixed(device) && sizes.parts > 1;
  std::vector<std::uint64_t> first_items;
  if (s.is_root()) first_items = first_items_of(make_plan(settings.partition, a.item_voxels(), a.grid(), sizes));
  s.broadcast(first_items);
  return make_batches(first_items);
}

std::vector<double> believed_speeds(const session& s, const device_hooks& device) {
  constexpr double cores_compared_with_gpu = 0.003;  // ball & stick: 16 cores compared with an H200
  if (!is_mixed(device)) return {};
  return s.all_gather(std::vector<double>{device.free_bytes > 0 ? 1.0 : cores_compared_with_gpu});
}

}  // namespace voxherd
