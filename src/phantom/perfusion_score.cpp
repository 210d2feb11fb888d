
#include <fmt/core.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string_view>

#include "core/failure.hpp"
#include "kernels/perfusion/settings.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/io/text_file.hpp"
#include "src/phantom/score.hpp"
#include "src/show/analysis_views.hpp"

namespace voxherd {

namespace {

struct quantity_text {
  const char *name, *unit;
  int parameter;  ///< perfusion::dual_parameter, or -1 for none
};

constexpr quantity_text texts[perfusion_quantity_count] = {
    {"ka", "ml/100g/min", perfusion::ka}, {"kp", "ml/100g/min", perfusion::kp}, {"kl", "ml/100g/min", perfusion::kl},
    {"tau_a", "s", perfusion::tau_a},     {"tau_p", "s", perfusion::tau_p},     {"arterial_fraction", "1", -1},
    {"distribution_volume", "1", -1},     {"mean_transit_time", "s", -1}};

bool means_something(const perfusion_field& truth, std::size_t quantity, std::uint64_t voxel) {
  const auto flow = [&](perfusion_quantity q) { return truth.value[static_cast<std::size_t>(q)][voxel]; };
  if (texts[quantity].parameter == perfusion::tau_a) return flow(perfusion_quantity::ka) >= min_delayed_flow;
  if (texts[quantity].parameter == perfusion::tau_p) return flow(perfusion_quantity::kp) >= min_delayed_flow;
  return true;
}

/// `sorted` must be in increasing order.
double percentile(const std::vector<double>& sorted, double percent) {
  const double rank = percent / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const double part = rank - static_cast<double>(below);
  return below + 1 < sorted.size() ? sorted[below] * (1 - part) + sorted[below + 1] * part : sorted[below];
}

/// Accumulates the data of one quantity_score.
struct tally {
  std::vector<double> error;
  coverage all, free;
  std::uint64_t at_bound = 0;

  void add(const tally& o) {
    error.insert(error.end(), o.error.begin(), o.error.end());
    all.voxels += o.all.voxels, all.within += o.all.within;
    free.voxels += o.free.voxels, free.within += o.free.within;
    at_bound += o.at_bound;
  }

  quantity_score score() {
    quantity_score s;
    s.voxels = error.size();
    s.all = all, s.free = free;
    if (error.empty()) return s;
    const auto count = static_cast<double>(error.size());
    s.bias = std::accumulate(error.begin(), error.end(), 0.0) / count;
    std::sort(error.begin(), error.end());
    s.percentile5 = percentile(error, 5), s.percentile95 = percentile(error, 95);
    std::vector<double> size(error.size());
    std::transform(error.begin(), error.end(), size.begin(), [](double e) { return std::fabs(e); });
    std::sort(size.begin(), size.end());
    s.median_absolute = percentile(size, 50);
    s.at_bound = static_cast<double>(at_bound) / count;
    return s;
  }
};

struct region_tally {
  std::uint64_t voxels = 0, not_fitted = 0;
  std::array<tally, perfusion_quantity_count> quantity;

  void add(const perfusion_field& truth, const perfusion_field& estimate, std::uint64_t voxel) {
    for (std::size_t q = 0; q < perfusion_quantity_count; ++q) {
      if (!means_something(truth, q, voxel)) continue;
      tally& t = quantity[q];
      const double error = static_cast<double>(estimate.value[q][voxel]) - static_cast<double>(truth.value[q][voxel]);
      t.error.push_back(error);
      const int parameter = texts[q].parameter;
      if (parameter < 0) continue;
      const unsigned bounds = estimate.at_bound.empty() ? 0 : static_cast<unsigned>(estimate.at_bound[voxel]);
      t.at_bound += bounds >> parameter & 1;
      const double deviation = estimate.deviation[q].empty() ? 0 : static_cast<double>(estimate.deviation[q][voxel]);
      if (!(deviation > 0)) continue;
      for (coverage* c : {&t.all, &t.free}) {
        if (c == &t.free && bounds != 0) continue;
        ++c->voxels;
        c->within += std::fabs(error) <= 2 * deviation ? 1 : 0;
      }
    }
  }

  void add(const region_tally& o) {
    voxels += o.voxels, not_fitted += o.not_fitted;
    for (std::size_t q = 0; q < perfusion_quantity_count; ++q) quantity[q].add(o.quantity[q]);
  }

