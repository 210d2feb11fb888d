#include "src/scan/tensor_source.hpp"

#include <spdlog/spdlog.h>
#include <algorithm>
#include <memory>
#include <utility>

#include "core/failure.hpp"
#include "core/plan.hpp"
#include "kernels/portable/voxel_status.hpp"
#include "kernels/tensor/place_tensor.hpp"
#include "kernels/tensor/quartic_estimator.hpp"
#include "kernels/tensor/quartic_fit.hpp"
#include "kernels/tensor/tensor_estimator.hpp"
#include "mpi/run/staged_input.hpp"
#include "mpi/run/study_question.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/dwi.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/mask.hpp"
#include "src/scan/tensor_file.hpp"

namespace voxherd {

std::size_t place_tensors(const image_grid& grid, std::span<const std::uint64_t> voxels, std::span<const float> tensors,
                          std::span<const std::uint8_t> status, tensor_field::tensor_image& image) {
  const matrix3 to_world = bvec_frame(grid);
  double frame[9];
  std::copy(to_world.begin(), to_world.end(), frame);
  std::size_t left = 0;
  for (std::size_t i = 0; i < voxels.size(); ++i) {
    if (place_tensor(frame, tensors.data() + 6 * i, status[i], image.tensor.data() + 6 * voxels[i])) {
      image.inside[voxels[i]] = 1;
    } else {
      ++left;
    }
  }
  return left;
}

namespace {

/// Leaves out the rows of items that are not inside.
void leave_out_rows(const std::vector<std::uint64_t>& voxels, const std::vector<std::uint8_t>& inside,
                    std::size_t width, std::vector<float>& rows) {
  const auto row = static_cast<std::ptrdiff_t>(width);
  auto from = rows.begin(), to = from;
  for (std::size_t i = 0; i < voxels.size(); ++i, from += row) {
    if (inside[voxels[i]] == 0) continue;
    if (from != to) std::copy(from, from + row, to);
    to += row;
  }
  rows.erase(to, rows.end());
}

}  // namespace

kept_signals keep_signals(const session& s, dwi_series& dwi, const std::vector<std::uint8_t>& inside,
                          std::vector<float> rows) {
  constexpr std::uint64_t most = 32768;
  const auto& voxels = dwi.item_voxels();
  const std::size_t width = dwi.floats_per_item();
  kept_signals kept;
  kept.gradients = dwi.gradients();
  kept.gradient_deviation = dwi.has_gradient_deviation();
  for (const std::uint64_t v : voxels)
    if (inside[v] != 0) kept.voxels.push_back(v);
  if (!rows.empty()) {
    leave_out_rows(voxels, inside, width, rows);
    kept.rows = std::move(rows);
    return kept;
  }
  kept.rows.reserve(kept.voxels.size() * width);
  std::vector<float> piece(std::min<std::uint64_t>(most, voxels.size()) * width);
  const auto keep = [&](std::uint64_t first, std::uint64_t last) {
    const batch part{0, first, last - first};
    dwi.load(part, piece);
    for (std::uint64_t i = 0; i < part.item_count; ++i) {
      if (inside[voxels[first + i]] == 0) continue;
      const float* row = piece.data() + i * width;
      kept.rows.insert(kept.rows.end(), row, row + width);
    }
  };
  for_each_stage(s, dwi, voxels.size(), [&](std::uint64_t first, std::uint64_t last) {
    s.agree([&] {
      for (; first < last; first += most) keep(first, std::min(last, first + most));
    });
  });
  return kept;
}

namespace {

constexpr std::uint64_t batch_items = 32768;  // a run's size; enough for a GPU

/// First item of a rank's share; for rank s.size(), the end.
std::uint64_t share_begin(const session& s, std::uint64_t items, int rank) {
  return items * static_cast<std::uint64_t>(rank) / static_cast<std::uint64_t>(s.size());
}

/// This rank's part of the items.
struct item_share {
  std::uint64_t first = 0, count = 0;
};

item_share rank_share(const session& s, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t own = share_begin(s, last - first, s.rank());
  return {first + own, share_begin(s, last - first, s.rank() + 1) - own};
}

/// Fits a share, one batch after another: fit(count, values, layout, first item of the share). A batch that does not
/// fit in device memory is loaded and fitted in pieces. If `kept` is not null, appends the rows to it, which the solver
/// then reads, too.
template <class Solver, class Fit>
void fit_share(dwi_series& dwi, const device& d, const item_share& share, Solver& solver, Fit fit,
               std::vector<float>* kept = nullptr) {
  const std::size_t width = dwi.floats_per_item();
  const input_layout layout = kept != nullptr ? input_layout::rows : preferred_layout(d);
  std::vector<float> values(std::min(batch_items, share.count) * width);
  pieces_that_fit pieces;
  for (std::uint64_t at = 0; at < share.count; at += batch_items) {
    const auto fit_piece = [&](std::uint64_t first, std::uint64_t count) {
      dwi.load({0, share.first + at + first, count}, values, layout);
      fit(count, values.data(), layout, at + first);
      if (kept == nullptr) return;
      kept->insert(kept->end(), values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count * width));
    };
    pieces.run(std::min(batch_items, share.count - at), fit_piece, [&] { solver.release_memory(); });
  }
}

template <class T>
void append(std::vector<T>& all, std::vector<T> more) {
  if (all.empty()) {
    all = std::move(more);
  } else {
    all.insert(all.end(), more.begin(), more.end());
  }
}

/// Fits the shares of all ranks, stage by stage of the input; own(share) fits this rank's.
template <class Own>
fitted_tensors fit_stages(const session& s, dwi_series& dwi, Own own) {
  fitted_tensors all;
  for_each_stage(s, dwi, dwi.item_voxels().size(), [&](std::uint64_t first, std::uint64_t last) {
    fitted_tensors part;
    s.agree([&] { part = own(rank_share(s, first, last)); });
    append(all.tensor, s.all_gather(part.tensor));
    append(all.quartic, s.all_gather(part.quartic));
    append(all.status, s.all_gather(part.status));
  });
  return all;
}

}  // namespace

