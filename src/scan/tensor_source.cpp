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

bool given(const arguments& args, const char* option) { return args.has(option); }

[[noreturn]] void misused(const std::string& message) { throw failure(exit_status::usage, message); }

bool is_result(const std::string& path) {
  return path.size() > 3 && (path.ends_with(".h5") || path.ends_with(".hdf5"));
}

tensor_origin read_origin(const arguments& args) {
  const auto& path = args.get<std::string>("tensor");
  if (!given(args, "tensor-from")) {
    if (is_result(path)) return tensor_origin::voxherd;
    misused(fmt::format("--tensor-from is missing: the order and axes of {}, fsl or mrtrix", printable(path)));
  }
  const auto& word = args.get<std::string>("tensor-from");
  if (word == "voxherd") return tensor_origin::voxherd;
  if (word == "fsl") return tensor_origin::fsl;
  if (word == "mrtrix") return tensor_origin::mrtrix;
  misused(fmt::format("--tensor-from {}: expected one of voxherd, fsl, mrtrix", word));
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

void place_image(const image_grid& grid, geodesic::tensor_image& image) {
  const grid_space space(grid);
  image.size = grid.size;
  image.axes_mm = space.axes_mm;
  image.origin_mm = space.origin_mm;
}

/// Broadcasts rank 0's grid.
void share_grid(const session& s, image_grid& grid) {
  s.broadcast(grid);
}

tensor_source from_file(const session& s, const arguments& args) {
  const tensor_origin origin = read_origin(args);
  const auto& path = args.get<std::string>("tensor");
  tensor_volume v;
  tensor_source source;
  s.on_root([&] {
    v = read_tensor_file(path, origin);
    source.provenance["tensor"] = fingerprint(path);
    if (given(args, "mask")) {
      apply_mask(args.get<std::string>("mask"), path, v);
      source.provenance["mask"] = fingerprint(args.get<std::string>("mask"));
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

tensor_source from_dwi(const session& s, const arguments& args, const device& d, tensor_extras wanted) {
  dwi_series dwi(s, args);
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
                                                     printable(args.get<std::string>("dwi")), voxels.size()));
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

void add_tensor_source_options(po::options_description& options) {
  add_dwi_options(options);
  options.add_options()  //
      ("tensor", po::value<std::string>()->value_name("FILE"),
       "diffusion tensors instead of --dwi: a voxherd result, or NIfTI of six volumes")  //
      ("tensor-from", po::value<std::string>()->value_name("KIND"),
       "voxherd | fsl | mrtrix: order and axes of --tensor; for .h5 files voxherd");
}

tensor_input check_tensor_source_options(const arguments& args) {
  if (!given(args, "tensor") && !given(args, "dwi"))
    misused("give --dwi (a diffusion-weighted series) or --tensor (diffusion tensors)");
  if (given(args, "tensor") && given(args, "dwi")) misused("--dwi and --tensor exclude each other; give one");
  if (given(args, "dwi")) {
    if (given(args, "tensor-from")) misused("--tensor-from has no meaning without --tensor; leave it out");
    return tensor_input::dwi;
  }
  for (const char* name : {"bvals", "bvecs", "grad-dev"})
    if (given(args, name)) misused(fmt::format("--{} has no meaning with --tensor; leave it out", name));
  (void)read_origin(args);
  return tensor_input::file;
}

tensor_source read_tensor_source(const session& s, const arguments& args, const device& d, tensor_extras wanted) {
  return check_tensor_source_options(args) == tensor_input::dwi ? from_dwi(s, args, d, wanted) : from_file(s, args);
}

}  // namespace voxherd
