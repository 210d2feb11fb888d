#include "src/phantom/detection_score.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace voxherd {

namespace {

std::vector<std::size_t> fibres_above(const fibre_field& field, std::uint64_t voxel, float fraction) {
  std::vector<std::size_t> here;
  for (std::size_t j = 0; j < field.direction.size(); ++j) {
    const float* v = &field.direction[j][3 * voxel];
    if ((v[0] != 0 || v[1] != 0 || v[2] != 0) && field.fraction[j][voxel] >= fraction) here.push_back(j);
  }
  std::stable_sort(here.begin(), here.end(),
                   [&](auto a, auto b) { return field.fraction[a][voxel] > field.fraction[b][voxel]; });
  return here;
}

/// Whether the best pairing of as many fibres has no angle above `max_degrees`.
bool all_found(const fibre_field& truth, const std::vector<std::size_t>& real, const fibre_field& estimate,
               const std::vector<std::size_t>& found, std::uint64_t voxel, double max_degrees) {
  if (real.size() != found.size()) return false;
  const auto degrees = fibre_angles(truth, real, estimate, found, voxel);
  const auto partner = best_fibre_pairing(degrees, found.size());
  for (std::size_t i = 0; i < real.size(); ++i)
    if (degrees[i][partner[i]] > max_degrees) return false;
  return true;
}

std::string percent(std::uint64_t part, std::uint64_t of) {
  return of == 0 ? "-" : fmt::format("{:.1f}", 100 * static_cast<double>(part) / static_cast<double>(of));
}

std::string per_voxel(std::uint64_t part, std::uint64_t of) {
  return of == 0 ? "-" : fmt::format("{:.3f}", static_cast<double>(part) / static_cast<double>(of));
}

std::string format_tally(const std::string& name, const detection_tally& t) {
  return fmt::format("{:<14} {:>9} {:>9} {:>9} {:>9} {:>9}\n", name, t.voxels, percent(t.successes, t.voxels),
                     percent(t.known, t.voxels), per_voxel(t.extra, t.voxels), per_voxel(t.missing, t.voxels));
}

nlohmann::ordered_json tally_json(const detection_tally& t) {
  return {
      {"voxels", t.voxels}, {"successes", t.successes}, {"known", t.known}, {"extra", t.extra}, {"missing", t.missing}};
}

}  // namespace

detection_score score_detection(const fibre_field& truth, const fibre_field& estimate, const detection_rule& rule) {
  detection_score score;
  score.by_number.resize(truth.direction.size());
  std::vector<std::uint64_t> both;
  std::set_intersection(truth.voxels.begin(), truth.voxels.end(), estimate.voxels.begin(), estimate.voxels.end(),
                        std::back_inserter(both));
  for (const std::uint64_t voxel : both) {
    const auto real = fibres_above(truth, voxel, min_fraction);
    if (real.empty()) continue;
    const auto found = fibres_above(estimate, voxel, rule.min_fraction);
    auto strongest = fibres_above(estimate, voxel, 0);
    strongest.resize(std::min(strongest.size(), real.size()));
    detection_tally here;
    here.voxels = 1;
    here.successes = all_found(truth, real, estimate, found, voxel, rule.max_degrees) ? 1 : 0;
    here.known = all_found(truth, real, estimate, strongest, voxel, rule.max_degrees) ? 1 : 0;
    here.extra = found.size() > real.size() ? found.size() - real.size() : 0;
    here.missing = real.size() > found.size() ? real.size() - found.size() : 0;
    const auto add_to = [&](detection_tally& t) {
      t.voxels += here.voxels, t.successes += here.successes, t.known += here.known;
      t.extra += here.extra, t.missing += here.missing;
    };
    add_to(score.all);
    add_to(score.by_number[real.size() - 1]);
    if (real.size() != 2) continue;
    const double angle = fibre_angles(truth, {real[0]}, truth, {real[1]}, voxel)[0][0];
    add_to(score.by_angle[std::min(angle_bins - 1, static_cast<std::size_t>(angle / 10))]);
  }
  return score;
}

std::string format_table(const detection_score& score) {
  std::string table = fmt::format("\n{:<14} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "true fibres", "voxels", "success %",
                                  "known n %", "n+", "n-");
  for (std::size_t i = 0; i < score.by_number.size(); ++i)
    if (score.by_number[i].voxels > 0) table += format_tally(std::to_string(i + 1), score.by_number[i]);
  for (std::size_t i = 0; i < angle_bins; ++i)
    if (score.by_angle[i].voxels > 0)
      table += format_tally(fmt::format("2, {}-{} deg", 10 * i, 10 * (i + 1)), score.by_angle[i]);
  return table + format_tally("all", score.all);
}

nlohmann::ordered_json score_json(const detection_score& score) {
  nlohmann::ordered_json j;
  for (const detection_tally& t : score.by_number) j["by_number"].push_back(tally_json(t));
  for (const detection_tally& t : score.by_angle) j["by_angle"].push_back(tally_json(t));
  j["all"] = tally_json(score.all);
  return j;
}

}  // namespace voxherd
