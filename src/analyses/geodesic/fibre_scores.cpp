#include "src/analyses/geodesic/fibre_scores.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/text.hpp"
#include "kernels/portable/output_rows.hpp"

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

using score_rows = output_rows<geodesic::fibre_scores>;

/// The accepted fibres among rows [begin, end) of a batch; the others are counted.
std::vector<scored_fibre> accepted_rows(const score_rows& rows, std::uint64_t first_fibre, std::size_t begin,
                                        std::size_t end, fibre_counts& counts) {
  constexpr auto accepted = static_cast<std::uint8_t>(geodesic::verdict::accepted);
  const auto verdict = rows.values<"verdict">(), stops = rows.values<"stops">();
  std::vector<scored_fibre> found;
  found.reserve(static_cast<std::size_t>(std::ranges::count(verdict.subspan(begin, end - begin), accepted)));
  for (std::size_t i = begin; i < end; ++i) {
    ++counts.verdicts.at(verdict[i]);
    for (std::size_t ray = 0; ray < 2; ++ray) ++counts.stops.at(stops[2 * i + ray]);
    if (verdict[i] != accepted) continue;
    found.push_back({first_fibre + i, rows.record(i)});
  }
  return found;
}

void add_counts(const fibre_counts& more, fibre_counts& counts) {
  for (std::size_t i = 0; i < counts.verdicts.size(); ++i) counts.verdicts[i] += more.verdicts[i];
  for (std::size_t i = 0; i < counts.stops.size(); ++i) counts.stops[i] += more.stops[i];
}

}  // namespace

void fibre_collector::add(const batch& fibres, std::span<const std::span<const std::byte>> outputs) {
  constexpr std::size_t piece = 1 << 16;
  const score_rows rows(outputs);
  const std::size_t count = fibres.item_count, pieces = (count + piece - 1) / piece;
  std::vector<std::vector<scored_fibre>> found(pieces);
  const fibre_counts none{std::vector<std::uint64_t>(geodesic::verdicts),
                          std::vector<std::uint64_t>(geodesic::stop_reasons)};
  std::vector<fibre_counts> counts(pieces, none);
#pragma omp parallel for num_threads(threads_) schedule(dynamic, 1)
  for (std::size_t p = 0; p < pieces; ++p)
    found[p] = accepted_rows(rows, fibres.first_item, p * piece, std::min(count, (p + 1) * piece), counts[p]);
  for (const fibre_counts& c : counts) add_counts(c, counts_);
  for (auto& part : found)
    if (!part.empty()) parts_.push_back(std::move(part));
}

std::vector<scored_fibre> fibre_collector::take_accepted() {
  std::sort(parts_.begin(), parts_.end(),
            [](const auto& one, const auto& other) { return one.front().fibre < other.front().fibre; });
  std::size_t count = 0;
  for (const auto& part : parts_) count += part.size();
  std::vector<scored_fibre> all;
  all.reserve(count);
  for (auto& part : parts_) {
    all.insert(all.end(), part.begin(), part.end());
    part = {};
  }
  parts_.clear();
  return all;
}

fibre_counts fibre_collector::count_all(const session& s) const {
  fibre_counts all = counts_;
  for (std::vector<std::uint64_t>* list : {&all.verdicts, &all.stops})
    s.all_reduce(reduction::sum, std::span<std::uint64_t>(*list));
  return all;
}

void log_counts(const fibre_counts& counts) {
  const std::uint64_t fibres = std::accumulate(counts.verdicts.begin(), counts.verdicts.end(), std::uint64_t{0});
  spdlog::info("{}: {}", counted(fibres, "path"), listed(counts.verdicts, verdict_words, 0));
  spdlog::info("rays ended by: {}", listed(counts.stops, stop_words, 1));
}

nlohmann::json counts_as_json(const fibre_counts& counts) {
  nlohmann::json all;
  for (std::size_t i = 0; i < counts.verdicts.size(); ++i) all["paths"][verdict_words[i]] = counts.verdicts[i];
  for (std::size_t i = 1; i < counts.stops.size(); ++i) all["rays_ended_by"][stop_words[i]] = counts.stops[i];
  return all;
}

}  // namespace voxherd
