#include "src/scan/mask.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "mpi/run/staged_input.hpp"
#include "src/scan/gradients.hpp"
#include "src/scan/image_checks.hpp"

namespace voxherd {

std::vector<float> read_mask_values(const std::string& mask, const nifti_header& image, mask_rules rules) {
  nifti_header header = read_nifti_header(mask);
  log_warnings(header);
  check_one_volume(header, "a mask", rules);
  bring_to_grid(header, image, rules);
  return read_volume(header);
}

std::vector<std::uint64_t> voxels_inside(const std::string& mask, const nifti_header& image, mask_rules rules) {
  return voxels_above_0(mask, read_mask_values(mask, image, rules), rules);
}

std::vector<std::uint64_t> voxels_above_0(const std::string& mask, const std::vector<float>& values, mask_rules rules) {
  const std::string& name = mask;
  std::vector<std::uint64_t> inside;
  std::uint64_t not_finite = 0;
  for (std::uint64_t v = 0; v < values.size(); ++v) {
    if (!std::isfinite(values[v])) {
      ++not_finite;
    } else if (values[v] > 0) {
      inside.push_back(v);
    }
  }
  if (not_finite > 0) spdlog::warn("{}: {} with nan or infinity; outside the mask", name, counted(not_finite, "voxel"));
  if (inside.empty()) check_empty_mask(mask, values.size(), rules);
  if (inside.size() == values.size())
    spdlog::warn("{}: every voxel is inside the mask; the background is analysed too", name);
  return inside;
}

std::vector<std::uint64_t> voxels_with_b0_signal(const nifti_header& image, const gradient_table& gradients,
                                                 double limit_s_per_mm2) {
  std::vector<double> sum(image.grid.voxel_count());
  std::vector<float> volume(sum.size());
  nifti_reader reader(image);
  std::uint64_t used = 0;
  const auto is_b0 = [&](std::uint64_t k) { return gradients.b_s_per_mm2[k] <= limit_s_per_mm2; };
  std::uint64_t end = image.volumes;
  while (end > 0 && !is_b0(end - 1)) --end;
  for (std::uint64_t k = 0; k < end; ++k) {
    throw_if_stopped();
    if (!is_b0(k)) {
      reader.read_stored(k, 0, 0,
                         nullptr);  // inflates a compressed file up to here: at most a volume between two checks
      continue;
    }
    reader.read(k, 0, volume.size(), volume.data());
    for (std::size_t v = 0; v < sum.size(); ++v) sum[v] += static_cast<double>(volume[v]);
    ++used;
  }
  std::vector<std::uint64_t> inside;
  for (std::uint64_t v = 0; v < sum.size(); ++v) {
    if (sum[v] > 0) inside.push_back(v);
  }
  if (inside.empty()) {
    refuse_data(
        "{}: 0 of {} voxels have a positive mean over the {} volumes with b up to {} s/mm2, expected at least one",
        image.path, sum.size(), used, limit_s_per_mm2);
  }
  spdlog::info("no --mask: {} of {} voxels have a positive mean over the {} volumes with b up to {} s/mm2",
               inside.size(), sum.size(), used, limit_s_per_mm2);
  return inside;
}

}  // namespace voxherd