fitted_tensors fit_tensors(const session& s, dwi_series& dwi, const device& d, bool keep_rows) {
  if (!determines_tensor(dwi.gradients()))
    refuse_data(
        "--bvecs: the gradients do not determine a tensor (it needs b=0 and at least six directions that are not all "
        "in one plane or on one cone); use another series");
  std::unique_ptr<tensor_solver> solver;  // created while a compressed series is inflated
  s.agree([&] {
    use_device(d);
    tensor_settings settings;
    settings.gradient_deviation = dwi.has_gradient_deviation();
    solver = make_voxelwise_solver(d, tensor_estimator(dwi.gradients(), settings));
  });
  std::vector<float> rows;
  keep_rows = keep_rows && s.size() == 1;
  if (keep_rows) rows.reserve(dwi.item_voxels().size() * dwi.floats_per_item());
  fitted_tensors all = fit_stages(s, dwi, [&](const item_share& share) {
    fitted_tensors own{std::vector<float>(6 * share.count), {}, std::vector<std::uint8_t>(share.count), {}};
    const auto fit = [&](std::size_t items, const float* signals, input_layout layout, std::size_t at) {
      tensor_solver::outputs out;
      out.set<"tensor">(own.tensor.data() + 6 * at);
      out.set<"status">(own.status.data() + at);
      solver->fit(items, signals, layout, out);
    };
    fit_share(dwi, d, share, *solver, fit, keep_rows ? &rows : nullptr);
    return own;
  });
  all.rows = std::move(rows);
  return all;
}

fitted_tensors fit_norms(const session& s, dwi_series& dwi, const device& d) {
  if (dwi.has_gradient_deviation()) refuse_usage("--grad-dev: not supported with --form finsler4; leave it out");
  if (!determines_quartic(dwi.gradients(), {}))
    refuse_data(
        "--bvecs: the gradients do not determine a fourth-order norm (it needs b=0 and at least 15 directions of the "
        "largest b); use another series, or --form hamiltonian");
  std::unique_ptr<quartic_solver> solver;
  s.agree([&] {
    use_device(d);
    solver = make_voxelwise_solver(d, quartic_estimator(dwi.gradients(), {}));
  });
  std::vector<float> mixed;
  fitted_tensors all = fit_stages(s, dwi, [&](const item_share& share) {
    fitted_tensors own{std::vector<float>(6 * share.count),
                       std::vector<float>(15 * share.count),
                       std::vector<std::uint8_t>(share.count),
                       {}};
    const std::size_t before = mixed.size();
    mixed.resize(before + share.count);
    fit_share(dwi, d, share, *solver,
              [&](std::size_t items, const float* signals, input_layout layout, std::size_t at) {
                quartic_solver::outputs out;
                out.set<"tensor">(own.tensor.data() + 6 * at);
                out.set<"quartic">(own.quartic.data() + quartic_size * at);
                out.set<"mixed">(mixed.data() + before + at);
                out.set<"status">(own.status.data() + at);
                solver->fit(items, signals, layout, out);
              });
    return own;
  });
  mixed = s.all_gather(mixed);
  const auto repaired = std::count_if(mixed.begin(), mixed.end(), [](float part) { return part > 0; });
  spdlog::info("fourth-order norms: {} of {} voxels were made convex by adding part of their tensor's norm", repaired,
               mixed.size());
  return all;
}