  region_score score(const std::string& name, const perfusion_field& estimate) {
    region_score s{name, voxels, not_fitted, {}};
    for (std::size_t q = 0; q < perfusion_quantity_count; ++q) {
      s.quantity[q] = quantity[q].score();
      s.quantity[q].has_deviation = q < fitted_quantity_count && !estimate.deviation[q].empty();
      s.quantity[q].has_bound = q < fitted_quantity_count && !estimate.at_bound.empty();
    }
    return s;
  }
};

}  // namespace

const char* quantity_name(perfusion_quantity q) { return texts[static_cast<std::size_t>(q)].name; }
const char* quantity_unit(perfusion_quantity q) { return texts[static_cast<std::size_t>(q)].unit; }

std::vector<region_score> score_perfusion(const perfusion_field& truth, const perfusion_field& estimate) {
  std::vector<region_tally> tallies(truth.region_name.size());
  for (const std::uint64_t voxel : truth.voxels) {
    region_tally& region = tallies.at(static_cast<std::size_t>(truth.region[voxel]) - 1);
    ++region.voxels;
    if (std::binary_search(estimate.voxels.begin(), estimate.voxels.end(), voxel))
      region.add(truth, estimate, voxel);
    else
      ++region.not_fitted;
  }
  std::vector<region_score> scores;
  region_tally all;
  for (std::size_t i = 0; i < tallies.size(); ++i) {
    if (tallies[i].voxels == 0) continue;
    all.add(tallies[i]);
    scores.push_back(tallies[i].score(truth.region_name[i], estimate));
  }
  scores.push_back(all.score("all", estimate));
  return scores;
}

namespace {

std::string format_percent(double share, bool known) {
  return known ? fmt::format("{:>7.1f}%", 100 * share) : "       -";
}

std::string format_row(std::size_t q, const quantity_score& s) {
  const std::string name = fmt::format("{}, {}", texts[q].name, texts[q].unit);
  std::string row = fmt::format("  {:<22} {:>9} ", texts[q].unit[0] == '1' ? texts[q].name : name, s.voxels);
  if (s.voxels == 0) return row + "\n";
  for (const double value : {s.bias, s.median_absolute, s.percentile5, s.percentile95})
    row += fmt::format("{:>9.4g} ", value);
  return row + format_percent(s.all.share(), s.all.voxels > 0) +
         format_percent(s.free.share(), s.has_bound && s.free.voxels > 0) + format_percent(s.at_bound, s.has_bound) +
         "\n";
}

nlohmann::ordered_json score_json(const quantity_score& s) {
  nlohmann::ordered_json j{{"voxels", s.voxels}};
  if (s.voxels == 0) return j;
  j["bias"] = s.bias;
  j["median_absolute_error"] = s.median_absolute;
  j["percentile5_error"] = s.percentile5;
  j["percentile95_error"] = s.percentile95;
  if (s.has_deviation) {
    j["voxels_with_deviation"] = s.all.voxels;
    if (s.all.voxels > 0) j["within_two_deviations"] = s.all.share();
    if (s.has_bound) j["free_voxels_with_deviation"] = s.free.voxels;
    if (s.has_bound && s.free.voxels > 0) j["free_within_two_deviations"] = s.free.share();
  }
  if (s.has_bound) j["at_bound"] = s.at_bound;
  return j;
}

}  // namespace

std::string format_table(const std::vector<region_score>& scores) {
  std::string table = fmt::format("  {:<22} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8}{:>8}{:>8}\n", "error: estimate - truth",
                                  "voxels", "mean", "median ||", "5 %", "95 %", "in 2 sd", "free", "bound");
  for (const region_score& r : scores) {
    table += fmt::format("{}: {} voxels{}\n", r.name, r.voxels,
                         r.not_fitted > 0 ? fmt::format(", {} of them not fitted", r.not_fitted) : "");
    for (std::size_t q = 0; q < perfusion_quantity_count; ++q) table += format_row(q, r.quantity[q]);
  }
  return table + fmt::format("Delays are scored where the true flow they delay is {:g} ml/100g/min or more.\n",
                             min_delayed_flow);
}

nlohmann::ordered_json score_json(const std::vector<region_score>& scores) {
  nlohmann::ordered_json j{{"least_delayed_flow", min_delayed_flow}};
  for (const region_score& r : scores) {
    nlohmann::ordered_json region{{"name", r.name}, {"voxels", r.voxels}, {"not_fitted", r.not_fitted}};
    for (std::size_t q = 0; q < perfusion_quantity_count; ++q) region[texts[q].name] = score_json(r.quantity[q]);
    j["regions"].push_back(region);
  }
  return j;
}

namespace {

std::string name_at(std::size_t q) { return quantity_name(static_cast<perfusion_quantity>(q)); }

/// Computes quantities for which there is no map from the parameters.
void derive(perfusion_field& field) {
  const auto map = [&](perfusion_quantity q) -> std::vector<float>& {
    return field.value[static_cast<std::size_t>(q)];
  };
  const auto fill = [&](perfusion_quantity q, auto value) {
    auto& values = map(q);
    if (!values.empty()) return;
    values.resize(map(perfusion_quantity::kl).size());
    for (std::size_t v = 0; v < values.size(); ++v) {
      const double ka = map(perfusion_quantity::ka)[v], kp = map(perfusion_quantity::kp)[v],
                   kl = map(perfusion_quantity::kl)[v];
      if (kl > 0) values[v] = static_cast<float>(value(ka, kp, kl));
    }
  };
  fill(perfusion_quantity::arterial_fraction,
       [](double ka, double kp, double) { return ka + kp > 0 ? ka / (ka + kp) : 0; });
  fill(perfusion_quantity::distribution_volume, [](double ka, double kp, double kl) { return (ka + kp) / kl; });
  fill(perfusion_quantity::mean_transit_time, [](double, double, double kl) { return perfusion::per_second / kl; });
}

perfusion_field read_perfusion_folder(const std::string& folder) {
  perfusion_field field;
  for (std::size_t q = 0; q < perfusion_quantity_count; ++q) {
    const auto path = image_named(folder, {name_at(q)});
    if (path) field.value[q] = read_image(*path, 1, field.grid);
    if (!path && q < fitted_quantity_count)
      throw failure(exit_status::missing_input,
                    fmt::format("{}: contains no map {}, expected {}.nii.gz or .nii", folder, name_at(q), name_at(q)));
    if (q >= fitted_quantity_count) continue;
    if (const auto sd = image_named(folder, {"sd_" + name_at(q)})) field.deviation[q] = read_image(*sd, 1, field.grid);
  }
  if (const auto path = image_named(folder, {"at_bound"})) field.at_bound = read_image(*path, 1, field.grid);
  derive(field);
  return field;
}

/// Reads one label and name per line, separated by a tab; labels without a name get their number.
std::vector<std::string> region_names(const std::string& path, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= count; ++i) names.push_back(fmt::format("region {}", i));
  if (!std::filesystem::exists(path)) return names;
  for (const std::string& line : read_text_lines(path, "a table of regions")) {
    const auto tab = line.find('\t');
    const auto label = std::strtoull(line.c_str(), nullptr, 10);
    if (tab != std::string::npos && label >= 1 && label <= count) names[label - 1] = line.substr(tab + 1);
  }
  return names;
}

}  // namespace

