#include "src/analyses/geodesic/fibre_scores.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/readable.hpp"

namespace voxherd {

namespace {

constexpr const char* verdict_words[geodesic::verdicts] = {
    "accepted",  "touched an exclusion region", "missed an inclusion region", "reached no target",
    "too short", "below --min-measure"};

constexpr const char* stop_words[geodesic::stop_reasons] = {
    "no ray",          "target",         "exclusion region", "end of the image",
    "end of the mask", "longest length", "curvature",        "low FA",
    "energy drift",    "loop",           "degenerate field"};

std::string listed(const std::vector<std::uint64_t>& counts, const char* const* words, std::size_t first) {
  std::string text;
  for (std::size_t i = first; i < counts.size(); ++i) {
    if (counts[i] > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts[i], words[i]);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

namespace {

constexpr std::uint64_t piece = 1 << 20;

/// Rows [first, first + count) of every score.
void read_scores(const result_reader& scores, std::uint64_t first, std::uint64_t count,
                 const geodesic::score_arrays& rows) {
  for (std::size_t i = 0; i < rows.count; ++i) {
    const output& o = geodesic::fibre_scores::table[i];
    with_element_type(o.type, [&]<class T>() {
      const auto values = scores.read_rows<T>(o.name, first, count);
      std::memcpy(rows.array[i], values.data(), values.size() * sizeof(T));
    });
  }
}

std::uint64_t accepted_count(const result_reader& scores, std::uint64_t first, std::uint64_t count) {
  std::uint64_t accepted = 0;
  for (std::uint64_t done = 0; done < count; done += piece) {
    const auto verdict = scores.read_rows<std::uint8_t>("verdict", first + done, std::min(piece, count - done));
    accepted += static_cast<std::uint64_t>(
        std::count(verdict.begin(), verdict.end(), static_cast<std::uint8_t>(geodesic::verdict::accepted)));
  }
  return accepted;
}

}  // namespace

std::vector<scored_fibre> accepted_fibres(const result_reader& scores, std::uint64_t first, std::uint64_t count,
                                          fibre_counts& counts) {
  std::vector<scored_fibre> accepted;
  accepted.reserve(accepted_count(scores, first, count));
  const output_memory<geodesic::fibre_scores> memory(std::min(piece, count));
  counts.verdicts.resize(geodesic::verdicts);
  counts.stops.resize(geodesic::stop_reasons);
  for (std::uint64_t done = 0; done < count; done += piece) {
    const std::uint64_t at = first + done, rows = std::min(piece, count - done);
    read_scores(scores, at, rows, memory.arrays());
    const std::uint8_t *const verdict = memory.values<"verdict">(), *const stops = memory.values<"stops">();
    for (std::uint64_t i = 0; i < rows; ++i) {
      ++counts.verdicts.at(verdict[i]);
      for (int ray = 0; ray < 2; ++ray) ++counts.stops.at(stops[2 * i + ray]);
      if (verdict[i] != static_cast<std::uint8_t>(geodesic::verdict::accepted)) continue;
      accepted.push_back({at + i, {}});
      accepted.back().scores.read(memory.arrays(), i);
    }
  }
  return accepted;
}

void log_counts(const fibre_counts& counts) {
  const std::uint64_t fibres = std::accumulate(counts.verdicts.begin(), counts.verdicts.end(), std::uint64_t{0});
  spdlog::info("{}: {}", counted(fibres, "fibre"), listed(counts.verdicts, verdict_words, 0));
  spdlog::info("rays ended by: {}", listed(counts.stops, stop_words, 1));
}

nlohmann::json counts_as_json(const fibre_counts& counts) {
  nlohmann::json all;
  for (std::size_t i = 0; i < counts.verdicts.size(); ++i) all["fibres"][verdict_words[i]] = counts.verdicts[i];
  for (std::size_t i = 1; i < counts.stops.size(); ++i) all["rays_ended_by"][stop_words[i]] = counts.stops[i];
  return all;
}

}  // namespace voxherd
