#include "src/scan/dwi_contents.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <numeric>

#include "core/failure.hpp"
#include "core/threads.hpp"
#include "mpi/run/study_question.hpp"
#include "src/io/fingerprint.hpp"
#include "src/scan/gradients.hpp"
#include "src/scan/image_checks.hpp"
#include "src/scan/mask.hpp"

namespace voxherd {

namespace {

void require(const std::string& path, const char* option, const char* what) {
  if (path.empty()) refuse_usage("--{} is missing, expected {}", option, what);
}

b0_rule make_b0_rule(const dwi_request& request) {
  return {request.max_b0_s_per_mm2.value_or(max_b0_s_per_mm2), request.needs_b0};
}

void read_directions(const dwi_request& request, const nifti_header& image, dwi_contents& c) {
  const gradient_files files{request.bvals, request.bvecs, request.frame};
  c.frame = find_frame(files);
  c.gradients = read_gradients(files, image.grid, image.volumes, make_b0_rule(request));
  if (c.frame == direction_frame::fsl) return;
  c.provenance["bvecs"]["form"] = frame_form(c.frame);
  spdlog::info("{}: the directions are read along {}", request.bvecs, frame_name(c.frame));
}

nifti_header read_deviation_header(const dwi_request& request, const nifti_header& image) {
  nifti_header deviation = read_nifti_header(request.gradient_deviation);
  log_warnings(deviation);
  if (deviation.volumes != deviation_volumes)
    refuse_data("{}: dim[4] is {}, expected {}: a 3 x 3 tensor for each voxel", deviation.path, deviation.volumes,
                deviation_volumes);
  bring_to_grid(deviation, image, request.masks);
  return deviation;
}

nlohmann::json describe_mask(const dwi_request& request) {
  if (!request.mask.empty()) return fingerprint(request.mask);
  return {{"rule", fmt::format("positive mean over b <= {} s/mm2", make_b0_rule(request).max_s_per_mm2)}};
}

std::vector<std::uint64_t> find_voxels(const dwi_request& request, const nifti_header& image,
                                       const gradient_table& gradients) {
  if (!request.mask.empty()) return voxels_inside(request.mask, image, request.masks);
  // For a question the series's fingerprint is enough; but the form of the deviation is that of these voxels.
  if (!is_asked() || !request.gradient_deviation.empty())
    return voxels_with_b0_signal(image, gradients, make_b0_rule(request).max_s_per_mm2);
  std::vector<std::uint64_t> all(image.grid.voxel_count());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void keep_part(const dwi_request& request, dwi_contents& c) {
  const std::uint64_t begin = part_begin(c.voxels.size(), request.part, request.parts),
                      end = part_begin(c.voxels.size(), request.part + 1, request.parts);
  if (begin == end && request.masks == mask_rules::own)
    refuse_usage("{}: {} voxels cannot be divided into {} parts; ask for fewer parts", request.mask, c.voxels.size(),
                 request.parts);
  c.provenance["mask"]["part"] = {{"first_voxel", begin}, {"voxels", end - begin}};
  c.voxels = std::vector(c.voxels.begin() + static_cast<std::ptrdiff_t>(begin),
                         c.voxels.begin() + static_cast<std::ptrdiff_t>(end));
}

}  // namespace

dwi_contents read_dwi_contents(const dwi_request& request, dwi_headers& headers) {
  require(request.dwi, "dwi", "a diffusion-weighted NIfTI image");
  require(request.bvals, "bvals", "a file of b-values");
  require(request.bvecs, "bvecs", "a file of gradient directions");
  dwi_contents c;
  nifti_header& image = headers.image;
  image = read_nifti_header(request.dwi);
  auto series = start_task("reads the series for its checksum", [&] { return fingerprint(request.dwi); });
  log_warnings(image);
  if (image.volumes < 2)
    refuse_data("{}: dim[4] is {}, expected a series of at least 2 volumes", request.dwi, image.volumes);
  c.provenance["bvals"] = fingerprint(request.bvals);
  c.provenance["bvecs"] = fingerprint(request.bvecs);
  read_directions(request, image, c);
  const bool has_deviation = !request.gradient_deviation.empty();
  if (has_deviation) {
    c.provenance["grad_dev"] = fingerprint(request.gradient_deviation);
    headers.deviation = read_deviation_header(request, image);
  }
  c.provenance["mask"] = describe_mask(request);
  c.voxels = find_voxels(request, image, c.gradients);
  if (has_deviation && !c.voxels.empty()) {
    c.form = find_deviation_form(headers.deviation, c.voxels);
    c.provenance["grad_dev"]["form"] = deviation_form_name(c.form);
  }
  c.provenance["mask"]["voxels"] = c.voxels.size();
  if (request.parts > 1) keep_part(request, c);
  c.provenance["dwi"] = series.get();
  c.provenance["image"] = image.geometry;
  return c;
}

}  // namespace voxherd
