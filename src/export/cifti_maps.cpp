#include "src/export/cifti.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "src/export/matrix_stream.hpp"
#include "src/io/cifti/cifti.hpp"

namespace voxherd {

namespace {

/// The vertices among the seeds, and the row of each in the result's tables.
matrix_places list_vertex_seeds(const result_reader& result, std::vector<std::size_t>& rows) {
  matrix_places places;
  places.files = read_seed_files(result);
  places.grid = result.grid();
  constexpr std::uint64_t max_number = std::uint64_t{1} << 32;
  const std::size_t seeds = result.find_constant("seeds", "roi")->values.size();
  const auto roi = result.constant_indices("seeds", "roi", seeds, max_number),
             place = result.constant_indices("seeds", "place", seeds, max_number);
  for (std::size_t i = 0; i < seeds; ++i) {
    if (roi[i] >= places.files.size() || places.files[roi[i]].vertices == 0) continue;
    if (place[i] >= places.files[roi[i]].vertices)
      refuse_data("{}: /seeds/place[{}] is {}, but {} has {} vertices; is it a complete copy of a voxherd result?",
                  result.path(), i, place[i], places.files[roi[i]].path, places.files[roi[i]].vertices);
    rows.push_back(i);
    places.file.push_back(static_cast<std::uint32_t>(roi[i]));
    places.place.push_back(place[i]);
  }
  if (rows.size() < roi.size())
    spdlog::warn("{}: {} are voxels and are left out; --to nifti writes their maps", result.path(),
                 counted(roi.size() - rows.size(), "seed"));
  return places;
}

/// NAME of each output PREFIXNAME, in their order.
std::vector<std::string> list_names(const result_reader& result, const std::string& prefix,
                                    const std::string& without_end) {
  std::vector<std::string> names;
  for (const output_spec& o : result.outputs())
    if (o.name.starts_with(prefix) && (without_end.empty() || !o.name.ends_with(without_end)))
      names.push_back(o.name.substr(prefix.size()));
  return names;
}

/// A volume between its voxels' centres: trilinear, 0 outside.
class volume_sampler {
 public:
  volume_sampler(const image_grid& points, const image_grid& volume) : map_(points, volume), size_(volume.size) {}

  float sample(const std::vector<float>& values, std::uint64_t point) const {
    const std::array<double, 3> at = map_.position(point);
    double sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
      double weight = 1;
      std::uint64_t index = 0;
      for (std::size_t d = 3; d-- > 0;) {
        const double below = std::floor(at[d]), part = at[d] - below, place = below + (corner >> d & 1);
        weight *= (corner >> d & 1) != 0 ? part : 1 - part;
        if (place < 0 || place >= static_cast<double>(size_[d])) weight = 0;
        index = index * size_[d] + (weight > 0 ? static_cast<std::uint64_t>(place) : 0);
      }
      if (weight > 0) sum += weight * static_cast<double>(values[index]);
    }
    return static_cast<float>(sum);
  }

 private:
  voxel_matcher map_;
  std::array<std::uint64_t, 3> size_;
};

/// Densities of the tracts at the columns' voxels, one row per voxel.
std::vector<float> read_tracts(const result_reader& tracts, const std::vector<std::string>& names, double threshold,
                               const matrix_places& columns) {
  const volume_sampler sampler(columns.grid, tracts.grid());
  std::vector<float> table(columns.size() * names.size());
  for (std::size_t t = 0; t < names.size(); ++t) {
    const std::vector<float> density = tracts.read_map("normalised_" + names[t]);
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (const float value = sampler.sample(density, columns.place[c]); static_cast<double>(value) >= threshold)
        table[c * names.size() + t] = value;
  }
  return table;
}

void divide_by_sum(std::span<float> row) {
  const double sum = std::accumulate(row.begin(), row.end(), 0.0);
  if (sum > 0)
    for (float& v : row) v = static_cast<float>(static_cast<double>(v) / sum);
}

}  // namespace

bool has_vertex_seeds(const result_reader& result) { return result.find_constant("seeds", "roi") != nullptr; }

place_maps read_seed_maps(const result_reader& result, double factor, bool log) {
  place_maps maps;
  std::vector<std::size_t> rows;
  maps.places = list_vertex_seeds(result, rows);
  const std::vector<std::string> targets = list_names(result, "seeds_to_", "_lengths");
  const std::size_t seeds = result.find_constant("seeds", "roi")->values.size();
  const auto find = [&](const char* name, std::size_t columns) {
    return result.find_constant("seeds", name) == nullptr ? nullptr
                                                          : &result.constant_values("seeds", name, seeds * columns);
  };
  const std::vector<double>& accepted = result.constant_values("seeds", "accepted", seeds);
  const std::vector<double>*hits = find("hits", targets.size()), *lengths = find("mean_length_mm", targets.size());
  const auto value = [&](double v) {
    return static_cast<float>(log ? std::log1p(v * factor) / std::numbers::ln10 : v * factor);
  };
  maps.names = {"accepted"};
  if (hits != nullptr)
    for (const std::string& t : targets) maps.names.push_back("seeds_to_" + t);
  if (lengths != nullptr)
    for (const std::string& t : targets) maps.names.push_back("seeds_to_" + t + "_lengths");
  for (const std::size_t row : rows) {
    maps.values.push_back(value(accepted[row]));
    for (std::size_t t = 0; hits != nullptr && t < targets.size(); ++t)
      maps.values.push_back(value((*hits)[row * targets.size() + t]));
    for (std::size_t t = 0; lengths != nullptr && t < targets.size(); ++t)
      maps.values.push_back(static_cast<float>((*lengths)[row * targets.size() + t]));
  }
  return maps;
}

place_maps make_blueprint(const result_reader& matrix, const std::string& path, double threshold,
                          matrix_quantity quantity) {
  if (fsl_matrix_number(matrix) != 2) refuse_data("{}: --blueprint needs a result of track --matrix2", matrix.path());
  const result_reader tracts(path);
  tracts.check_batches();
  place_maps maps;
  maps.names = list_names(tracts, "normalised_", "");
  if (maps.names.empty())
    refuse_data("{}: has no normalised densities of tracts, expected a result of track --tracts", path);
  maps.places = read_row_places(matrix);
  const std::vector<float> table = read_tracts(tracts, maps.names, threshold, read_column_places(matrix));
  if (std::all_of(table.begin(), table.end(), [](float v) { return v == 0; }))
    refuse_data("{}: no tract reaches the voxels of --target2; are both results in the same space?", path);
  maps.values.reserve(maps.places.size() * maps.names.size());
  multiply_rows(matrix, quantity, table, maps.names.size(), [&](std::span<float> row) {
    divide_by_sum(row);
    maps.values.insert(maps.values.end(), row.begin(), row.end());
  });
  return maps;
}

}  // namespace voxherd
