#include "src/scan/tensor_file.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <algorithm>
#include <array>
#include <cmath>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/image_checks.hpp"

namespace voxherd {

namespace {

constexpr float fibre_diffusivity_mm2_per_s = 1.7e-3f;
constexpr float isotropic_share = 0.1f;  ///< of it, added in all directions

/// Adds the share of fibre k, f v v^T and f, summed over samples, of `sums.size()` items from `first` on.
void add_dyads(const result_reader& result, int k, std::uint64_t first, std::vector<std::array<float, 7>>& sums) {
  const auto read = [&](const char* name) {
    return result.read_items(fmt::format("{}{}", name, k), first, sums.size());
  };
  const std::vector<float> f = read("f"), polar = read("th"), azimuth = read("ph");
  if (f.size() != polar.size() || f.size() != azimuth.size())
    refuse_data("{}: f{} and its angles have different shapes; is it a complete copy of a voxherd result?",
                result.path(), k);
  const std::size_t samples = f.size() / sums.size();
#pragma omp parallel for
  for (std::size_t i = 0; i < sums.size(); ++i)
    for (std::size_t at = i * samples; at < (i + 1) * samples; ++at) {
      const float across = std::sin(polar[at]);
      const float x = across * std::cos(azimuth[at]), y = across * std::sin(azimuth[at]), z = std::cos(polar[at]);
      const float terms[7] = {x * x, x * y, x * z, y * y, y * z, z * z, 1};
      for (std::size_t n = 0; n < 7; ++n) sums[i][n] += f[at] * terms[n];
    }
}

/// Tensors that are long along the fibres of a result of `voxherd ballstick`: its samples' mean of v v^T, weighted with
/// f. Where the directions are uncertain, they are round. Returns a map as `tensor` of `voxherd tensor`.
std::vector<float> tensors_of_fibres(const result_reader& result) {
  constexpr std::uint64_t items_at_once = 16384;
  const auto& voxels = result.image_voxels();
  std::vector<float> tensors(6 * result.grid().voxel_count(), 0.0f);
  for (std::uint64_t first = 0; first < voxels.size(); first += items_at_once) {
    std::vector<std::array<float, 7>> sums(std::min(items_at_once, voxels.size() - first));
    for (int k = 1; result.has(fmt::format("th{}", k)); ++k) add_dyads(result, k, first, sums);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (!(sums[i][6] > 0)) continue;  // not fitted
      float* d = tensors.data() + 6 * voxels[first + i];
      for (std::size_t n = 0; n < 6; ++n) d[n] = fibre_diffusivity_mm2_per_s * sums[i][n] / sums[i][6];
      for (const std::size_t diagonal : {0u, 3u, 5u}) d[diagonal] += isotropic_share * fibre_diffusivity_mm2_per_s;
    }
  }
  return tensors;
}

tensor_volume from_result(const std::string& path) {
  const result_reader result(path);
  if (!result.complete()) refuse_data("{}: is an incomplete result; complete it with --resume first", path);
  result.check_batches();
  tensor_volume v;
  v.grid = result.grid();
  const auto& inputs = result.provenance().value("inputs", nlohmann::json::object());
  v.geometry = inputs.value("image", nlohmann::json());
  if (result.has("th1")) {
    spdlog::info("{}: makes tensors of its fibres: {:.2g} mm2/s along a certain fibre, {:.2g} across", path,
                 (1 + isotropic_share) * fibre_diffusivity_mm2_per_s, isotropic_share * fibre_diffusivity_mm2_per_s);
    v.tensor = tensors_of_fibres(result);
    return v;
  }
  v.tensor = result.read_map("tensor", 6);
  return v;
}

/// Index of xx, xy, xz, yy, yz, zz among the volumes.
constexpr std::size_t fsl_elements[6] = {0, 1, 2, 3, 4, 5};
constexpr std::size_t mrtrix_elements[6] = {0, 3, 4, 1, 5, 2};

tensor_volume from_nifti(const std::string& path, const std::size_t (&order)[6]) {
  const nifti_header header = read_nifti_header(path);
  log_warnings(header);
  if (header.volumes != 6) refuse_data("{}: dim[4] is {}, expected 6: the elements of a tensor", path, header.volumes);
  tensor_volume v;
  v.grid = header.grid;
  v.geometry = header.geometry;
  const std::size_t voxels = header.grid.voxel_count();
  v.tensor.resize(6 * voxels);
  std::vector<float> volume(voxels);
  nifti_reader reader(header);
  for (std::size_t k = 0; k < 6; ++k) {  // increasing order, required for .nii.gz
    reader.read(k, 0, voxels, volume.data());
    const auto element = static_cast<std::size_t>(std::find(order, order + 6, k) - order);
#pragma omp parallel for
    for (std::size_t i = 0; i < voxels; ++i) v.tensor[6 * i + element] = volume[i];
  }
  log_bytes_after(header, reader.check_end());
  return v;
}

/// Marks the voxels with a valid tensor and zeroes the others.
void examine(tensor_volume& v, const std::string& name) {
  const std::size_t voxels = v.grid.voxel_count();
  v.inside.assign(voxels, 0);
  std::size_t good = 0, strange = 0;
#pragma omp parallel for reduction(+ : good, strange)
  for (std::size_t i = 0; i < voxels; ++i) {
    float* d = v.tensor.data() + 6 * i;
    const bool finite = std::all_of(d, d + 6, [](float x) { return std::isfinite(x); });
    const bool zero = finite && std::all_of(d, d + 6, [](float x) { return x == 0; });
    v.inside[i] = finite && d[0] + d[3] + d[5] > 0 ? 1 : 0;
    good += v.inside[i];
    strange += v.inside[i] == 0 && !zero ? 1 : 0;
    if (v.inside[i] == 0) std::fill(d, d + 6, 0.0f);
  }
  if (strange > 0)
    spdlog::warn("{}: {} without a valid tensor (not finite, or the trace is not positive); outside", name,
                 counted(strange, "voxel"));
  if (good == 0)
    refuse_data("{}: 0 of {} voxels have a tensor with a positive trace, expected at least one", name, voxels);
}

}  // namespace

tensor_volume read_tensor_file(const std::string& path, tensor_origin origin) {
  tensor_volume v = origin == tensor_origin::voxherd ? from_result(path)
                    : origin == tensor_origin::fsl   ? from_nifti(path, fsl_elements)
                                                     : from_nifti(path, mrtrix_elements);
  examine(v, path);
  if (origin == tensor_origin::mrtrix) return v;
  const matrix3 frame = bvec_frame(v.grid);
#pragma omp parallel for
  for (std::size_t i = 0; i < v.inside.size(); ++i)
    if (v.inside[i] != 0) rotate_tensor(frame, v.tensor.data() + 6 * i);
  return v;
}

void warn_repaired(std::uint64_t repaired, const tensor_field::tensor_image& image, double min_eigenvalue,
                   const char* option) {
  if (repaired == 0) return;
  const auto inside =
      image.inside.size() - static_cast<std::size_t>(std::count(image.inside.begin(), image.inside.end(), 0));
  spdlog::warn(
      "{} of {} voxels have a tensor with an eigenvalue of 0 or less; eigenvalues below {:.3g} of the largest one are "
      "raised to that ({}), and a tensor without any above 0 is replaced by its neighbours' mean",
      repaired, inside, min_eigenvalue, option);
}

}  // namespace voxherd
