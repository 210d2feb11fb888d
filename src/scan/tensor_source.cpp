#include "src/scan/tensor_source.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "kernels/geodesic/finsler_fit.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/dwi.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/mask.hpp"
#include "src/scan/tensor_file.hpp"
#include "src/scan/tensor_shares.hpp"

namespace voxherd {

namespace {

using option::refuse;

bool is_result(const std::string& path) {
  return path.size() > 3 && (path.ends_with(".h5") || path.ends_with(".hdf5"));
}

tensor_origin read_origin(const tensor_source_request& request) {
  if (request.tensor_from) return *request.tensor_from;
  if (is_result(request.tensor)) return tensor_origin::voxherd;
  refuse(fmt::format("--tensor-from is missing: the order and axes of {}, fsl or mrtrix", printable(request.tensor)));
}

/// Either a series or a file, and only options that belong to it.
void check_source(const tensor_source_request& request, const given_options& given) {
  const bool has_series = !request.series.dwi.empty(), has_file = !request.tensor.empty();
  if (!has_file && !has_series) refuse("give --dwi (a diffusion-weighted series) or --tensor (diffusion tensors)");
  if (has_file && has_series) refuse("--dwi and --tensor exclude each other; give one");
  if (has_series) return option::refuse_given(given, "tensor-from", "without --tensor");
  for (const char* name : {"bvals", "bvecs", "grad-dev"}) option::refuse_given(given, name, "with --tensor");
  (void)read_origin(request);
}

/// Removes voxels outside the mask.
void apply_mask(const std::string& mask, const std::string& tensor_path, tensor_volume& v) {
  nifti_header place;  // the fields that voxels_inside needs
  place.path = tensor_path;
  place.grid = v.grid;
  std::vector<std::uint8_t> kept(v.inside.size(), 0);
  std::size_t count = 0, without = 0;
  for (const std::uint64_t i : voxels_inside(mask, place)) {
    kept[i] = v.inside[i];
    count += kept[i];
    without += kept[i] == 0 ? 1 : 0;
  }
  if (count == 0)
    throw failure(exit_status::bad_data,
                  fmt::format("{}: none of its voxels has a tensor in {}", printable(mask), printable(tensor_path)));
  if (without > 0) spdlog::warn("{}: {} of its voxels have no tensor; left out", printable(mask), without);
  v.inside = std::move(kept);
}

void place_image(const image_grid& grid, tensor_field::tensor_image& image) {
  const grid_space space(grid);
  image.size = grid.size;
  image.axes_mm = space.axes_mm;
  image.origin_mm = space.origin_mm;
}

/// Broadcasts rank 0's grid.
void share_grid(const session& s, image_grid& grid) { s.broadcast(grid); }

tensor_source from_file(const session& s, const tensor_source_request& request) {
  const tensor_origin origin = read_origin(request);
  const std::string &path = request.tensor, &mask = request.series.mask;
  tensor_volume v;
  tensor_source source;
  s.on_root([&] {
    // Before a file is read, so that the check at the end of the run finds one that was replaced in between.
    source.provenance["tensor"] = fingerprint(path);
    v = read_tensor_file(path, origin);
    if (!mask.empty()) {
      source.provenance["mask"] = fingerprint(mask);
      apply_mask(mask, path, v);
    }
    if (!v.geometry.is_null()) source.provenance["image"] = v.geometry;
  });
  s.broadcast(source.provenance);
  share_grid(s, v.grid);
  s.broadcast(v.tensor);
  s.broadcast(v.inside);
  source.grid = v.grid;
  place_image(source.grid, source.image);
  source.image.tensor = std::move(v.tensor);
  source.image.inside = std::move(v.inside);
  return source;
}

tensor_source from_dwi(const session& s, const tensor_source_request& request, std::uint64_t host_memory_bytes,
                       const device_chooser& choose, tensor_extras wanted) {
  dwi_series dwi(s, request.series, host_memory_bytes);
  const device d = choose();
  fitted_tensors fitted = wanted.quartics ? fit_norms(s, dwi, d) : fit_tensors(s, dwi, d);
  tensor_source source;
  source.grid = dwi.grid();
  source.provenance = dwi.provenance();
  place_image(source.grid, source.image);
  source.image.tensor.assign(6 * source.grid.voxel_count(), 0);
  source.image.inside.assign(source.grid.voxel_count(), 0);
  const auto& voxels = dwi.item_voxels();
  const std::size_t without = place_tensors(source.grid, voxels, fitted.tensor, fitted.status, source.image);
  if (without == voxels.size())
    throw failure(exit_status::bad_data, fmt::format("{}: no tensor could be fitted in any of {} voxels",
                                                     printable(request.series.dwi), voxels.size()));
  if (without > 0)
    spdlog::warn("{} of {} voxels have no tensor (not fitted, or the trace is not positive); left out", without,
                 voxels.size());
  if (wanted.quartics) {
    source.quartics.assign(15 * source.grid.voxel_count(), 0);
    geodesic::rotate_quartics(bvec_frame(source.grid), fitted.quartic);
    for (std::size_t i = 0; i < voxels.size(); ++i)
      if (source.image.inside[voxels[i]] != 0)
        std::copy_n(fitted.quartic.data() + 15 * i, 15, source.quartics.data() + 15 * voxels[i]);
  }
  if (wanted.signals) source.signals = keep_signals(s, dwi, source.image.inside);
  return source;
}

}  // namespace

const option_table<tensor_source_request>& tensor_source_options() {
  using T = tensor_source_request;
  static const option_table<T> table =
      option_table<T>()
          .include(&T::series, dwi_options())
          .group(
              "Input",
              {{"tensor",
                &T::tensor,
                text_kind::file,
                {"diffusion tensors instead of --dwi: a voxherd result, or a NIfTI image of six volumes"}},
               {"tensor-from",
                &T::tensor_from,
                {{"voxherd", tensor_origin::voxherd}, {"fsl", tensor_origin::fsl}, {"mrtrix", tensor_origin::mrtrix}},
                {.text = "order and axes of --tensor", .standard = "voxherd for .h5 files", .stored = always}}})
          .check(check_source);
  return table;
}

tensor_source read_tensor_source(const session& s, const tensor_source_request& request,
                                 std::uint64_t host_memory_bytes, const device_chooser& choose, tensor_extras wanted) {
  if (request.tensor.empty()) return from_dwi(s, request, host_memory_bytes, choose, wanted);
  tensor_source source = from_file(s, request);
  choose();  // a missing device is reported before more files are read
  return source;
}

}  // namespace voxherd
