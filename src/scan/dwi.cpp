#include "src/scan/dwi.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <future>
#include <utility>

#include "core/threads.hpp"
#include "mpi/run/staged_input.hpp"
#include "mpi/run/study_question.hpp"
#include "src/scan/direction_check.hpp"
#include "src/scan/dwi_contents.hpp"
#include "src/scan/gradient_deviation.hpp"
#include "src/scan/gradients.hpp"
#include "src/scan/image_checks.hpp"
#include "src/scan/node_resources.hpp"
#include "src/scan/voxel_rows.hpp"

namespace voxherd {

struct dwi_series::state {
  static constexpr std::uint64_t no_item = ~std::uint64_t{0};

  struct item_range {
    std::uint64_t first = 0, last = 0;
    bool has(std::uint64_t item) const { return item >= first && item < last; }
  };

  state(const session& s, const dwi_request& request, std::uint64_t host_memory_bytes)
      : bvecs_path(request.bvecs),
        has_deviation(!request.gradient_deviation.empty()),
        is_root(s.is_root()),
        masks(request.masks) {
    dwi_contents c = s.from_root([&] { return read_dwi_contents(request, headers); });
    check_same_file(s, request.dwi, headers.image);
    if (has_deviation) check_same_file(s, request.gradient_deviation, headers.deviation);
    frame = c.frame;
    gradients = std::move(c.gradients);
    voxels = std::move(c.voxels);
    provenance = std::move(c.provenance);
    read_deviation = {c.form, headers.image.grid, headers.deviation.order};
    if (voxels.empty() || is_asked()) return;  // nothing will be loaded
    std::vector<std::vector<nifti_header>> series{{headers.image}};
    if (has_deviation) series.push_back({headers.deviation});
    // Nodes may have different limits, but all ranks read the same stages.
    const std::uint64_t max_items =
        s.all_reduce(reduction::min, items_within(host_memory_bytes, series, voxels.size()));
    stages[1] = {0, std::min<std::uint64_t>(max_items, voxels.size())};
    signals = start_rows(s, series.front(), voxels, max_items);
    input.add(*signals);
    if (!has_deviation) return;
    deviations = start_rows(s, series.back(), voxels, max_items);
    input.add(*deviations);
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
      direction_check check(headers.image.grid, gradients, frame,
                            std::span<const std::uint64_t>(voxels).subspan(first, stage.last - first));
      if (headers.image.compressed) {
        copy_signals(first, check);
      } else {
        read_signals(first, check);
      }
      const std::vector<direction_score> scores = check.scores();
      if (scores.empty()) return;
      spdlog::debug("{}: free length of streamlines {:.1f} mm, {:.1f} mm with {}", bvecs_path, scores[0].free_mm,
                    scores[1].free_mm, scores[1].change);
      const auto better = find_better(scores, headers.image.grid);
      if (!better) return;  // perhaps in the next stage
      tries_directions = false;
      spdlog::warn("{}: {}; correct the table{}", bvecs_path, describe_better(*better, scores[0]),
                   frame_advice(*better, frame));
    } catch (const std::exception& e) {
      spdlog::debug("{}: other directions were not tried: {}", bvecs_path, e.what());
    }
  }

  /// From the stage in memory; items are counted from `first`.
  void copy_signals(std::uint64_t first, direction_check& check) {
    const auto& items = check.items();
    const std::size_t width = gradients.size();
    std::vector<float> rows;
    for (std::size_t at = 0; at < items.size();) {
      std::size_t end = at + 1;
      while (end < items.size() && items[end] == items[end - 1] + 1) ++end;
      rows.resize((end - at) * width);
      signals->load(first + items[at], end - at, value_places::in_rows(rows.data(), width));
      for (std::size_t i = at; i < end; ++i)
        for (std::size_t k = 0; k < check.volumes().size(); ++k)
          check.signal(i, k) = rows[(i - at) * width + check.volumes()[k]];
      at = end;
    }
  }

