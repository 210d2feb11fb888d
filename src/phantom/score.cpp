#include "src/phantom/score.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <numbers>
#include <numeric>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/io/nifti/companion.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

namespace fs = std::filesystem;

std::optional<std::string> image_named(const std::string& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    for (const char* ending : {".nii.gz", ".nii"})
      if (const std::string path = folder + "/" + name + ending; fs::exists(path)) return path;
  return std::nullopt;
}

/// Throws failure (bad_data) if two images do not have the same voxels in the same order.
void expect_same_order(const std::string& path, const image_grid& found, const image_grid& expected, const char* what) {
  if (found.size != expected.size)
    refuse_data("{}: has {} x {} x {} voxels, expected {} x {} x {} as in {}", path, found.size[0], found.size[1],
                found.size[2], expected.size[0], expected.size[1], expected.size[2], what);
  const auto nearest = find_nearest_order(found, expected);
  if (!nearest || nearest->order.is_as_stored() ||
      apart_in_voxels(reordered(found, nearest->order), expected) >= same_voxel_voxels)
    return;
  refuse_data(
      "{}: is stored in another order ({}) than {} ({}); store it in this order, and the directions along its axes",
      path, axis_codes(found), what, axis_codes(expected));
}

/// Shape: voxels x volumes, volume fastest.
std::vector<float> read_image(const std::string& path, std::uint64_t volumes, image_grid& grid) {
  nifti_reader reader(read_nifti_header(path));
  const nifti_header& h = reader.header();
  if (h.volumes != volumes) refuse_data("{}: field dim[4]: found {} volumes, expected {}", path, h.volumes, volumes);
  if (grid.voxel_count() != 0) expect_same_order(path, h.grid, grid, "the other maps");
  if (grid.voxel_count() == 0) grid = h.grid;
  const std::uint64_t voxels = h.grid.voxel_count();
  std::vector<float> values(voxels * volumes), volume(voxels);
  for (std::uint64_t k = 0; k < volumes; ++k) {
    reader.read(k, 0, voxels, volume.data());
    for (std::uint64_t v = 0; v < voxels; ++v) values[v * volumes + k] = volume[v];
  }
  log_bytes_after(h, reader.check_end());
  return values;
}

std::string truth_folder(const std::string& folder) {
  if (!fs::is_directory(folder))
    refuse_missing("{}: not a folder, expected a folder written by voxherd phantom", folder);
  return fs::is_directory(folder + "/truth") ? folder + "/truth" : folder;
}

namespace {

/// Angle between two lines, from cross and dot product because the arc cosine is inaccurate for small angles.
double degrees_between(const float* a, const float* b) {
  const double x = double(a[1]) * b[2] - double(a[2]) * b[1];
  const double y = double(a[2]) * b[0] - double(a[0]) * b[2];
  const double z = double(a[0]) * b[1] - double(a[1]) * b[0];
  const double dot = double(a[0]) * b[0] + double(a[1]) * b[1] + double(a[2]) * b[2];
  return std::atan2(std::sqrt(x * x + y * y + z * z), std::fabs(dot)) * 180 / std::numbers::pi;
}

std::vector<std::size_t> fibres_at(const fibre_field& field, std::uint64_t voxel) {
  std::vector<std::size_t> here;
  for (std::size_t j = 0; j < field.direction.size(); ++j) {
    const float* v = &field.direction[j][3 * voxel];
    const bool there = v[0] != 0 || v[1] != 0 || v[2] != 0;
    if (there && (field.fraction.empty() || field.fraction[j][voxel] >= min_fraction)) here.push_back(j);
  }
  return here;
}

/// Accumulates the data of one fibre_score.
struct orientation_tally {
  std::uint64_t fibres = 0, missed = 0;
  std::vector<double> degrees;
  double absolute = 0, signed_sum = 0;

  void add(const orientation_tally& o) {
    fibres += o.fibres, missed += o.missed, absolute += o.absolute, signed_sum += o.signed_sum;
    degrees.insert(degrees.end(), o.degrees.begin(), o.degrees.end());
  }

