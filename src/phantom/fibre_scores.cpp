#include "src/phantom/fibre_scores.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numbers>
#include <random>

#include "core/failure.hpp"

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

namespace {

/// The value below which a part `q` of the values lies, interpolated.
double interpolated_percentile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

using vec3 = std::array<double, 3>;

double line_degrees(const vec3& a, const vec3& b) {
  const vec3 cross{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  const double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  return std::atan2(std::hypot(cross[0], cross[1], cross[2]), std::fabs(dot)) * 180 / std::numbers::pi;
}

/// Posterior samples of one fibre in one voxel.
struct fibre_samples {
  std::vector<vec3> direction;
  std::vector<double> fraction;

  /// Principal direction: power iterations of the mean dyadic, from the first sample.
  vec3 mean() const {
    vec3 at = direction.front();
    for (int step = 0; step < 50; ++step) {
      vec3 next{};
      for (const vec3& v : direction) {
        const double dot = v[0] * at[0] + v[1] * at[1] + v[2] * at[2];
        for (std::size_t c = 0; c < 3; ++c) next[c] += dot * v[c];
      }
      const double length = std::hypot(next[0], next[1], next[2]);
      for (std::size_t c = 0; c < 3; ++c) at[c] = next[c] / length;
    }
    return at;
  }

  double cone_degrees(const vec3& mean, double part) const {
    std::vector<double> degrees;
    for (const vec3& v : direction) degrees.push_back(line_degrees(v, mean));
    return interpolated_percentile(std::move(degrees), part);
  }
};

/// Reads the samples of all fibres, some voxels at a time.
class sample_rows {
 public:
  sample_rows(const result_reader& result, std::uint64_t first, std::uint64_t count) {
    for (int j = 1; result.has(fmt::format("th{}", j)) && result.has(fmt::format("ph{}", j)); ++j) {
      polar_.push_back(result.read_items(fmt::format("th{}", j), first, count));
      azimuth_.push_back(result.read_items(fmt::format("ph{}", j), first, count));
      fraction_.push_back(result.read_items(fmt::format("f{}", j), first, count));
    }
    if (!polar_.empty() && count > 0) samples_ = polar_[0].size() / count;
    for (const auto* all : {&polar_, &azimuth_, &fraction_})
      for (const std::vector<float>& one : *all)
        if (one.size() != samples_ * count)
          refuse_data("{}: its fibres have different numbers of samples; is it a complete copy of a voxherd result?",
                      result.path());
  }

  std::size_t fibres() const { return polar_.size(); }

  fibre_samples at(std::size_t fibre, std::uint64_t row) const {
    fibre_samples s;
    for (std::size_t k = row * samples_; k < (row + 1) * samples_; ++k) {
      const double th = polar_[fibre][k], ph = azimuth_[fibre][k];
      s.direction.push_back({std::sin(th) * std::cos(ph), std::sin(th) * std::sin(ph), std::cos(th)});
      s.fraction.push_back(fraction_[fibre][k]);
    }
    return s;
  }

 private:
  std::vector<std::vector<float>> polar_, azimuth_, fraction_;
  std::size_t samples_ = 0;
};

vec3 direction_at(const fibre_field& field, std::size_t fibre, std::uint64_t voxel) {
  const float* v = &field.direction[fibre][3 * voxel];
  return {v[0], v[1], v[2]};
}

void count(coverage_count& c, bool within) { ++c.voxels, c.within += within ? 1 : 0; }

bool within_interval(const std::vector<double>& samples, double truth) {
  return interpolated_percentile(samples, 0.05) <= truth && truth <= interpolated_percentile(samples, 0.95);
}

struct widths {
  std::vector<double> cones, errors;
};

void add_single(calibration_score& score, widths& w, const fibre_field& truth, std::uint64_t voxel,
                const fibre_samples& s) {
  const vec3 mean = s.mean();
  const double error = line_degrees(mean, direction_at(truth, 0, voxel));
  const double cone90 = s.cone_degrees(mean, 0.9);
  count(score.single_cone90, error <= cone90);
  count(score.single_cone50, error <= s.cone_degrees(mean, 0.5));
  count(score.single_fraction, within_interval(s.fraction, truth.fraction[0][voxel]));
  w.cones.push_back(cone90), w.errors.push_back(error);
}

void add_pair(calibration_score& score, const fibre_field& truth, std::uint64_t voxel, const fibre_samples& a,
              const fibre_samples& b) {
  constexpr double min_degrees = 40, found_degrees = 25, min_share = 0.25;
  const vec3 first = direction_at(truth, 0, voxel), second = direction_at(truth, 1, voxel);
  const double share = truth.fraction[0][voxel] / (truth.fraction[0][voxel] + truth.fraction[1][voxel]);
  if (line_degrees(first, second) <= min_degrees || 1 - share <= min_share) return;
  const vec3 mean_a = a.mean(), mean_b = b.mean();
  const bool straight = line_degrees(first, mean_a) + line_degrees(second, mean_b) <=
                        line_degrees(first, mean_b) + line_degrees(second, mean_a);
  const vec3 &of_first = straight ? mean_a : mean_b, &of_second = straight ? mean_b : mean_a;
  const fibre_samples &s1 = straight ? a : b, &s2 = straight ? b : a;
  const double error1 = line_degrees(first, of_first), error2 = line_degrees(second, of_second);
  if (error1 > found_degrees || error2 > found_degrees) return;
  count(score.first_cone90, error1 <= s1.cone_degrees(of_first, 0.9));
  count(score.second_cone90, error2 <= s2.cone_degrees(of_second, 0.9));
  std::vector<double> shares;
  for (std::size_t k = 0; k < s1.fraction.size(); ++k)
    shares.push_back(s1.fraction[k] / std::max(1e-12, s1.fraction[k] + s2.fraction[k]));
  count(score.share, within_interval(shares, share));
}

std::size_t true_fibres(const fibre_field& truth, std::uint64_t voxel) {
  std::size_t n = 0;
  while (n < truth.fraction.size() && truth.fraction[n][voxel] >= min_fraction) ++n;
  return n;
}

/// In phantoms of bundles the fractions are volumes: a voxel with grey matter is not filled by its fibre.
bool is_filled(const fibre_field& truth, std::uint64_t voxel) {
  constexpr float min_filled = 0.95f;
  return !truth.fractions_are_volumes || truth.fraction[0][voxel] >= min_filled;
}

}  // namespace

expected_coverage compute_expected_coverage(std::size_t samples) {
  expected_coverage e;
  const auto n = static_cast<double>(samples);
  // Order statistics of uniform numbers: the kth of n has the mean k / (n + 1).
  e.interval90 = 0.9 * (n - 1) / (n + 1);
  constexpr int trials = 20000;
  std::mt19937_64 draw(1);
  std::normal_distribution<double> normal;
  int within90 = 0, within50 = 0;
  std::vector<std::array<double, 2>> points(samples);
  for (int t = 0; t < trials; ++t) {
    std::array<double, 2> mean{};
    for (auto& p : points)
      for (std::size_t c = 0; c < 2; ++c) p[c] = normal(draw), mean[c] += p[c] / n;
    std::vector<double> distances;
    for (const auto& p : points) distances.push_back(std::hypot(p[0] - mean[0], p[1] - mean[1]));
    const double x = normal(draw), y = normal(draw), truth = std::hypot(x - mean[0], y - mean[1]);
    within90 += truth <= interpolated_percentile(distances, 0.9) ? 1 : 0;
    within50 += truth <= interpolated_percentile(distances, 0.5) ? 1 : 0;
  }
  e.cone90 = static_cast<double>(within90) / trials, e.cone50 = static_cast<double>(within50) / trials;
  return e;
}

std::optional<calibration_score> score_calibration(const fibre_field& truth, const result_reader& result) {
  if (!result.has("th1") || !result.has("f1") || truth.fraction.empty()) return std::nullopt;
  const auto& voxels = result.item_voxels();
  std::vector<bool> scored(truth.grid.voxel_count(), false);
  for (const std::uint64_t v : truth.voxels) scored[v] = true;
  calibration_score score;
  widths w;
  constexpr std::uint64_t block = 16384;
  for (std::uint64_t first = 0; first < voxels.size(); first += block) {
    const std::uint64_t rows = std::min<std::uint64_t>(block, voxels.size() - first);
    const sample_rows all(result, first, rows);
    for (std::uint64_t row = 0; row < rows; ++row) {
      const std::uint64_t voxel = voxels[first + row];
      if (voxel >= scored.size() || !scored[voxel]) continue;
      const std::size_t fibres = true_fibres(truth, voxel);
      const fibre_samples a = all.at(0, row);
      score.samples = a.fraction.size();
      if (fibres == 1 && is_filled(truth, voxel)) add_single(score, w, truth, voxel, a);
      if (fibres == 2 && all.fibres() >= 2) add_pair(score, truth, voxel, a, all.at(1, row));
    }
  }
  if (score.samples < 10) return std::nullopt;
  score.expected = compute_expected_coverage(score.samples);
  if (!w.cones.empty())
    score.median_cone_degrees = interpolated_percentile(w.cones, 0.5),
    score.median_error_degrees = interpolated_percentile(w.errors, 0.5);
  return score;
}

namespace {

struct named_coverage {
  const char* key;
  const char* text;
  const coverage_count& found;
  double expected;
};

std::vector<named_coverage> coverages(const calibration_score& s) {
  return {{"single_cone90", "one fibre: 90 % cone", s.single_cone90, s.expected.cone90},
          {"single_cone50", "one fibre: 50 % cone", s.single_cone50, s.expected.cone50},
          {"single_fraction", "one fibre: 90 % interval of f", s.single_fraction, s.expected.interval90},
          {"first_cone90", "two fibres: 90 % cone of the larger", s.first_cone90, s.expected.cone90},
          {"second_cone90", "two fibres: 90 % cone of the smaller", s.second_cone90, s.expected.cone90},
          {"share", "two fibres: 90 % interval of f1/(f1+f2)", s.share, s.expected.interval90}};
}

double share_of(const coverage_count& c) {
  return c.voxels > 0 ? static_cast<double>(c.within) / static_cast<double>(c.voxels) : 0;
}

}  // namespace

std::string format_table(const calibration_score& score) {
  std::string table =
      fmt::format("\n{:<42} {:>9} {:>12} {:>12}\n", fmt::format("truth within, of {} samples", score.samples), "voxels",
                  "found %", "expected %");
  for (const named_coverage& c : coverages(score))
    if (c.found.voxels > 0)
      table += fmt::format("{:<42} {:>9} {:>12.1f} {:>12.1f}\n", c.text, c.found.voxels, 100 * share_of(c.found),
                           100 * c.expected);
  if (score.single_cone90.voxels > 0)
    table += fmt::format("one fibre: median 90 % cone {:.2f}, median error {:.2f} degrees\n", score.median_cone_degrees,
                         score.median_error_degrees);
  return table;
}

nlohmann::ordered_json score_json(const calibration_score& score) {
  nlohmann::ordered_json j{{"samples", score.samples}};
  for (const named_coverage& c : coverages(score))
    j[c.key] = {{"voxels", c.found.voxels}, {"within", share_of(c.found)}, {"expected", c.expected}};
  j["median_cone_degrees"] = score.median_cone_degrees;
  j["median_error_degrees"] = score.median_error_degrees;
  return j;
}

}  // namespace voxherd
