#include "src/tools/report/scan_reading.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "src/io/input_file.hpp"
#include "src/scan/gradients.hpp"
#include "src/scan/image_checks.hpp"
#include "src/scan/mask.hpp"
#include "src/tools/report/volume_statistics.hpp"

namespace voxherd::report {

namespace {

std::size_t shell_number(const scan& s, std::size_t volume) {
  for (std::size_t i = 0; i < s.shells.size(); ++i)
    if (std::count(s.shells[i].volumes.begin(), s.shells[i].volumes.end(), volume) > 0) return i;
  return 0;
}

/// The mask, or the bright voxels of the first volume without weighting.
std::vector<std::uint64_t> object_voxels(const scan_files& files, const scan& s) {
  if (!files.mask.empty()) return voxels_inside(files.mask, s.header);
  const std::vector<float> volume = read_volume(s.header, s.shells.front().volumes.front());
  const double threshold = bright_threshold(volume);
  std::vector<std::uint64_t> bright;
  for (std::uint64_t v = 0; v < volume.size(); ++v)
    if (static_cast<double>(volume[v]) > threshold) bright.push_back(v);
  if (bright.empty())
    throw failure(exit_status::bad_data,
                  fmt::format("{}: all voxels have the same value; give --mask FILE", printable(s.header.path)));
  return bright;
}

volume_facts look_at(const scan& s, std::span<const float> volume) {
  const auto& n = s.header.grid.size;
  std::vector<double> sum(n[2]);
  std::vector<std::size_t> count(n[2]);
  volume_facts facts;
  for (const std::uint64_t v : s.inside) {
    if (!std::isfinite(volume[v])) continue;
    sum[v / (n[0] * n[1])] += static_cast<double>(volume[v]);
    ++count[v / (n[0] * n[1])];
  }
  const std::size_t min_voxels = std::max<std::size_t>(50, *std::max_element(count.begin(), count.end()) / 10);
  double all = 0, voxels = 0;
  for (std::size_t z = 0; z < n[2]; ++z) {
    all += sum[z], voxels += static_cast<double>(count[z]);
    facts.slice_mean.push_back(count[z] < min_voxels ? std::nan("") : sum[z] / static_cast<double>(count[z]));
  }
  facts.mean = voxels > 0 ? all / voxels : 0;
  facts.noise = estimate_noise(volume, {n[0], n[1], n[2]}, s.inside);
  return facts;
}

void read_volumes(scan& s) {
  const std::size_t voxels = s.header.grid.voxel_count();
  for (std::size_t i = 0; i < s.shells.size(); ++i)
    s.sums.push_back({std::vector<double>(s.inside.size()), std::vector<double>(s.inside.size())});
  nifti_reader reader(s.header);
  std::vector<float> volume(voxels);
  for (std::uint64_t k = 0; k < s.header.volumes; ++k) {
    reader.read(k, 0, voxels, volume.data());
    s.volumes.push_back(look_at(s, volume));
    volume_sums& sums = s.sums[shell_number(s, k)];
    for (std::size_t i = 0; i < s.inside.size(); ++i) {
      const auto value = static_cast<double>(volume[s.inside[i]]);
      sums.sum[i] += value, sums.squares[i] += value * value;
    }
  }
}

}  // namespace

scan read_scan(const scan_files& files) {
  scan s;
  s.header = read_nifti_header(files.image);
  log_warnings(s.header);
  if (!files.bvals.empty()) s.table = read_gradients(files.bvals, files.bvecs, s.header.volumes);
  s.shells = find_shells(s.table);
  if (s.shells.empty()) {
    s.shells.push_back({});
    for (std::size_t k = 0; k < s.header.volumes; ++k) s.shells.front().volumes.push_back(k);
  }
  s.inside = object_voxels(files, s);
  read_volumes(s);
  return s;
}

double shell_noise(const scan& s, std::size_t i) {
  std::vector<double> noise;
  for (const std::size_t k : s.shells[i].volumes) noise.push_back(s.volumes[k].noise);
  return median(std::move(noise));
}

double shell_signal(const scan& s, std::size_t i) {
  std::vector<double> signal;
  const auto n = static_cast<double>(s.shells[i].volumes.size());
  for (const double sum : s.sums[i].sum) signal.push_back(sum / n);
  return median(std::move(signal));
}

std::vector<std::vector<double>> find_slice_ratios(const scan& s) {
  const std::size_t slices = s.header.grid.size[2];
  std::vector<std::vector<double>> ratios(s.volumes.size(), std::vector<double>(slices, std::nan("")));
  for (const shell& one : s.shells)
    for (std::size_t z = 0; z < slices; ++z) {
      std::vector<double> means;
      for (const std::size_t k : one.volumes) means.push_back(s.volumes[k].slice_mean[z]);
      if (std::any_of(means.begin(), means.end(), [](double v) { return !std::isfinite(v); })) continue;
      const double usual = median(means);
      for (std::size_t i = 0; usual > 0 && i < means.size(); ++i) ratios[one.volumes[i]][z] = means[i] / usual;
    }
  return ratios;
}

}  // namespace voxherd::report