  fibre_score score() {
    fibre_score s;
    s.fibres = fibres, s.missed = missed;
    if (degrees.empty()) return s;
    std::sort(degrees.begin(), degrees.end());
    const auto n = degrees.size();
    const auto count = static_cast<double>(n);
    s.mean_degrees = std::accumulate(degrees.begin(), degrees.end(), 0.0) / count;
    s.median_degrees = n % 2 == 1 ? degrees[n / 2] : (degrees[n / 2 - 1] + degrees[n / 2]) / 2;
    s.percentile95_degrees = degrees[(95 * (n - 1) + 50) / 100];
    s.mean_fraction_error = absolute / count;
    s.fraction_bias = signed_sum / count;
    return s;
  }
};

}  // namespace

std::vector<std::vector<double>> fibre_angles(const fibre_field& a, const std::vector<std::size_t>& of_a,
                                              const fibre_field& b, const std::vector<std::size_t>& of_b,
                                              std::uint64_t voxel) {
  std::vector<std::vector<double>> degrees(of_a.size());
  for (std::size_t i = 0; i < of_a.size(); ++i)
    for (const std::size_t j : of_b)
      degrees[i].push_back(degrees_between(&a.direction[of_a[i]][3 * voxel], &b.direction[j][3 * voxel]));
  return degrees;
}

