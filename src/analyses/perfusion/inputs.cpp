#include "src/analyses/perfusion/inputs.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>
#include <tuple>

#include "core/text.hpp"
#include "mpi/run/staged_input.hpp"
#include "src/analyses/common/regions.hpp"
#include "src/analyses/perfusion/findings.hpp"
#include "src/analyses/perfusion/frames.hpp"
#include "src/analyses/perfusion/series.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"
#include "src/scan/image_checks.hpp"
#include "src/scan/label_image.hpp"
#include "src/scan/mask.hpp"
#include "src/scan/node_resources.hpp"

namespace voxherd {

namespace {

/// There must be more frames than fitted parameters.
constexpr std::uint64_t min_frames = 6;

/// The labels of a segmentation; the value of a mask, usually 1. Empty for a mask of fractions.
std::set<std::int32_t> list_voi_labels(const std::string& name, const std::vector<float>& values) {
  std::set<std::int32_t> labels;
  for (const float value : values) {
    if (!(value > 0) || !std::isfinite(value)) continue;
    if (value != std::floor(value)) return {};
    if (value > static_cast<float>(largest_float_label))
      refuse_data("{}: has the value {}, expected a mask, or labels up to {}", name, value, largest_float_label);
    labels.insert(static_cast<std::int32_t>(value));
  }
  return labels;
}

std::string list_some(const std::set<std::int32_t>& labels) {
  constexpr std::size_t max_named = 12;
  const auto end = std::next(labels.begin(), static_cast<std::ptrdiff_t>(std::min(labels.size(), max_named)));
  return fmt::format("{}{}", fmt::join(labels.begin(), end, ", "), labels.size() > max_named ? ", ..." : "");
}

/// The VOI of an input, "arterial" or "portal". Throws failure (bad_data) if it has several labels and none was chosen,
/// or a chosen one has no voxels.
std::vector<std::uint64_t> read_voi(const inflow_files& files, const char* input, const nifti_header& image) {
  const std::vector<float> values = read_mask_values(files.voi, image);
  std::vector<std::uint64_t> voxels = voxels_above_0(files.voi, values);
  const std::set<std::int32_t> found = list_voi_labels(files.voi, values);
  if (files.labels.empty()) {
    if (found.size() > 1)
      refuse_data("{}: has {} labels ({}), expected a mask of one vessel; --{}-labels chooses", files.voi, found.size(),
                  list_some(found), input);
    return voxels;
  }
  for (const std::int32_t label : files.labels)
    if (!found.contains(label))
      refuse_data("--{}-labels {}: {} does not contain this label; it contains {}", input, label, files.voi,
                  found.empty() ? "fractions" : list_some(found));
  const std::set<std::int32_t> chosen(files.labels.begin(), files.labels.end());
  std::erase_if(voxels, [&](std::uint64_t v) { return !chosen.contains(static_cast<std::int32_t>(values[v])); });
  return voxels;
}

/// A voxel is not in two vessels.
void check_separate(const perfusion_settings& o, const looked_regions& regions) {
  const auto &arterial = regions.arterial, &portal = regions.portal;
  std::vector<std::uint64_t> both;
  std::set_intersection(arterial.begin(), arterial.end(), portal.begin(), portal.end(), std::back_inserter(both));
  if (both.empty()) return;
  refuse_data(
      "{} and {}: {} of {} voxels of the arterial VOI are also in the portal VOI, expected two "
      "vessels that share none; is one file given twice, or do the two drawings overlap?",
      o.arterial.voi, o.portal.voi, both.size(), arterial.size());
}

/// Multiplies the values of an image.
void scale(nifti_header& image, double factor) {
  image.slope *= factor;
  image.intercept *= factor;
}

/// Largest number of samples of the mask's voxels used for their mean curve.
std::vector<std::uint64_t> sample_of(const std::vector<std::uint64_t>& voxels, std::size_t row_floats) {
  constexpr std::size_t max_floats = std::size_t{1} << 22, run = 128;
  const std::size_t most = std::clamp<std::size_t>(max_floats / row_floats, 1024, 16384);
  if (voxels.size() <= most) return voxels;
  std::vector<std::uint64_t> some;
  const std::size_t runs = most / run;
  for (std::size_t r = 0; r < runs; ++r) {
    const std::size_t first = r * (voxels.size() - run) / (runs - 1);
    for (std::size_t i = first; i < first + run; ++i) some.push_back(voxels[i]);
  }
  spdlog::info("mean curve of the mask: {} of its {} voxels, evenly spread", some.size(), voxels.size());
  return some;
}

}  // namespace

/// What rank 0 has read in headers, tables and masks, for every rank.
struct perfusion_contents {
  std::vector<std::string> dynamic, extras;      ///< paths of the images
  std::vector<std::uint64_t> voxels, looked_at;  ///< of the items; of those that rank 0 examines before the fit
  item_regions regions;
  nlohmann::json provenance;

