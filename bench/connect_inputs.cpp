// Writes the inputs of `voxherd connect --connectome` for measuring how it scales over ranks: FOLDER/tensor.nii (in
// MRtrix's order) and FOLDER/labels.nii, of the brain in connect_brain.hpp.
//   connect_inputs FOLDER [REGIONS]     1000 regions by default
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "bench/connect_brain.hpp"
#include "src/io/nifti/nifti_writer.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::bench;

nifti_image brain_image(std::uint64_t volumes) {
  nifti_image image;
  image.grid.size = brain_size;
  image.grid.voxel_to_world = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};  // so that index space is world space
  image.volumes = volumes;
  image.description = "synthetic white matter of voxherd's benchmarks";
  return image;
}

/// Diffusion tensors for which the metric jeong with alpha 3 is the brain's S except for a factor: D = c S^(1/3),
/// mm2/s.
std::vector<float> tensors() {
  constexpr double across = 0.4e-3;
  constexpr std::size_t volume_element[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  const auto& inside = brain_mask();
  std::vector<float> values(6 * inside.size());
  for (std::size_t at = 0; at < inside.size(); ++at) {
    if (!inside[at]) continue;
    const brain_fibre fibre = brain_fibre_at(at);
    const double more = across * (std::cbrt(fibre.ratio) - 1);
    for (std::size_t k = 0; k < 6; ++k) {
      const auto [i, j] = volume_element[k];
      values[k * inside.size() + at] =
          static_cast<float>((i == j ? across : 0) + more * fibre.along[i] * fibre.along[j]);
    }
  }
  return values;
}

void write(const std::filesystem::path& folder, std::size_t regions) {
  std::filesystem::create_directories(folder);
  write_nifti(folder / "tensor.nii", brain_image(6), tensors());
  const std::vector<std::int32_t> label = brain_labels(regions);
  write_nifti(folder / "labels.nii", brain_image(1), std::vector<float>(label.begin(), label.end()));
}

}  // namespace

int main(int argc, char** argv) {
  const int regions = argc > 2 ? std::atoi(argv[2]) : 1000;
  if (argc < 2 || argc > 3 || regions < 1 || regions > 10000) {
    std::cerr << "usage: connect_inputs FOLDER [REGIONS, 1 to 10000]\n";
    return 2;
  }
  try {
    write(argv[1], static_cast<std::size_t>(regions));
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
    return 1;
  }
  return 0;
}
