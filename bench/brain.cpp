#include "bench/brain.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <random>
#include <string>

#include "bench/program.hpp"
#include "src/analyses/geodesic/seeding.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/label_image.hpp"
#include "src/scan/tensor_file.hpp"

namespace voxherd::bench {

namespace {

std::filesystem::path folder() {
  const char* data = std::getenv("VOXHERD_DATA");
  if (data == nullptr || *data == '\0')
    throw no_data("no data: VOXHERD_DATA is not set; set it to the folder that contains philips_32dir_b1000");
  return std::filesystem::path(data) / "philips_32dir_b1000" / "ref_mrtrix3";
}

std::string present(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) throw no_data(fmt::format("no data: {} does not exist", file.string()));
  return file.string();
}

brain read_brain() {
  const std::string tensors = present(folder() / "dt_wls_iter2.nii.gz"),
                    mask = present(folder() / "wm_mask_fa025.nii.gz");
  tensor_volume v = read_tensor_file(tensors, tensor_origin::mrtrix);
  const grid_space space(v.grid);
  brain b{{v.grid.size, space.axes_mm, space.origin_mm, std::move(v.tensor), std::move(v.inside)}, {}};
  b.white_matter = read_labels(mask, v.grid, label_kind::mask).voxels_with({});
  return b;
}

/// Its first index is from left to right.
std::vector<std::uint64_t> callosum_voxels(const brain& of) {
  const std::uint64_t nx = of.image.size[0];
  std::uint64_t sum = 0;
  for (const std::uint64_t v : of.white_matter) sum += v % nx;
  const std::uint64_t middle = sum / of.white_matter.size();
  std::vector<std::uint64_t> chosen;
  for (const std::uint64_t v : of.white_matter) {
    const float* d = &of.image.tensor[6 * v];
    if (v % nx + 1 >= middle && v % nx <= middle + 1 && d[0] > 3 * d[3] && d[0] > 3 * d[5]) chosen.push_back(v);
  }
  return chosen;
}

}  // namespace

const brain& philips_brain() {
  static const brain b = read_brain();
  return b;
}

std::vector<geodesic::seed> seeds_in_white_matter(const brain& of, std::size_t count) {
  seeding_settings how;
  how.kind = seeding_kind::random;
  how.per_voxel = static_cast<std::uint32_t>(1 + (count - 1) / of.white_matter.size());
  const std::size_t voxels = (count + how.per_voxel - 1) / how.per_voxel;
  std::vector<std::uint64_t> chosen;
  std::mt19937_64 random(1);
  std::sample(of.white_matter.begin(), of.white_matter.end(), std::back_inserter(chosen), voxels, random);
  std::vector<geodesic::seed> seeds = seeds_in_voxels(chosen, of.image, how).seeds;
  if (seeds.size() < count)
    throw std::runtime_error(fmt::format("the white matter mask has only {} voxels for {} seeds", seeds.size(), count));
  seeds.resize(count);
  return seeds;
}

std::vector<geodesic::seed> seeds_in_callosum(const brain& of, std::size_t count) {
  const auto chosen = callosum_voxels(of);
  if (chosen.empty()) throw std::runtime_error("the brain has no voxels in the corpus callosum");
  seeding_settings how;
  how.kind = seeding_kind::random;
  how.per_voxel = static_cast<std::uint32_t>(1 + (count - 1) / chosen.size());
  std::vector<geodesic::seed> seeds = seeds_in_voxels(chosen, of.image, how).seeds;
  seeds.resize(count);
  return seeds;
}

}  // namespace voxherd::bench
