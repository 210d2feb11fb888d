#include "mpi/run/study.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <filesystem>

#include "core/error_output.hpp"
#include "mpi/result/batch_rows.hpp"
#include "mpi/result/item_rows.hpp"
#include "mpi/result/result_check.hpp"
#include "mpi/result/same_study.hpp"
#include "mpi/run/run_layout.hpp"
#include "mpi/run/run_outputs.hpp"
#include "mpi/run/run_warnings.hpp"

namespace voxherd {

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

/// By code, as `info` reads them.
nlohmann::json nonzero_counts(const item_counts& all) {
  nlohmann::json counts = nlohmann::json::object();
  for (std::size_t code = 0; code < all.counts.size(); ++code)
    if (all.counts[code] > 0) counts[std::to_string(code)] = all.counts[code];
  return counts;
}

/// The first line of many.
std::string first_line(const std::string& lines) { return lines.substr(0, lines.find('\n')); }

/// Only the batches of a file can be computed again.
void check_tables(const std::string& path, const result_damage& damage) {
  if (damage.tables.empty()) return;
  throw failure(exit_status::bad_data,
                fmt::format("{} was damaged: {}; --overwrite starts again", path, first_line(damage.tables)));
}

/// What `voxherd verify` checks, before the file gets its final name.
void check_written(const session& s, const std::string& path, const result_layout& layout) {
  const result_damage damage = check_result(s, path, layout, checked_part::everything);
  check_tables(path, damage);
  if (damage.batches.empty()) return;
  throw failure(exit_status::disk, fmt::format("{} contains other bytes than were written: {}; is the disk broken? "
                                               "--resume computes such batches again",
                                               path, first_line(damage.batches)));
}

}  // namespace

output_request requested_output(const run_settings& s) { return {s.out, s.resume, s.overwrite, s.is_step}; }

new_file::~new_file() {
  std::error_code ignored;
  if (s_.is_root() && !renamed_) std::filesystem::remove(temporary_, ignored);
}

result_writer new_file::create(const result_layout& layout) const {
  return result_writer::create(s_, temporary_, layout);
}

void new_file::rename(result_writer& writer) {
  s_.on_root([&] { std::filesystem::rename(temporary_, part_); });
  writer.renamed_to(part_);
  renamed_ = true;
}

void log_nothing_to_do(const run_settings& settings) {
  if (settings.is_step) {
    spdlog::info("{}: already computed", settings.label);
  } else {
    spdlog::info("{} is already complete; nothing to do", settings.out);
  }
}

beginning study::begin() {
  s_.on_root([&] {
    check_output_folder(settings_.out, 0);
    if (!settings_.dry_run && !settings_.is_locked) lock_ = std::make_unique<output_lock>(settings_.out);
    found_ = decide_beginning(requested_output(settings_), layout_);
    if (found_ != beginning::already_complete) check_run_outputs(settings_, layout_.provenance);
    const std::string part = unfinished_path(settings_.out);
    if (found_ == beginning::fresh && !settings_.dry_run) std::filesystem::remove(part);
    if (!settings_.dry_run) std::filesystem::remove(part + ".new");  // of a killed run
    // A later step has nothing to resume unless it was the one that was stopped; some commands always resume.
    if (found_ == beginning::fresh && settings_.resume && !settings_.is_later_step && settings_.listener == nullptr)
      spdlog::info("there is no {} to resume: starting from the beginning", part);
  });
  s_.broadcast(found_);
  if (found_ == beginning::already_complete) log_nothing_to_do(settings_);
  return found_;
}

std::vector<std::uint64_t> study::pending(const batch_receiver& receive) {
  const std::string stored = unfinished_path(settings_.out);
  std::unique_ptr<result_reader> reader;
  s_.agree([&] { reader = std::make_unique<result_reader>(stored, tables::walked_or_own); });
  layout_.batches = reader->batches();
  check_tables(stored, check_result(s_, stored, layout_, checked_part::tables));
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
  s_.agree([&] {
    const result_reader reader(settings_.out, tables::walked_or_own);
    read_batches(s_, reader, std::vector<bool>(reader.batches().size(), true), receive);
  });
}

result_writer study::open(std::optional<new_file>& created) const {
  const std::string part = unfinished_path(settings_.out);
  if (resumes()) return result_writer::reopen(s_, part, layout_);
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
    if (more.dump().size() < summary_bytes) summary = std::move(more);
  };
  if (settings_.also_in_summary.is_object()) add(settings_.also_in_summary);
  add({{"warnings", noted_warnings()}});
  return summary;
}

void study::finish(result_writer& writer, const nlohmann::json& summary) {
  writer.finish(summary.dump());
  check_written(s_, unfinished_path(settings_.out), layout_);
  s_.on_root([&] {
    give_final_name(settings_.out, settings_.overwrite ? existing_file::replaced : existing_file::kept);
    note_stage("result named");
  });
}

void study::note_stage(const char* name) const {
  s_.note_stage(settings_.label.empty() ? name : settings_.label + ": " + name);
}

void study::report(nlohmann::json summary) const {
  if (settings_.verbose) {
    const std::string title = settings_.label.empty() ? "" : settings_.label + "\n";
    print_error_output("{}{}", title, summary_table(summary, settings_.item));
  }
  if (settings_.json.empty()) return;
  for (const session::stage& stage : s_.stages())
    summary["stages"].push_back({{"name", stage.name}, {"ended_seconds", stage.ended}});
  write_output(json_output(settings_), summary.dump(2) + '\n');
}

}  // namespace voxherd
