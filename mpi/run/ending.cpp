#include "mpi/run/ending.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/readable.hpp"
#include "core/shell_words.hpp"

namespace voxherd {

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

std::string ending_text(const run_settings& settings, const result_layout& layout) {
  std::vector<std::string> files{with_size(settings.out)};
  for (const std::string& file : settings.also_written) files.push_back(with_size(file));
  const std::string out = quoted_word(settings.out);
  const auto exports = suitable_exports(settings, layout);
  const std::string next = exports.empty()
                               ? fmt::format("voxherd info {}", out)
                               : fmt::format("voxherd export {} --to {}", out, fmt::join(exports, " (or --to "));
  return fmt::format("{} written; next: {}{}", fmt::join(files, ", "), next, exports.size() > 1 ? ")" : "");
}

void log_ending(const run_settings& settings, const result_layout& layout) {
  const bool goes_on = settings.listener != nullptr && settings.listener->completes_command;
  if (settings.is_last && !goes_on) spdlog::info("{}", ending_text(settings, layout));
}

}  // namespace voxherd
