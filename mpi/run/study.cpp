#include "mpi/run/study.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "core/plan.hpp"
#include "core/text.hpp"
#include "mpi/result/result_check.hpp"
#include "mpi/result/result_reader.hpp"
#include "mpi/result/rows.hpp"
#include "mpi/result/same_study.hpp"
#include "mpi/run/run_files.hpp"
#include "mpi/run/summary.hpp"

namespace voxherd {

namespace {

/// Checks the properties that every analysis must have. The same on all ranks.
void check_items(const analysis& a, const result_layout& layout) {
  if (layout.item_voxels.empty() && !a.may_be_empty()) {
    refuse_data("the mask is empty: there are no voxels to analyse");
  }
  const auto& offsets = layout.point_offsets;
  const bool right = has_layout(layout.outputs, output_layout::points)
                         ? offsets.size() == layout.item_voxels.size() + 1 && offsets.front() == 0 &&
                               std::is_sorted(offsets.begin(), offsets.end())
                         : offsets.empty();
  if (!right) throw failure(exit_status::internal_error, a.name() + ": the point offsets do not match the items");
}

/// A file's times are of no use to a reader, and would make two equal results differ. Inputs may be in groups.
void remove_states(nlohmann::json& inputs) {
  if (inputs.is_object()) inputs.erase("state");
  if (inputs.is_structured())
    for (nlohmann::json& input : inputs) remove_states(input);
}

bool is_mixed(const device_hooks& device) { return device.kind == device_kind::mixed; }

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
  layout.configuration["backend"] = kind_name(device.kind);
  layout.provenance = settings.provenance.is_null() ? nlohmann::json::object() : settings.provenance;
  if (layout.provenance.contains("inputs")) remove_states(layout.provenance.at("inputs"));
  return layout;
}

void share_descriptions(const session& s, const device_hooks& device, result_layout& layout) {
  layout.provenance["devices"] = nlohmann::json::array();
  for (const std::string& record : s.gather(dump_json(as_json(device.record))))
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

namespace {

void read_batches(const session& s, const result_reader& reader, const std::vector<bool>& good,
                  const batch_receiver& receive) {
  for (const batch& b : reader.batches()) {
    if (!good[b.number] || b.number % static_cast<std::uint64_t>(s.size()) != static_cast<std::uint64_t>(s.rank()))
      continue;
    std::vector<std::vector<std::byte>> rows;
    for (const output_spec& o : reader.outputs()) rows.push_back(read_item_rows(reader, o, b));
    receive(b, std::vector<std::span<const std::byte>>(rows.begin(), rows.end()));
  }
}

/// The numbers of items by status code, in the form that `info` reads.
nlohmann::json nonzero_counts(const item_counts& all) {
  nlohmann::json counts = nlohmann::json::object();
  for (std::size_t code = 0; code < all.counts.size(); ++code)
    if (all.counts[code] > 0) counts[std::to_string(code)] = all.counts[code];
  return counts;
}

/// The first line of many.
std::string first_line(const std::string& lines) { return lines.substr(0, lines.find('\n')); }

/// Only the batches of a file can be computed again.
void refuse_damage(const std::string& path, const result_damage& damage) {
  if (damage.tables.empty()) return;
  refuse_data("{} was damaged: {}; --overwrite starts again", path, first_line(damage.tables));
}

/// What `voxherd verify` checks, before the file gets its final name.
void check_written(const session& s, const std::string& path, const result_layout& layout) {
  const result_damage damage = check_result(s, path, layout, checked_part::everything);
  refuse_damage(path, damage);
  if (damage.batches.empty()) return;
  fail_on_disk(
      "{} contains other bytes than were written: {}; is the disk broken? --resume computes such batches again", path,
      first_line(damage.batches));
}

}  // namespace

output_request requested_output(const run_settings& settings, const step_context& step) {
  return {settings.out, settings.out_option, settings.resume, settings.overwrite, step.is_intermediate()};
}

new_file::~new_file() {
  std::error_code ignored;
  if (s_.is_root() && !renamed_) std::filesystem::remove(temporary_, ignored);
}

result_writer new_file::create(const result_layout& layout) const {
  return result_writer::create(s_, temporary_, layout);
}

void rename_created(const std::string& part) { std::filesystem::rename(part + ".new", part); }

void new_file::rename(result_writer& writer) {
  s_.on_root([&] { rename_created(part_); });
  writer.renamed_to(part_);
  renamed_ = true;
}

void log_nothing_to_do(const run_settings& settings, const step_context& step) {
  if (step.is_intermediate()) {
    spdlog::info("{}: already computed", step.label);
  } else {
    spdlog::info("{} is already complete; nothing to do", settings.out);
  }
}

beginning study::begin() {
  s_.on_root([&] {
    check_output_folder(settings_.out, 0, settings_.out_option);
    if (!settings_.dry_run && step_.kind != step_kind::last) lock_ = std::make_unique<output_lock>(settings_.out);
    found_ = decide_beginning(requested_output(settings_, step_), layout_);
    if (found_ != beginning::already_complete) check_run_outputs(settings_, layout_.provenance);
    const std::string part = unfinished_path(settings_.out);
    if (found_ == beginning::fresh && !settings_.dry_run) std::filesystem::remove(part);
    if (!settings_.dry_run) std::filesystem::remove(part + ".new");  // of a killed run
    // A later step has nothing to resume unless it was the one that was stopped; some commands always resume.
    if (found_ == beginning::fresh && settings_.resume && !step_.is_later && settings_.listener == nullptr)
      spdlog::info("there is no {} to resume: starting from the beginning", part);
  });
  s_.broadcast(found_);
  if (found_ == beginning::already_complete) log_nothing_to_do(settings_, step_);
  return found_;
}

std::vector<std::uint64_t> study::pending(const batch_receiver& receive) {
  const std::string stored = unfinished_path(settings_.out);
  std::unique_ptr<result_reader> reader;
  s_.agree([&] { reader = std::make_unique<result_reader>(stored); });
  layout_.batches = reader->batches();
  refuse_damage(stored, check_result(s_, stored, layout_, checked_part::tables));
  const std::vector<bool> good = verified_batches(s_, *reader);
  if (receive) s_.agree([&] { read_batches(s_, *reader, good, receive); });
  std::vector<std::uint64_t> numbers;
  std::uint64_t damaged = 0;
  for (const batch& b : layout_.batches) {
    if (good[b.number]) continue;
    numbers.push_back(b.number);
    damaged += reader->journal()[b.number].done == 1 ? 1 : 0;
  }
  if (damaged > 0) spdlog::warn("{} finished batches no longer match their checksums and are computed again", damaged);
  spdlog::info("resuming {}: {} of {} batches are finished", stored, layout_.batches.size() - numbers.size(),
               layout_.batches.size());
  return numbers;
}

void study::read_complete(const batch_receiver& receive) const {
  std::unique_ptr<result_reader> reader;
  s_.agree([&] { reader = std::make_unique<result_reader>(settings_.out); });
  const std::vector<bool> good = verified_batches(s_, *reader);
  s_.agree([&] {
    const auto damaged = std::find(good.begin(), good.end(), false);
    if (damaged != good.end())
      refuse_data(
          "{} is damaged: batch {} does not have the checksum with which it was written; remove the file and repeat "
          "the command, which computes it again",
          settings_.out, damaged - good.begin());
    read_batches(s_, *reader, good, receive);
  });
}

namespace {

constexpr double large_file_bytes = 1e9;  // takes seconds to write

/// Maps have a value in every voxel of the grid, so that a few voxels in a large grid make a large file.
void log_size(const result_layout& layout) {
  constexpr double min_bytes = 16e6, min_share = 0.01;
  const auto bytes = static_cast<double>(data_bytes(layout));
  const std::uint64_t items = layout.item_voxels.size(), voxels = layout.grid.voxel_count();
  const bool has_maps = std::any_of(layout.outputs.begin(), layout.outputs.end(),
                                    [](const output_spec& o) { return o.layout == output_layout::volume; });
  if (has_maps && bytes > min_bytes && static_cast<double>(items) < min_share * static_cast<double>(voxels)) {
    spdlog::info(
        "writing {}: its maps have values in all {} voxels of the grid, for {} that are computed; cropped images "
        "make it smaller",
        readable_bytes(bytes), voxels, items);
  } else if (bytes > large_file_bytes) {
    spdlog::info("writing {}", readable_bytes(bytes));
  }
}

}  // namespace

result_writer study::open(std::optional<new_file>& created) const {
  const std::string part = unfinished_path(settings_.out);
  if (resumes()) return result_writer::reopen(s_, part, layout_);
  s_.on_root([&] { log_size(layout_); });
  return created.emplace(s_, part).create(layout_);
}

nlohmann::json study::summarise(rank_account account, const device_hooks& device, std::size_t batches_before,
                                const item_counts* counts) const {
  account.host = s_.host();
  account.device = describe(device.record);
  account.peak_host_bytes = peak_host_bytes();
  account.peak_device_bytes = device.peak_bytes ? device.peak_bytes() : 0;
  nlohmann::json summary = gather_summary(s_, account, steady_seconds() - start_);
  summary["analysis"] = layout_.analysis;
  summary["version"] = layout_.version;
  summary["resumed_batches"] = batches_before;
  if (counts != nullptr) summary["counts"] = nonzero_counts(*counts);
  const auto add = [&](const nlohmann::json& object) {
    nlohmann::json more = summary;
    more.update(object);
    if (dump_json(more).size() < summary_bytes) summary = std::move(more);
  };
  if (step_.also_in_summary.is_object()) add(step_.also_in_summary);
  add({{"warnings", settings_.warnings ? settings_.warnings->texts() : nlohmann::json::array()}});
  return summary;
}

void study::finish(result_writer& writer, const nlohmann::json& summary) {
  if (const auto bytes = static_cast<double>(data_bytes(layout_)); bytes > large_file_bytes)
    s_.on_root([&] { spdlog::info("waiting for the disk: {}", readable_bytes(bytes)); });
  writer.finish(dump_json(summary));
  finish_written();
}

void study::finish_written() {
  check_written(s_, unfinished_path(settings_.out), layout_);
  s_.on_root([&] {
    give_final_name(settings_.out, settings_.overwrite ? existing_file::replaced : existing_file::kept);
    note_stage("result named");
  });
}

void study::note_stage(const char* name) const {
  s_.note_stage(step_.label.empty() ? name : step_.label + ": " + name);
}

void study::report(nlohmann::json summary) const {
  if (settings_.verbose) {
    const std::string title = step_.label.empty() ? "" : step_.label + "\n";
    print_error_output("{}{}", title, summary_table(summary, step_.item));
  }
  if (settings_.json.empty()) return;
  for (const session::stage& stage : s_.stages())
    summary["stages"].push_back({{"name", stage.name}, {"ended_seconds", stage.ended}});
  write_output(json_output(settings_), dump_json(summary, 2) + '\n');
}

}  // namespace voxherd
