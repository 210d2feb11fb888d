#include "mpi/run/run_files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "core/threads.hpp"
#include "mpi/comm/stop_wait.hpp"
#include "mpi/result/output_place.hpp"

namespace voxherd {

named_output json_output(const run_settings& settings) { return {"--json", settings.json, settings.overwrite}; }
named_output trace_output(const run_settings& settings) {
  return {"--trace", settings.trace, settings.overwrite,
          settings.is_trace_implied ? file_name::implied : file_name::given};
}

void check_run_outputs(const run_settings& settings, const nlohmann::json& provenance) {
  std::vector<kept_file> others = list_inputs(provenance);
  for (kept_file& file : list_result_files("--out", settings.out)) others.push_back(std::move(file));
  check_output(json_output(settings), others);
  check_output(trace_output(settings), others);
}

void refuse_changed_inputs(const session& s, const run_settings& settings, result_writer* writer) {
  try {
    s.on_root([&] {
      if (settings.check_inputs && settings.provenance.contains("inputs"))
        settings.check_inputs(settings.provenance.at("inputs"));
    });
  } catch (const failure& f) {  // the same on every rank
    if (writer == nullptr) throw;
    writer->close();
    const std::string part = unfinished_path(settings.out);
    s.on_root([&] {
      std::error_code ignored;  // the message below is more important
      std::filesystem::remove(part, ignored);
    });
    throw failure(f.status, fmt::format("{}; {} may contain both versions and was removed", f.what(), part));
  }
}

namespace {

std::string with_size(const std::string& path) {
  std::error_code code;
  const auto bytes = std::filesystem::file_size(path, code);
  return code ? path : fmt::format("{} ({})", path, readable_bytes(static_cast<double>(bytes)));
}

/// The formats of `voxherd export` for these contents, with their places: "csv DIR".
std::vector<std::string> suitable_exports(const run_settings& settings, const result_layout& layout) {
  if (!settings.export_words.empty()) return {settings.export_words};
  std::vector<std::string> words;
  const auto is_matrix = [](const constant& c) { return c.group == "connectome" && c.shape.size() == 2; };
  if (std::any_of(layout.constants.begin(), layout.constants.end(), is_matrix)) words.emplace_back("csv DIR");
  if (!layout.point_offsets.empty() && !layout.item_voxels.empty()) words.emplace_back("tck FILE.tck");
  const auto is_map = [](const output_spec& o) { return o.layout == output_layout::volume; };
  if (words.empty() && std::any_of(layout.outputs.begin(), layout.outputs.end(), is_map))
    words.emplace_back("nifti DIR");
  return words;
}

}  // namespace

std::string ending_text(const run_settings& settings, const step_context& step, const result_layout& layout) {
  std::vector<std::string> files{with_size(settings.out)};
  for (const std::string& file : step.also_written) files.push_back(with_size(file));
  const std::string out = quoted_word(settings.out);
  const auto exports = suitable_exports(settings, layout);
  const std::string next = exports.empty() ? fmt::format("voxherd info {}", out)
                                           : fmt::format("voxherd report {0}; voxherd export {0} --to {1}", out,
                                                         fmt::join(exports, " (or --to "));
  return fmt::format("{} written; next: {}{}", fmt::join(files, ", "), next, exports.size() > 1 ? ")" : "");
}

void log_ending(const run_settings& settings, const step_context& step, const result_layout& layout) {
  const bool goes_on = settings.listener != nullptr && settings.listener->completes_command;
  if (step.is_end() && !goes_on) spdlog::info("{}", ending_text(settings, step, layout));
}

void write_trace(const session& s, const named_output& output, std::vector<batch_times> own, double origin) {
  for (batch_times& t : own) {
    t.rank = static_cast<std::uint32_t>(s.rank());
    for (double* at :
         {&t.asked, &t.read_begin, &t.read_end, &t.compute_begin, &t.compute_end, &t.write_begin, &t.write_end}) {
      *at -= origin;
    }
  }
  std::vector<batch_times> all = s.gather_to_root(own);
  s.on_root([&] {
    std::sort(all.begin(), all.end(),
              [](const batch_times& a, const batch_times& b) { return a.compute_begin < b.compute_begin; });
    std::string text =
        "batch,items,rank,lane,asked,read_begin,read_end,compute_begin,compute_end,write_begin,write_end\n";
    for (const batch_times& t : all) {
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f}\n",
                     t.number, t.items, t.rank, t.lane, t.asked, t.read_begin, t.read_end, t.compute_begin,
                     t.compute_end, t.write_begin, t.write_end);
    }
    write_output(output, text);
  });
}

std::jthread write_back(const std::string& path) {
  constexpr double seconds_between = 0.2;
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return {};
  return start_thread("writes results back", [file](const std::stop_token& stop) {
    // Starts writing the changed pages and returns; waits only while the disk's queue is full.
    do (void)sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);
    while (!stopped_within(stop, seconds_between));
    close(file);
  });
}

}  // namespace voxherd
