#include "src/scan/dwi.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <future>
#include <numeric>
#include <utility>

#include "core/threads.hpp"
#include "mpi/run/staged_input.hpp"
#include "mpi/run/study_question.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/direction_check.hpp"
#include "src/scan/gradient_deviation.hpp"
#include "src/scan/gradients.hpp"
#include "src/scan/image_checks.hpp"
#include "src/scan/mask.hpp"
#include "src/scan/node_resources.hpp"
#include "src/scan/voxel_rows.hpp"

namespace voxherd {

namespace {

void require(const std::string& path, const char* option, const char* what) {
  if (path.empty()) throw failure(exit_status::usage, fmt::format("--{} is missing, expected {}", option, what));
}

}  // namespace

const option_table<dwi_request>& dwi_options() {
  using T = dwi_request;
  static const option_table<T> table = option_table<T>().group(
      "Input",
      {{"dwi",
        &T::dwi,
        text_kind::file,
        {.text = "diffusion-weighted series, NIfTI (.nii or .nii.gz)", .required = true}},
       {"bvals",
        &T::bvals,
        text_kind::file,
        {.text = "b-values in s/mm2, one per volume (FSL layout), or MRtrix's table x y z b", .required = true}},
       {"bvecs",
        &T::bvecs,
        text_kind::file,
        {.text = "gradient directions, 3xN or Nx3 (FSL layout), or MRtrix's table x y z b", .required = true}},
       {"bvecs-frame",
        &T::frame,
        {{"fsl", direction_frame::fsl}, {"image", direction_frame::image}, {"world", direction_frame::world}},
        {.text = "axes of the directions in --bvecs: FSL's, those of the image (DIPY, QSIPrep), or of the world "
                 "(MRtrix)",
         .standard = "fsl; of MRtrix's table world",
         .stored = always}},
       {"mask",
        &T::mask,
        text_kind::file,
        {"mask of the voxels to process; without it, those with a positive b=0 mean"}},
       {"b0-threshold",
        &T::max_b0_s_per_mm2,
        range{0, 1000},
        {.text = "largest b-value of a volume that counts as b=0",
         .unit = "s/mm2",
         .standard = "50",
         .stored = always,
         .paper = true}},
       {"grad-dev",
        &T::gradient_deviation,
        text_kind::file,
        {"deviation of the gradients, 9 volumes (HCP's grad_dev, QSIPrep's graddev)"}}});
  return table;
}

struct dwi_series::state {
  static constexpr std::uint64_t no_item = ~std::uint64_t{0};

  struct item_range {
    std::uint64_t first = 0, last = 0;
    bool has(std::uint64_t item) const { return item >= first && item < last; }
  };

  state(const session& s, const dwi_request& request, std::uint64_t host_memory_bytes)
      : dwi_path(request.dwi),
        bvals_path(request.bvals),
        bvecs_path(request.bvecs),
        mask_path(request.mask),
        deviation_path(request.gradient_deviation),
        given_frame(request.frame),
        b0{request.max_b0_s_per_mm2.value_or(max_b0_s_per_mm2), request.needs_b0},
        part(request.part),
        parts(request.parts),
        masks(request.masks) {
    require(dwi_path, "dwi", "a diffusion-weighted NIfTI image");
    require(bvals_path, "bvals", "a file of b-values");
    require(bvecs_path, "bvecs", "a file of gradient directions");
    is_root = s.is_root();
    s.on_root([&] { check(); });
    share(s);
    if (voxels.empty() || is_asked()) return;  // nothing will be loaded
    std::vector<std::vector<nifti_header>> series{{image}};
    if (!deviation_path.empty()) series.push_back({deviation});
    // Nodes may have different limits, but all ranks read the same stages.
    const std::uint64_t max_items =
        s.all_reduce(reduction::min, items_within(host_memory_bytes, series, voxels.size()));
    stages[1] = {0, std::min<std::uint64_t>(max_items, voxels.size())};
    signals = start_rows(s, series.front(), voxels, max_items);
    input.add(*signals);
    if (deviation_path.empty()) return;
    deviations = start_rows(s, series.back(), voxels, max_items);
    input.add(*deviations);
  }

