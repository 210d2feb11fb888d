
#include <fmt/core.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string_view>

#include "core/failure.hpp"
#include "kernels/perfusion/models.hpp"
#include "kernels/phantom/phantom_signals.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/analyses/perfusion/model_forms.hpp"
#include "src/io/text_file.hpp"
#include "src/phantom/score.hpp"
#include "src/show/analysis_views.hpp"

namespace voxherd {

namespace {

constexpr const perfusion::model_info& scored_model = perfusion::info_of<liver_model>;

/// The map of a parameter of the model.
const std::vector<float>& parameter_map(const perfusion_field& field, int parameter) {
  const auto& all = scored_quantities();
  const auto found = std::find_if(all.begin(), all.end(), [&](const scored_quantity& q) {
    return q.is_parameter && q.place == static_cast<std::size_t>(parameter);
  });
  return field.value[static_cast<std::size_t>(found - all.begin())];
}

/// For each quantity the map of the flow without which it means nothing: of a delay, that which it delays.
using flow_maps = std::vector<const std::vector<float>*>;
flow_maps find_delayed_flows(const perfusion_field& truth) {
  flow_maps flows;
  for (const scored_quantity& q : scored_quantities()) {
    const bool is_delay = q.is_parameter && scored_model.is_delay(q.place);
    flows.push_back(is_delay ? &parameter_map(truth, liver_model::flow(scored_model.parameters[q.place].input))
                             : nullptr);
  }
  return flows;
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
  std::vector<tally> quantity = std::vector<tally>(scored_quantities().size());

  void add(const perfusion_field& truth, const flow_maps& delayed, const perfusion_field& estimate,
           std::uint64_t voxel) {
    for (std::size_t q = 0; q < quantity.size(); ++q) {
      if (delayed[q] != nullptr && !((*delayed[q])[voxel] >= min_delayed_flow)) continue;
      tally& t = quantity[q];
      const double error = static_cast<double>(estimate.value[q][voxel]) - static_cast<double>(truth.value[q][voxel]);
      t.error.push_back(error);
      const scored_quantity& scored = scored_quantities()[q];
      if (!scored.is_parameter) continue;
      const unsigned bounds = estimate.at_bound.empty() ? 0 : static_cast<unsigned>(estimate.at_bound[voxel]);
      t.at_bound += bounds >> scored.place & 1;
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
    for (std::size_t q = 0; q < quantity.size(); ++q) quantity[q].add(o.quantity[q]);
  }

  region_score score(const std::string& name, const perfusion_field& estimate) {
    region_score s{name, voxels, not_fitted, {}};
    for (std::size_t q = 0; q < quantity.size(); ++q) {
      s.quantity.push_back(quantity[q].score());
      s.quantity[q].has_deviation = !estimate.deviation[q].empty();
      s.quantity[q].has_bound = scored_quantities()[q].is_parameter && !estimate.at_bound.empty();
    }
    return s;
  }
};

}  // namespace

const std::vector<scored_quantity>& scored_quantities() {
  static const std::vector<scored_quantity> all = [] {
    std::vector<scored_quantity> list;
    for (const std::size_t i : perfusion::shown_order(scored_model))
      list.push_back({scored_model.parameters[i].name, scored_model.parameters[i].unit().name, true, i});
    for (std::size_t i = 0; i < scored_model.derived.size(); ++i) {
      const perfusion::derived_value& d = scored_model.derived[i];
      if (d.in_summary) list.push_back({d.name, perfusion::unit_of(d.what).name, false, i});
    }
    return list;
  }();
  return all;
}

std::vector<region_score> score_perfusion(const perfusion_field& truth, const perfusion_field& estimate) {
  const flow_maps delayed = find_delayed_flows(truth);
  std::vector<region_tally> tallies(truth.region_name.size());
  for (const std::uint64_t voxel : truth.voxels) {
    region_tally& region = tallies.at(static_cast<std::size_t>(truth.region[voxel]) - 1);
    ++region.voxels;
    if (std::binary_search(estimate.voxels.begin(), estimate.voxels.end(), voxel))
      region.add(truth, delayed, estimate, voxel);
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

std::string format_row(const scored_quantity& q, const quantity_score& s) {
  const std::string name = fmt::format("{}, {}", q.name, q.unit);
  std::string row = fmt::format("  {:<22} {:>9} ", q.unit[0] == '1' ? q.name : name, s.voxels);
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
    for (std::size_t q = 0; q < r.quantity.size(); ++q) table += format_row(scored_quantities()[q], r.quantity[q]);
  }
  return table + fmt::format("Delays are scored where the true flow they delay is {:g} ml/100g/min or more.\n",
                             min_delayed_flow);
}

nlohmann::ordered_json score_json(const std::vector<region_score>& scores) {
  nlohmann::ordered_json j{{"least_delayed_flow", min_delayed_flow}};
  for (const region_score& r : scores) {
    nlohmann::ordered_json region{{"name", r.name}, {"voxels", r.voxels}, {"not_fitted", r.not_fitted}};
    for (std::size_t q = 0; q < r.quantity.size(); ++q) region[scored_quantities()[q].name] = score_json(r.quantity[q]);
    j["regions"].push_back(region);
  }
  return j;
}

namespace {

const char* deviation_name(const scored_quantity& q) {
  return scored_model.outputs[scored_model.first_sd + q.place].name;
}

/// The rate, by which what is derived is divided: above 0 in every voxel with parameters.
const std::vector<float>& rate_map(const perfusion_field& field) { return parameter_map(field, liver_model::rate); }

/// Computes the derived maps that are missing from the parameters.
void derive(perfusion_field& field) {
  const auto& quantities = scored_quantities();
  const std::vector<float>& rate = rate_map(field);
  std::vector<std::size_t> missing;
  for (std::size_t q = 0; q < quantities.size(); ++q) {
    if (quantities[q].is_parameter || !field.value[q].empty()) continue;
    missing.push_back(q);
    field.value[q].resize(rate.size());
  }
  if (missing.empty()) return;
  for (std::size_t v = 0; v < rate.size(); ++v) {
    if (!(rate[v] > 0)) continue;
    double parameters[liver_model::count] = {}, derived[std::size(liver_model::derived)];
    for (std::size_t q = 0; q < quantities.size(); ++q)
      if (quantities[q].is_parameter) parameters[quantities[q].place] = static_cast<double>(field.value[q][v]);
    liver_model::derive(parameters, derived);
    for (const std::size_t q : missing) field.value[q][v] = static_cast<float>(derived[quantities[q].place]);
  }
}

perfusion_field read_perfusion_folder(const std::string& folder) {
  perfusion_field field;
  for (std::size_t i = 0; i < field.value.size(); ++i) {
    const scored_quantity& q = scored_quantities()[i];
    const auto path = image_named(folder, {q.name});
    if (path) field.value[i] = read_image(*path, 1, field.grid);
    if (!q.is_parameter) continue;
    if (!path) refuse_missing("{0}: contains no map {1}, expected {1}.nii.gz or .nii", folder, q.name);
    if (const auto sd = image_named(folder, {deviation_name(q)})) field.deviation[i] = read_image(*sd, 1, field.grid);
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

bool is_perfusion_truth(const std::string& folder) {
  return image_named(truth_folder(folder), {scored_model.parameters[liver_model::rate].name}).has_value();
}

perfusion_field read_perfusion_truth(const std::string& folder) {
  const std::string truth = truth_folder(folder);
  perfusion_field field = read_perfusion_folder(truth);
  const auto regions = image_named(truth, {"regions"});
  if (!regions) refuse_missing("{}/regions.nii.gz: not found", truth);
  field.region = read_image(*regions, 1, field.grid);
  std::size_t largest = 0;
  for (std::uint64_t v = 0; v < field.region.size(); ++v) {
    const float label = field.region[v];
    if (!(label >= 0 && label < 256 && label == static_cast<float>(static_cast<int>(label))))
      refuse_data("{}: found {}, expected integers from 0 to 255", *regions, label);
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
    const std::vector<float>& rate = rate_map(field);
    for (std::uint64_t v = 0; v < rate.size(); ++v)
      if (rate[v] > 0) field.voxels.push_back(v);
    return field;
  }
  const result_reader result(path);
  if (find_views(result).bids.datatype != std::string_view("perf"))
    refuse_data("{}: is a result of {}, expected one of perfusion because the truth is a liver phantom", path,
                result.analysis_name());
  result.check_batches();
  perfusion_field field;
  field.grid = result.grid();
  for (std::size_t i = 0; i < field.value.size(); ++i) {
    const scored_quantity& q = scored_quantities()[i];
    if (q.is_parameter || result.has(q.name)) field.value[i] = result.read_map(q.name, 1);
    if (q.is_parameter && result.has(deviation_name(q))) field.deviation[i] = result.read_map(deviation_name(q), 1);
  }
  if (result.has("at_bound")) field.at_bound = result.read_map("at_bound", 1);
  derive(field);
  const std::vector<float> status = result.read_map("status", 1);
  for (const std::uint64_t voxel : result.item_voxels())
    if (status[voxel] == 0) field.voxels.push_back(voxel);
  return field;
}

}  // namespace voxherd
