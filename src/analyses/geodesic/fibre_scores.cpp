#include "src/analyses/geodesic/fibre_scores.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <numeric>

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

std::vector<output_spec> score_outputs() {
  const auto item = [](std::string name, element_type type, std::vector<std::uint64_t> shape, std::string unit,
                       std::string meaning) {
    return output_spec{name, type, shape, output_layout::items, unit, meaning};
  };
  constexpr auto real = element_type::float32;
  return {
      item("verdict", element_type::uint8, {}, "code", "0 accepted; else why not"),
      item("regions", element_type::int32, {2}, "1", "labels of the regions that are joined; 0: none"),
      item("stops", element_type::uint8, {2}, "code", "why the ray along +u ended, and the one along -u"),
      item("steps", element_type::uint32, {2}, "1", "steps along +u and along -u"),
      item("measure", real, {}, "1", "what ranks the fibre: --measure"),
      item("length_mm", real, {}, "mm", "Euclidean length"),
      item("metric_length", real, {}, "metric", "Riemannian length; s^(1/2) for the metric `inverse`"),
      item("relative", real, {}, "1", "length over that of the fastest way along the same metric length, 0 to 1"),
      item("weakest", real, {}, "1", "smallest relative speed on the way, 0 to 1"),
      item("mean_FA", real, {}, "1", "mean fractional anisotropy"),
      item("drift", real, {}, "1", "largest relative change of the energy, which a geodesic keeps"),
  };
}

geodesic::score_view view_of(std::span<const std::span<std::byte>> outputs) {
  geodesic::score_view view{};
  view.verdict = rows_of<std::uint8_t>(outputs, 0);
  view.regions = rows_of<std::int32_t>(outputs, 1);
  view.stops = rows_of<std::uint8_t>(outputs, 2);
  view.steps = rows_of<std::uint32_t>(outputs, 3);
  std::size_t next = 4;
  for (float** real :
       {&view.measure, &view.length_mm, &view.metric_length, &view.relative, &view.weakest, &view.mean_FA, &view.drift})
    *real = rows_of<float>(outputs, next++);
  return view;
}

namespace {

constexpr std::uint64_t piece = 1 << 20;

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
  counts.verdicts.resize(geodesic::verdicts);
  counts.stops.resize(geodesic::stop_reasons);
  for (std::uint64_t done = 0; done < count; done += piece) {
    const std::uint64_t at = first + done, rows = std::min(piece, count - done);
    const auto verdict = scores.read_rows<std::uint8_t>("verdict", at, rows);
    const auto stops = scores.read_rows<std::uint8_t>("stops", at, rows);
    const auto regions = scores.read_rows<std::int32_t>("regions", at, rows);
    const auto steps = scores.read_rows<std::uint32_t>("steps", at, rows);
    const auto real = [&](const char* name) { return scores.read_rows<float>(name, at, rows); };
    const auto measure = real("measure"), length = real("length_mm"), metric = real("metric_length"),
               relative = real("relative"), weakest = real("weakest"), FA = real("mean_FA"), drift = real("drift");
    for (std::uint64_t i = 0; i < rows; ++i) {
      ++counts.verdicts.at(verdict[i]);
      for (int ray = 0; ray < 2; ++ray) ++counts.stops.at(stops[2 * i + ray]);
      if (verdict[i] != static_cast<std::uint8_t>(geodesic::verdict::accepted)) continue;
      accepted.push_back({at + i,
                          {regions[2 * i], regions[2 * i + 1]},
                          {steps[2 * i], steps[2 * i + 1]},
                          {stops[2 * i], stops[2 * i + 1]},
                          measure[i],
                          length[i],
                          metric[i],
                          relative[i],
                          weakest[i],
                          FA[i],
                          drift[i]});
    }
  }
  return accepted;
}

void log_counts(const fibre_counts& counts) {
  const std::uint64_t fibres = std::accumulate(counts.verdicts.begin(), counts.verdicts.end(), std::uint64_t{0});
  spdlog::info("{} fibres: {}", fibres, listed(counts.verdicts, verdict_words, 0));
  spdlog::info("rays ended by: {}", listed(counts.stops, stop_words, 1));
}

nlohmann::json counts_as_json(const fibre_counts& counts) {
  nlohmann::json all;
  for (std::size_t i = 0; i < counts.verdicts.size(); ++i) all["fibres"][verdict_words[i]] = counts.verdicts[i];
  for (std::size_t i = 1; i < counts.stops.size(); ++i) all["rays_ended_by"][stop_words[i]] = counts.stops[i];
  return all;
}

}  // namespace voxherd