bool is_perfusion_truth(const std::string& folder) { return image_named(truth_folder(folder), {"kl"}).has_value(); }

perfusion_field read_perfusion_truth(const std::string& folder) {
  const std::string truth = truth_folder(folder);
  perfusion_field field = read_perfusion_folder(truth);
  const auto regions = image_named(truth, {"regions"});
  if (!regions) throw failure(exit_status::missing_input, fmt::format("{}/regions.nii.gz: not found", truth));
  field.region = read_image(*regions, 1, field.grid);
  std::size_t largest = 0;
  for (std::uint64_t v = 0; v < field.region.size(); ++v) {
    const float label = field.region[v];
    if (!(label >= 0 && label < 256 && label == static_cast<float>(static_cast<int>(label))))
      throw failure(exit_status::bad_data,
                    fmt::format("{}: found {}, expected integers from 0 to 255", *regions, label));
    if (label < 1) continue;
    field.voxels.push_back(v);
    largest = std::max(largest, static_cast<std::size_t>(label));
  }
  field.region_name = region_names(truth + "/regions.tsv", largest);
  return field;
}

perfusion_field read_perfusion_estimate(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    perfusion_field field = read_perfusion_folder(path);
    const auto& kl = field.value[static_cast<std::size_t>(perfusion_quantity::kl)];
    for (std::uint64_t v = 0; v < kl.size(); ++v)
      if (kl[v] > 0) field.voxels.push_back(v);
    return field;
  }
  const result_reader result(path);
  if (find_views(result).bids.datatype != std::string_view("perf"))
    throw failure(exit_status::bad_data,
                  fmt::format("{}: is a result of {}, expected one of perfusion because the truth is a liver phantom",
                              path, result.analysis_name()));
  result.check_batches();
  perfusion_field field;
  field.grid = result.grid();
  for (std::size_t q = 0; q < perfusion_quantity_count; ++q) {
    if (result.has(name_at(q)) || q < fitted_quantity_count) field.value[q] = result.read_map(name_at(q), 1);
    if (q < fitted_quantity_count && result.has("sd_" + name_at(q)))
      field.deviation[q] = result.read_map("sd_" + name_at(q), 1);
  }
  if (result.has("at_bound")) field.at_bound = result.read_map("at_bound", 1);
  derive(field);
  const std::vector<float> status = result.read_map("status", 1);
  for (const std::uint64_t voxel : result.item_voxels())
    if (status[voxel] == 0) field.voxels.push_back(voxel);
  return field;
}

}  // namespace voxherd