  static constexpr auto members() {
    using T = perfusion_contents;
    return std::tuple(&T::dynamic, &T::extras, &T::voxels, &T::looked_at, &T::regions, &T::provenance);
  }
};

struct perfusion_inputs::state {
  state(const session& s, const perfusion_settings& o) : options(o) {
    contents = s.from_root([&] { return read(); });
    looked.voxels = std::move(contents.looked_at);
    check_same_images(s, contents.dynamic, dynamic);
    check_same_images(s, contents.extras, extras);
    if (!options.t1_map.empty()) scale(extras.files.front(), options.t1_map_unit_s);
    open(s);
    found = s.from_root([&] { return look(); });
  }

  /// Rank 0: everything that is known from headers, tables and masks.
  perfusion_contents read() {
    perfusion_contents c;
    dynamic = read_image_list(options.dynamic, "dynamic");
    const std::uint64_t frames = dynamic.volumes();
    if (frames < min_frames)
      refuse_data("{}: has {} frames, expected a series of at least {}", dynamic.name(), frames, min_frames);
    found.frames.time_s = read_frame_times(options, frames, dynamic.name());
    found.frames.counts = counted_frames(options, frames);
    found.convert = options.convert;
    const nifti_header& image = dynamic.files.front();
    check_t1(image);
    c.voxels = find_items(image);
    if (!options.t1_map.empty()) check_t1_map(extras.files.front(), options.t1_map_unit_s, c.voxels);
    c.looked_at = choose_regions(image, c.voxels);
    c.dynamic = dynamic.paths();
    c.extras = extras.paths();
    c.provenance = describe(c);
    if (!options.regions.labels.empty()) c.regions = read_item_regions(options.regions, image.grid, c.voxels);
    return c;
  }

  std::vector<std::uint64_t> find_items(const nifti_header& image) const {
    if (!options.mask.empty()) return voxels_inside(options.mask, image);
    std::vector<std::uint64_t> all(image.grid.voxel_count());
    std::iota(all.begin(), all.end(), std::uint64_t{0});
    spdlog::warn("no --mask: all {} voxels will be fitted, including air", all.size());
    return all;
  }

  void check_t1(const nifti_header& image) {
    if (!options.vfa.empty()) {
      extras = read_image_list(options.vfa, "vfa");
      const auto angles = static_cast<std::uint64_t>(options.convert.flip_angles);
      if (extras.volumes() != angles)
        refuse_data("{}: has {} volumes, but --vfa-flip-angles {} angles", extras.name(), extras.volumes(), angles);
    }
    if (!options.t1_map.empty()) {
      extras = read_image_list({options.t1_map}, "t1-map");
      if (extras.volumes() != 1)
        refuse_data("{}: dim[4] is {}, expected 1: a map of T1", extras.name(), extras.volumes());
    }
    for (nifti_header& file : extras.files) bring_to_grid(file, image);
  }

  /// Returns the voxels of all regions.
  std::vector<std::uint64_t> choose_regions(const nifti_header& image, const std::vector<std::uint64_t>& items) {
    const std::size_t row = dynamic.volumes() + static_cast<std::size_t>(options.convert.extras());
    if (!options.arterial.voi.empty()) regions.arterial = read_voi(options.arterial, "arterial", image);
    if (!options.portal.voi.empty()) regions.portal = read_voi(options.portal, "portal", image);
    check_separate(options, regions);
    regions.tissue = sample_of(options.delay_roi.empty() ? items : voxels_inside(options.delay_roi, image), row);
    std::vector<std::uint64_t> all;
    for (const auto* region : {&regions.arterial, &regions.portal, &regions.tissue}) {
      std::vector<std::uint64_t> joined;
      std::set_union(all.begin(), all.end(), region->begin(), region->end(), std::back_inserter(joined));
      all = std::move(joined);
    }
    return all;
  }