namespace {

bool is_result(const std::string& path) {
  return path.size() > 3 && (path.ends_with(".h5") || path.ends_with(".hdf5"));
}

tensor_origin read_origin(const tensor_source_request& request) {
  if (request.tensor_from) return *request.tensor_from;
  if (is_result(request.tensor)) return tensor_origin::voxherd;
  refuse_usage("--tensor-from is missing: the order and axes of {}, fsl or mrtrix", request.tensor);
}

void check_source(const tensor_source_request& request, const given_options& given) {
  if (request.tensor.empty()) return;
  option::refuse_given(given, "grad-dev", "with --tensor");
  (void)read_origin(request);
}

/// Removes voxels outside the mask. Returns the number of its voxels.
std::size_t apply_mask(const std::string& mask, const std::string& tensor_path, tensor_volume& v) {
  nifti_header place;  // the fields that voxels_inside needs
  place.path = tensor_path;
  place.grid = v.grid;
  place.geometry = v.geometry;
  std::vector<std::uint8_t> kept(v.inside.size(), 0);
  std::size_t count = 0, without = 0;
  for (const std::uint64_t i : voxels_inside(mask, place)) {
    kept[i] = v.inside[i];
    count += kept[i];
    without += kept[i] == 0 ? 1 : 0;
  }
  if (count == 0) refuse_data("{}: none of its voxels has a tensor in {}", mask, tensor_path);
  if (without > 0) spdlog::warn("{}: {} of its voxels have no tensor; left out", mask, without);
  v.inside = std::move(kept);
  return count + without;
}

void place_image(const image_grid& grid, tensor_field::tensor_image& image) {
  const grid_space space(grid);
  image.size = grid.size;
  image.axes_mm = space.axes_mm;
  image.origin_mm = space.origin_mm;
}

/// Tensors of a file, and the provenance of what was read. By one process.
std::pair<tensor_volume, nlohmann::json> read_file(const tensor_source_request& request) {
  const std::string &path = request.tensor, &mask = request.series.mask;
  nlohmann::json provenance;
  // Before a file is read, so that the check at the end of the run finds one that was replaced in between.
  provenance["tensor"] = fingerprint(path);
  tensor_volume v = read_tensor_file(path, read_origin(request));
  if (!mask.empty()) {
    provenance["mask"] = fingerprint(mask);
    provenance["mask"]["voxels"] = apply_mask(mask, path, v);
  }
  if (!v.geometry.is_null()) provenance["image"] = v.geometry;
  return {std::move(v), std::move(provenance)};
}

tensor_source from_file(const session& s, const tensor_source_request& request) {
  auto [v, provenance] = s.from_root([&] { return read_file(request); });
  tensor_source source;
  source.provenance = std::move(provenance);
  source.grid = v.grid;
  place_image(source.grid, source.image);
  source.image.tensor = std::move(v.tensor);
  source.image.inside = std::move(v.inside);
  return source;
}

/// For a question, for which the series's fingerprint is enough: in every voxel the tensor of one fibre, so that no
/// voxel of a region is left out.
fitted_tensors assume_tensors(std::size_t items) {
  constexpr float along_mm2_per_s = 1.7e-3f, across_mm2_per_s = 1e-5f;
  fitted_tensors assumed;
  for (std::size_t i = 0; i < items; ++i)
    assumed.tensor.insert(assumed.tensor.end(), {along_mm2_per_s, 0, 0, across_mm2_per_s, 0, across_mm2_per_s});
  assumed.status.assign(items, static_cast<std::uint8_t>(voxel_status::fitted));
  return assumed;
}

fitted_tensors fit(const session& s, dwi_series& dwi, const device_chooser& choose, tensor_extras wanted) {
  const device d = choose();
  if (is_asked()) return assume_tensors(dwi.item_voxels().size());
  return wanted.quartics ? fit_norms(s, dwi, d) : fit_tensors(s, dwi, d, wanted.signals);
}

tensor_source from_dwi(const session& s, const tensor_source_request& request, std::uint64_t host_memory_bytes,
                       const device_chooser& choose, tensor_extras wanted) {
  dwi_series dwi(s, request.series, host_memory_bytes);
  if (is_asked()) wanted = {};
  fitted_tensors fitted = fit(s, dwi, choose, wanted);
  tensor_source source;
  source.grid = dwi.grid();
  source.provenance = dwi.provenance();
  place_image(source.grid, source.image);
  source.image.tensor.assign(6 * source.grid.voxel_count(), 0);
  source.image.inside.assign(source.grid.voxel_count(), 0);
  const auto& voxels = dwi.item_voxels();
  const std::size_t without = place_tensors(source.grid, voxels, fitted.tensor, fitted.status, source.image);
  if (without == voxels.size())
    refuse_data("{}: no tensor could be fitted in any of {} voxels", request.series.dwi, voxels.size());
  if (without > 0)
    spdlog::warn("{} of {} voxels have no tensor (not fitted, or the trace is not positive); left out", without,
                 voxels.size());
  if (wanted.quartics) {
    source.quartics.assign(15 * source.grid.voxel_count(), 0);
    rotate_quartics(bvec_frame(source.grid), fitted.quartic);
    for (std::size_t i = 0; i < voxels.size(); ++i)
      if (source.image.inside[voxels[i]] != 0)
        std::copy_n(fitted.quartic.data() + 15 * i, 15, source.quartics.data() + 15 * voxels[i]);
  }
  if (wanted.signals) source.signals = keep_signals(s, dwi, source.image.inside, std::move(fitted.rows));
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
                {.text = "order and axes of --tensor",
                 .standard = "voxherd for .h5 files",
                 .stored = always,
                 .needs = "tensor"}}})
          .one_of({"dwi bvals bvecs", "tensor"})
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