  /// From a plain file: of each volume the part of each slice.
  void read_signals(std::uint64_t first, direction_check& check) {
    const std::uint64_t slice = headers.image.grid.size[0] * headers.image.grid.size[1];
    const auto& items = check.items();
    const auto voxel = [&](std::size_t i) { return voxels[first + items[i]]; };
    nifti_reader reader(headers.image);
    std::vector<float> values;
    for (std::size_t k = 0; k < check.volumes().size(); ++k)
      for (std::size_t at = 0; at < items.size();) {
        std::size_t end = at + 1;
        while (end < items.size() && voxel(end) / slice == voxel(at) / slice) ++end;
        values.resize(voxel(end - 1) + 1 - voxel(at));
        const std::uint32_t volume = check.volumes()[k];
        reader.read(kept.empty() ? volume : kept[volume], voxel(at), values.size(), values.data());
        for (std::size_t i = at; i < end; ++i) check.signal(i, k) = values[voxel(i) - voxel(at)];
        at = end;
      }
  }

  void turn_deviation(const value_places& voxel) const {
    std::array<float, deviation_volumes> matrix;
    for (std::size_t k = 0; k < matrix.size(); ++k) matrix[k] = voxel.at(0, k);
    read_deviation(matrix.data());
    for (std::size_t k = 0; k < matrix.size(); ++k) voxel.at(0, k) = matrix[k];
  }

  std::string bvecs_path;
  direction_frame frame = direction_frame::fsl;
  bool has_deviation = false, is_root = false, tries_directions = true;
  std::array<item_range, 2> stages{};  ///< the stage before the latest, and the latest
  std::uint64_t last_tried = no_item;  ///< of the stage whose directions were checked last
  mask_rules masks;
  dwi_headers headers;
  deviation_reader read_deviation;
  gradient_table gradients;
  std::vector<std::uint32_t> kept;  ///< volumes; empty: all
  std::vector<std::uint64_t> voxels;
  nlohmann::json provenance;
  std::unique_ptr<voxel_rows> signals, deviations;
  joined_input input;
};

dwi_series::dwi_series(const session& s, const dwi_request& request, std::uint64_t host_memory_bytes)
    : state_(std::make_unique<state>(s, request, host_memory_bytes)) {}
dwi_series::~dwi_series() = default;
dwi_series::dwi_series(dwi_series&&) noexcept = default;

void dwi_series::keep_volumes(std::vector<std::uint32_t> volumes) {
  if (volumes.size() == measurements()) return;
  state_->gradients = choose_gradients(state_->gradients, volumes);
  if (state_->signals) state_->signals->keep_volumes(volumes);
  state_->kept = std::move(volumes);
}

const image_grid& dwi_series::grid() const { return state_->headers.image.grid; }
const std::vector<std::uint64_t>& dwi_series::item_voxels() const { return state_->voxels; }
const gradient_table& dwi_series::gradients() const { return state_->gradients; }
std::size_t dwi_series::measurements() const { return state_->gradients.size(); }
bool dwi_series::has_gradient_deviation() const { return state_->has_deviation; }
bool dwi_series::may_be_empty() const { return state_->masks == mask_rules::fsl; }

std::size_t dwi_series::floats_per_item() const {
  return measurements() + (has_gradient_deviation() ? deviation_volumes : 0);
}

void dwi_series::load(const batch& items, std::span<float> out, input_layout layout) {
  state_->check_directions(items.first_item);
  const std::size_t width = floats_per_item();
  check_room(items, item_voxels().size(), width, out);
  const value_places places = value_places::in(layout, out.data(), items.item_count, width);
  state_->signals->load(items.first_item, items.item_count, places);
  if (!has_gradient_deviation()) return;
  const value_places deviations = places.from(0, measurements());
  state_->deviations->load(items.first_item, items.item_count, deviations);
  for (std::uint64_t i = 0; i < items.item_count; ++i) state_->turn_deviation(deviations.from(i, 0));
}

namespace {

std::span<float> as_floats(std::span<std::byte> bytes) {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

}  // namespace

void dwi_series::load(const batch& items, std::span<std::byte> rows) {
  load(items, as_floats(rows), input_layout::rows);
}

void dwi_series::load_columns(const batch& items, std::span<std::byte> columns) {
  load(items, as_floats(columns), input_layout::columns);
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