  nlohmann::json describe(const perfusion_contents& c) const {
    nlohmann::json provenance;
    const auto add = [&](const char* name, const std::string& path) {
      if (!path.empty()) provenance[name] = fingerprint(path);
    };
    provenance["dynamic"] = fingerprint(c.dynamic);
    if (!c.extras.empty()) provenance[options.vfa.empty() ? "t1_map" : "vfa"] = fingerprint(c.extras);
    add("times", options.times);
    add("mask", options.mask);
    if (!options.mask.empty()) provenance["mask"]["voxels"] = c.voxels.size();
    add("arterial_voi", options.arterial.voi);
    add("portal_voi", options.portal.voi);
    add("arterial_curve", options.arterial.curve);
    add("portal_curve", options.portal.curve);
    add("curves", options.curves);
    add("delay_roi", options.delay_roi);
    provenance["image"] = dynamic.files[0].geometry;
    return provenance;
  }

  void open(const session& s) {
    // Nodes may have different limits, but all ranks read the same stages.
    const std::uint64_t most =
        s.all_reduce(reduction::min, items_within(options.host_memory_bytes, {dynamic.files, extras.files},
                                                  contents.voxels.size() + looked.voxels.size()));
    joined_input before;
    const auto begin = [&](const image_list& images) {
      auto rows = std::make_unique<series_rows>(s, images, contents.voxels, looked.voxels, most);
      before.add(rows->looked_at());
      input.add(rows->items());
      return rows;
    };
    signals = begin(dynamic);
    if (!extras.files.empty()) more = begin(extras);
    await_stage_or_throw(s, before);
  }

  /// Rank 0: what is known only from the series itself.
  perfusion_findings look() {
    looked.stride = floats_per_item();
    looked.rows.resize(looked.voxels.size() * looked.stride);
    signals->load_looked_at(looked.rows.data(), looked.stride);
    if (more) more->load_looked_at(looked.rows.data() + signals->volumes(), looked.stride);
    find_in_series(options, looked, regions, found);
    looked.rows = {};
    return found;
  }

  std::size_t floats_per_item() const { return signals->volumes() + (more ? more->volumes() : 0); }

  const perfusion_settings options;
  perfusion_contents contents;
  image_list dynamic, extras;
  looked_rows looked;
  looked_regions regions;
  perfusion_findings found;
  std::unique_ptr<series_rows> signals, more;
  joined_input input;  ///< items of both
};

perfusion_inputs::perfusion_inputs(const session& s, const perfusion_settings& o)
    : state_(std::make_unique<state>(s, o)) {}
perfusion_inputs::~perfusion_inputs() = default;

const image_grid& perfusion_inputs::grid() const { return state_->dynamic.grid(); }
const std::vector<std::uint64_t>& perfusion_inputs::item_voxels() const { return state_->contents.voxels; }
const perfusion_findings& perfusion_inputs::findings() const { return state_->found; }
std::uint64_t perfusion_inputs::max_items() const { return state_->input.max_items(); }
std::uint64_t perfusion_inputs::later_bytes() const { return state_->input.later_bytes(); }
void perfusion_inputs::begin(std::uint64_t first, std::uint64_t last) { state_->input.begin(first, last); }
bool perfusion_inputs::is_ready() { return state_->input.is_ready(); }
const item_regions& perfusion_inputs::regions() const { return state_->contents.regions; }
nlohmann::json perfusion_inputs::provenance() const { return state_->contents.provenance; }
std::size_t perfusion_inputs::floats_per_item() const { return state_->floats_per_item(); }

void perfusion_inputs::load(const batch& items, std::span<std::byte> rows) {
  const std::span<float> out(reinterpret_cast<float*>(rows.data()), rows.size() / sizeof(float));
  const std::size_t stride = floats_per_item();
  check_room(items, item_voxels().size(), stride, out);
  state_->signals->load_items(items.first_item, items.item_count, out.data(), stride);
  if (state_->more)
    state_->more->load_items(items.first_item, items.item_count, out.data() + state_->signals->volumes(), stride);
}

}  // namespace voxherd