  /// Checks all inputs on rank 0, except the compressed data themselves. Fingerprints are taken before a file is read,
  /// so that the check at the end of the run finds a file that was replaced in between.
  void check() {
    image = read_nifti_header(dwi_path);
    auto series = start_task("reads the series for its checksum", [this] { return fingerprint(dwi_path); });
    log_warnings(image);
    if (image.volumes < 2) {
      throw failure(exit_status::bad_data, fmt::format("{}: dim[4] is {}, expected a series of at least 2 volumes",
                                                       printable(dwi_path), image.volumes));
    }
    provenance["bvals"] = fingerprint(bvals_path);
    provenance["bvecs"] = fingerprint(bvecs_path);
    read_directions();
    if (!deviation_path.empty()) check_deviation();
    describe_mask();
    voxels = find_voxels();
    if (!deviation_path.empty() && !voxels.empty()) {
      form = find_deviation_form(deviation, voxels);
      provenance["grad_dev"]["form"] = deviation_form_name(form);
    }
    provenance["mask"]["voxels"] = voxels.size();
    if (parts > 1) keep_part();
    provenance["dwi"] = series.get();
    provenance["image"] = image.geometry;
  }

  std::vector<std::uint64_t> find_voxels() {
    if (!mask_path.empty()) return voxels_inside(mask_path, image, masks);
    // For a question the series's fingerprint is enough; but the form of the deviation is that of these voxels.
    if (!is_asked() || !deviation_path.empty()) return voxels_with_b0_signal(image, gradients, b0.max_s_per_mm2);
    std::vector<std::uint64_t> all(image.grid.voxel_count());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  void read_directions() {
    const gradient_files files{bvals_path, bvecs_path, given_frame};
    frame = find_frame(files);
    gradients = read_gradients(files, image.grid, image.volumes, b0);
    if (frame == direction_frame::fsl) return;
    provenance["bvecs"]["form"] = frame_form(frame);
    spdlog::info("{}: the directions are read along {}", printable(bvecs_path), frame_name(frame));
  }

  /// Warns on rank 0 if flipped or swapped directions or another frame fit the signals of the stage clearly better,
  /// once. It is only advice, so that whatever prevents it prevents nothing else.
  void check_directions(std::uint64_t item) {
    if (!is_root || !tries_directions) return;
    const item_range& stage = stages[1].has(item) ? stages[1] : stages[0];
    if (stage.has(last_tried)) return;
    last_tried = item;
    try {
      const std::uint64_t first = stage.first;
      direction_check check(image.grid, gradients, frame,
                            std::span<const std::uint64_t>(voxels).subspan(first, stage.last - first));
      if (image.compressed) {
        copy_signals(first, check);
      } else {
        read_signals(first, check);
      }
      const std::vector<direction_score> scores = check.scores();
      if (scores.empty()) return;
      spdlog::debug("{}: free length of streamlines {:.1f} mm, {:.1f} mm with {}", printable(bvecs_path),
                    scores[0].free_mm, scores[1].free_mm, scores[1].change);
      const auto better = find_better(scores, image.grid);
      if (!better) return;  // perhaps in the next stage
      tries_directions = false;
      spdlog::warn("{}: {}; correct the table{}", printable(bvecs_path), describe_better(*better, scores[0]),
                   frame_advice(*better, frame));
    } catch (const std::exception& e) {
      spdlog::debug("{}: other directions were not tried: {}", printable(bvecs_path), e.what());
    }
  }

  std::uint32_t volume_in_file(std::uint32_t volume) const { return kept.empty() ? volume : kept[volume]; }

  /// From the rows of the stage in memory; items are counted from `first`.
  void copy_signals(std::uint64_t first, direction_check& check) {
    const auto& items = check.items();
    std::vector<float> rows;
    for (std::size_t at = 0; at < items.size();) {
      std::size_t end = at + 1;
      while (end < items.size() && items[end] == items[end - 1] + 1) ++end;
      rows.resize((end - at) * image.volumes);
      signals->load(first + items[at], end - at, rows.data(), image.volumes);
      for (std::size_t i = at; i < end; ++i)
        for (std::size_t k = 0; k < check.volumes().size(); ++k)
          check.signal(i, k) = rows[(i - at) * image.volumes + volume_in_file(check.volumes()[k])];
      at = end;
    }
  }

  /// From a plain file: of each volume the part of each slice.
  void read_signals(std::uint64_t first, direction_check& check) {
    const std::uint64_t slice = image.grid.size[0] * image.grid.size[1];
    const auto& items = check.items();
    const auto voxel = [&](std::size_t i) { return voxels[first + items[i]]; };
    nifti_reader reader(image);
    std::vector<float> values;
    for (std::size_t k = 0; k < check.volumes().size(); ++k)
      for (std::size_t at = 0; at < items.size();) {
        std::size_t end = at + 1;
        while (end < items.size() && voxel(end) / slice == voxel(at) / slice) ++end;
        values.resize(voxel(end - 1) + 1 - voxel(at));
        reader.read(volume_in_file(check.volumes()[k]), voxel(at), values.size(), values.data());
        for (std::size_t i = at; i < end; ++i) check.signal(i, k) = values[voxel(i) - voxel(at)];
        at = end;
      }
  }

  void check_deviation() {
    provenance["grad_dev"] = fingerprint(deviation_path);
    deviation = read_nifti_header(deviation_path);
    log_warnings(deviation);
    if (deviation.volumes != deviation_volumes) {
      throw failure(exit_status::bad_data,
                    fmt::format("{}: dim[4] is {}, expected {}: a 3 x 3 tensor for each voxel",
                                printable(deviation_path), deviation.volumes, deviation_volumes));
    }
    bring_to_grid(deviation, image, masks);
  }

  void describe_mask() {
    if (mask_path.empty()) {
      provenance["mask"] = {{"rule", fmt::format("positive mean over b <= {} s/mm2", b0.max_s_per_mm2)}};
    } else {
      provenance["mask"] = fingerprint(mask_path);
    }
  }

  void keep_part() {
    const std::uint64_t begin = part_begin(voxels.size(), part, parts),
                        end = part_begin(voxels.size(), part + 1, parts);
    if (begin == end && masks == mask_rules::own)
      throw failure(exit_status::usage,
                    fmt::format("{}: {} voxels cannot be divided into {} parts; ask for fewer parts",
                                printable(mask_path), voxels.size(), parts));
    provenance["mask"]["part"] = {{"first_voxel", begin}, {"voxels", end - begin}};
    voxels = std::vector(voxels.begin() + static_cast<std::ptrdiff_t>(begin),
                         voxels.begin() + static_cast<std::ptrdiff_t>(end));
  }

  void share(const session& s) {
    s.broadcast(gradients.b_s_per_mm2);
    s.broadcast(gradients.x);
    s.broadcast(gradients.y);
    s.broadcast(gradients.z);
    s.broadcast(voxels);
    s.broadcast(provenance);
    s.broadcast(form);
    check_same_file(s, dwi_path, image);
    if (!deviation_path.empty()) check_same_file(s, deviation_path, deviation);
    read_deviation = {form, image.grid, deviation.order};
  }

  std::string dwi_path, bvals_path, bvecs_path, mask_path, deviation_path;
  std::optional<direction_frame> given_frame;
  direction_frame frame = direction_frame::fsl;  ///< on rank 0
  b0_rule b0;
  std::uint32_t part = 0, parts = 1;
  bool is_root = false, tries_directions = true;
  std::array<item_range, 2> stages{};  ///< the stage before the latest, and the latest
  std::uint64_t last_tried = no_item;  ///< of the stage whose directions were checked last
  mask_rules masks;
  /// The signals of all volumes in pieces, and of these the kept ones to `out`.
  void load_kept(std::uint64_t first, std::uint64_t count, float* out, std::size_t stride) {
    constexpr std::size_t piece_floats = std::size_t{1} << 20;
    const std::size_t all = image.volumes, piece = std::max<std::size_t>(1, piece_floats / all);
    for (std::uint64_t done = 0; done < count; done += piece) {
      const std::uint64_t rows = std::min<std::uint64_t>(piece, count - done);
      scratch.resize(rows * all);
      signals->load(first + done, rows, scratch.data(), all);
      for (std::uint64_t i = 0; i < rows; ++i)
        for (std::size_t k = 0; k < kept.size(); ++k) out[(done + i) * stride + k] = scratch[i * all + kept[k]];
    }
  }

  nifti_header image, deviation;
  deviation_form form = deviation_form::without_identity;
  deviation_reader read_deviation;
  gradient_table gradients;
  std::vector<std::uint32_t> kept;  ///< volumes; empty: all
  std::vector<float> scratch;
  std::vector<std::uint64_t> voxels;
  nlohmann::json provenance;
  std::unique_ptr<voxel_rows> signals, deviations;
  joined_input input;
};

std::uint64_t part_begin(std::uint64_t voxels, std::uint32_t part, std::uint32_t parts) {
  if (parts > voxels) return std::min<std::uint64_t>(part, voxels);
  return part == parts ? voxels : voxels / parts * part;
}

dwi_series::dwi_series(const session& s, const dwi_request& request, std::uint64_t host_memory_bytes)
    : state_(std::make_unique<state>(s, request, host_memory_bytes)) {}
dwi_series::~dwi_series() = default;
dwi_series::dwi_series(dwi_series&&) noexcept = default;

void dwi_series::keep_volumes(std::vector<std::uint32_t> volumes) {
  if (volumes.size() == measurements()) return;
  state_->gradients = choose_gradients(state_->gradients, volumes);
  state_->kept = std::move(volumes);
}

const image_grid& dwi_series::grid() const { return state_->image.grid; }
const std::vector<std::uint64_t>& dwi_series::item_voxels() const { return state_->voxels; }
const gradient_table& dwi_series::gradients() const { return state_->gradients; }
std::size_t dwi_series::measurements() const { return state_->gradients.size(); }
bool dwi_series::has_gradient_deviation() const { return !state_->deviation_path.empty(); }
bool dwi_series::may_be_empty() const { return state_->masks == mask_rules::fsl; }

std::size_t dwi_series::floats_per_item() const {
  return measurements() + (has_gradient_deviation() ? deviation_volumes : 0);
}

void dwi_series::load(const batch& items, std::span<float> out) {
  state_->check_directions(items.first_item);
  const std::size_t stride = floats_per_item();
  check_room(items, item_voxels().size(), stride, out);
  if (state_->kept.empty()) {
    state_->signals->load(items.first_item, items.item_count, out.data(), stride);
  } else {
    state_->load_kept(items.first_item, items.item_count, out.data(), stride);
  }
  if (!has_gradient_deviation()) return;
  float* const deviations = out.data() + measurements();
  state_->deviations->load(items.first_item, items.item_count, deviations, stride);
  for (std::uint64_t i = 0; i < items.item_count; ++i) state_->read_deviation(deviations + i * stride);
}

void dwi_series::load(const batch& items, std::span<std::byte> rows) {
  load(items, std::span<float>(reinterpret_cast<float*>(rows.data()), rows.size() / sizeof(float)));
}

std::uint64_t dwi_series::max_items() const { return state_->input.max_items(); }
std::uint64_t dwi_series::later_bytes() const { return state_->input.later_bytes(); }
void dwi_series::begin(std::uint64_t first, std::uint64_t last) {
  state_->input.begin(first, last);
  auto& stages = state_->stages;
  if (first >= stages[1].first && last <= stages[1].last) return;
  stages = {stages[1], {first, last}};
}
bool dwi_series::is_ready() { return state_->input.is_ready(); }

nlohmann::json dwi_series::provenance() const { return state_->provenance; }

std::vector<constant> dwi_series::constants() const {
  const gradient_table& g = gradients();
  std::vector<double> directions = g.x;
  directions.insert(directions.end(), g.y.begin(), g.y.end());
  directions.insert(directions.end(), g.z.begin(), g.z.end());
  return {{"bvals", {g.size()}, g.b_s_per_mm2, "s/mm2", "diffusion weighting of each volume"},
          {"bvecs",
           {3, g.size()},
           std::move(directions),
           "1",
           "unit gradient directions in FSL's bvec frame: x, y, z rows"}};
}

}  // namespace voxherd