std::vector<std::size_t> best_fibre_pairing(const std::vector<std::vector<double>>& degrees, std::size_t found) {
  std::vector<std::size_t> order(std::max(degrees.size(), found));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::size_t> best = order;
  double best_sum = INFINITY;
  do {
    double sum = 0;
    for (std::size_t j = 0; j < degrees.size(); ++j) sum += order[j] < found ? degrees[j][order[j]] : 0;
    if (sum < best_sum) best_sum = sum, best = order;
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

orientation_score score_orientations(const fibre_field& truth, const fibre_field& estimate) {
  orientation_score result;
  result.has_fractions = !estimate.fraction.empty();
  std::vector<orientation_tally> tallies(truth.direction.size());
  std::vector<std::uint64_t> both;
  std::set_intersection(truth.voxels.begin(), truth.voxels.end(), estimate.voxels.begin(), estimate.voxels.end(),
                        std::back_inserter(both));
  result.voxels = both.size();
  for (const std::uint64_t voxel : both) {
    const auto real = fibres_at(truth, voxel), found = fibres_at(estimate, voxel);
    const auto degrees = fibre_angles(truth, real, estimate, found, voxel);
    const auto partner = best_fibre_pairing(degrees, found.size());
    for (std::size_t i = 0; i < real.size(); ++i) {
      orientation_tally& t = tallies[real[i]];
      ++t.fibres;
      if (partner[i] >= found.size()) {
        ++t.missed;
        continue;
      }
      t.degrees.push_back(degrees[i][partner[i]]);
      if (!result.has_fractions) continue;
      const double error = double(estimate.fraction[found[partner[i]]][voxel]) - double(truth.fraction[real[i]][voxel]);
      t.absolute += std::fabs(error), t.signed_sum += error;
    }
    // Without fractions every voxel has a direction, so that additional directions are not false fibres.
    if (result.has_fractions && found.size() > real.size()) {
      result.false_fibres += found.size() - real.size();
      ++result.voxels_with_false_fibres;
    }
  }
  orientation_tally all;
  for (orientation_tally& t : tallies) {
    all.add(t);
    result.fibre.push_back(t.score());
  }
  result.all = all.score();
  return result;
}

namespace {

std::string format_row(const std::string& name, const fibre_score& s, bool has_fractions) {
  const std::uint64_t found = s.fibres - s.missed;
  std::string row = fmt::format("{:<6} {:>9} {:>9} ", name, s.fibres, s.missed);
  row += found == 0
             ? fmt::format("{:>9} {:>9} {:>9} ", "-", "-", "-")
             : fmt::format("{:>9.3f} {:>9.3f} {:>9.3f} ", s.mean_degrees, s.median_degrees, s.percentile95_degrees);
  row += found == 0 || !has_fractions ? fmt::format("{:>9} {:>9}", "-", "-")
                                      : fmt::format("{:>9.4f} {:>+9.4f}", s.mean_fraction_error, s.fraction_bias);
  return row + "\n";
}

nlohmann::ordered_json score_json(const fibre_score& s, bool has_fractions) {
  nlohmann::ordered_json j{{"fibres", s.fibres}, {"missed", s.missed}};
  if (s.fibres == s.missed) return j;
  j["mean_degrees"] = s.mean_degrees;
  j["median_degrees"] = s.median_degrees;
  j["percentile95_degrees"] = s.percentile95_degrees;
  if (has_fractions) j["mean_fraction_error"] = s.mean_fraction_error, j["fraction_bias"] = s.fraction_bias;
  return j;
}

}  // namespace

std::string format_table(const orientation_score& score) {
  std::string table = fmt::format("{:<6} {:>9} {:>9} {:>29} {:>19}\n", "fibre", "in truth", "missed",
                                  "angular error, degrees", "fraction error");
  table += fmt::format("{:<6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "", "", "", "mean", "median", "95 %",
                       "mean abs", "bias");
  for (std::size_t j = 0; j < score.fibre.size(); ++j)
    table += format_row(std::to_string(j + 1), score.fibre[j], score.has_fractions);
  table += format_row("all", score.all, score.has_fractions);
  table += fmt::format("{} compared", counted(score.voxels, "voxel"));
  if (score.has_fractions)
    table += fmt::format("; {} false fibres (fraction {:g} or more) in {} of them", score.false_fibres, min_fraction,
                         score.voxels_with_false_fibres);
  return table + "\n";
}

nlohmann::ordered_json score_json(const orientation_score& score) {
  nlohmann::ordered_json j{{"voxels", score.voxels}, {"least_fraction", min_fraction}};
  for (const fibre_score& s : score.fibre) j["fibre"].push_back(score_json(s, score.has_fractions));
  j["all"] = score_json(score.all, score.has_fractions);
  if (score.has_fractions) {
    j["false_fibres"] = score.false_fibres;
    j["voxels_with_false_fibres"] = score.voxels_with_false_fibres;
  }
  return j;
}

namespace {

fibre_field read_orientation_folder(const std::string& folder) {
  fibre_field field;
  for (int j = 1;; ++j) {
    const auto directions = image_named(folder, {fmt::format("dyads{}", j)});
    const auto fractions =
        image_named(folder, {fmt::format("f{}", j), fmt::format("mean_f{}samples", j), fmt::format("mean_f{}", j)});
    if (!directions || !fractions) break;
    field.direction.push_back(read_image(*directions, 3, field.grid));
    field.fraction.push_back(read_image(*fractions, 1, field.grid));
  }
  if (field.direction.empty())
    refuse_missing("{}: contains no fibre maps, expected dyads1.nii.gz and f1.nii.gz (or mean_f1samples.nii.gz)",
                   folder);
  return field;
}

void use_every_voxel(fibre_field& field) {
  field.voxels.resize(field.grid.voxel_count());
  std::iota(field.voxels.begin(), field.voxels.end(), std::uint64_t{0});
}

}  // namespace

fibre_field read_truth(const std::string& folder) {
  const std::string truth = truth_folder(folder);
  fibre_field field = read_orientation_folder(truth);
  const auto S0 = image_named(truth, {"S0"});
  if (!S0) refuse_missing("{}/S0.nii.gz: not found", truth);
  // A phantom of bundles says which voxels have enough white matter.
  const auto chosen = image_named(truth, {"scored"});
  field.fractions_are_volumes = chosen.has_value();
  const auto signal = read_image(chosen ? *chosen : *S0, 1, field.grid);
  for (std::uint64_t v = 0; v < signal.size(); ++v)
    if (signal[v] > 0) field.voxels.push_back(v);
  return field;
}

fibre_field read_estimate(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    fibre_field field = read_orientation_folder(path);
    use_every_voxel(field);
    return field;
  }
  const result_reader result(path);
  result.check_batches();
  fibre_field field;
  field.grid = result.grid();
  field.voxels = result.image_voxels();
  for (int j = 1; result.has(fmt::format("dyads{}", j)) && result.has(fmt::format("mean_f{}", j)); ++j) {
    field.direction.push_back(result.read_map(fmt::format("dyads{}", j), 3));
    field.fraction.push_back(result.read_map(fmt::format("mean_f{}", j), 1));
  }
  if (field.direction.empty() && result.has("V1")) field.direction.push_back(result.read_map("V1", 3));
  if (field.direction.empty())
    refuse_data("{}: is a result of {}, expected one of ballstick (dyads1, mean_f1) or tensor (V1)", path,
                result.analysis_name());
  return field;
}

}  // namespace voxherd
