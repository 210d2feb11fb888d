#include "src/scan/label_image.hpp"

#include <fmt/core.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/failure.hpp"
#include "src/io/nifti/companion.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/io/nifti/nifti_format.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/image_checks.hpp"

namespace voxherd {

namespace {

/// Maps index coordinates of one grid to those of another.
struct crossing {
  crossing(const image_grid& from, const image_grid& to) {
    const grid_space a(from), b(to);
    turn = product(b.inverse_axes, a.axes_mm);
    shift = b.to_index(a.origin_mm);
  }
  vector3 operator()(const vector3& p) const {
    vector3 q = shift;
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t c = 0; c < 3; ++c) q[r] += turn[3 * r + c] * p[c];
    return q;
  }
  matrix3 turn;
  vector3 shift;
};

class label_sampler {
 public:
  label_sampler(const std::vector<std::int32_t>& labels, const image_grid& of) : labels_(labels), size_(of.size) {}

  /// The label of the voxel that contains the point; 0 outside the image.
  std::int32_t operator()(const vector3& index) const {
    std::uint64_t linear = 0;
    for (std::size_t axis = 3; axis-- > 0;) {
      // Halfway points belong to the upper voxel; the offset makes this robust against rounding.
      const double nearest = std::floor(index[axis] + 0.5 + 1e-6);
      if (!(nearest >= 0 && nearest < static_cast<double>(size_[axis]))) return 0;
      linear = linear * size_[axis] + static_cast<std::uint64_t>(nearest);
    }
    return labels_[linear];
  }

 private:
  const std::vector<std::int32_t>& labels_;
  std::array<std::uint64_t, 3> size_;
};

}  // namespace

std::int32_t find_most_frequent(std::vector<std::int32_t>& samples) {
  std::sort(samples.begin(), samples.end());
  std::int32_t best = 0;
  std::size_t best_count = 0;
  for (std::size_t i = 0; i < samples.size();) {
    std::size_t end = i;
    while (end < samples.size() && samples[end] == samples[i]) ++end;
    if (end - i > best_count) {
      best_count = end - i;
      best = samples[i];
    }
    i = end;
  }
  return best;
}

std::array<int, 3> samples_per_axis(const image_grid& grid, const image_grid& labels) {
  const double side = *std::min_element(labels.voxel_size_mm.begin(), labels.voxel_size_mm.end());
  std::array<int, 3> n{};
  constexpr double slack = 0.05;  // 2.02 mm over 1 mm gives two, not three
  for (std::size_t axis = 0; axis < 3; ++axis)
    n[axis] = static_cast<int>(std::clamp(std::ceil(grid.voxel_size_mm[axis] / side - slack), 1.0, 10.0));
  return n;
}

std::vector<std::int32_t> look_up(const std::vector<std::int32_t>& labels, const image_grid& of, const image_grid& grid,
                                  std::uint64_t& mostly_none) {
  const label_sampler label_at(labels, of);
  const crossing to_labels(grid, of);
  const std::array<int, 3> n = samples_per_axis(grid, of);
  std::vector<vector3> offsets;
  for (int k = 0; k < n[2]; ++k)
    for (int j = 0; j < n[1]; ++j)
      for (int i = 0; i < n[0]; ++i)
        offsets.push_back({(i + 0.5) / n[0] - 0.5, (j + 0.5) / n[1] - 0.5, (k + 0.5) / n[2] - 0.5});

  std::vector<std::int32_t> found(grid.voxel_count());
  std::vector<std::int32_t> samples;
  mostly_none = 0;
  for (std::uint64_t v = 0; v < found.size(); ++v) {
    const std::array<std::uint64_t, 3> at = {v % grid.size[0], v / grid.size[0] % grid.size[1],
                                             v / (grid.size[0] * grid.size[1])};
    samples.clear();
    for (const vector3& o : offsets) {
      const std::int32_t label = label_at(to_labels(
          {static_cast<double>(at[0]) + o[0], static_cast<double>(at[1]) + o[1], static_cast<double>(at[2]) + o[2]}));
      if (label > 0) samples.push_back(label);
    }
    if (samples.empty()) continue;
    mostly_none += 2 * samples.size() < offsets.size() ? 1 : 0;
    found[v] = find_most_frequent(samples);
  }
  return found;
}

namespace {

/// Whether a value is this integer, also after the rounding of a scl_slope in float32 such as 0.1.
bool is_integer(double value, double nearest) {
  return value == nearest || (nearest <= static_cast<double>(largest_float_label) &&
                              static_cast<float>(value) == static_cast<float>(nearest));
}

}  // namespace

std::int32_t to_label(double value, std::int32_t largest, label_kind kind, const std::string& name, const char* place,
                      std::uint64_t number) {
  if (!std::isfinite(value) || value <= 0) return 0;
  if (kind == label_kind::mask) return 1;
  const double nearest = std::round(value);
  if (nearest <= static_cast<double>(largest) && is_integer(value, nearest)) return static_cast<std::int32_t>(nearest);
  const bool is_rounded = nearest > static_cast<double>(largest) && largest < largest_label;
  refuse_data("{}: {} {} is {}, expected a parcellation of integers up to {}{}", name, place, number, value, largest,
              is_rounded ? " in float32, which rounds larger ones; store them as int32" : "");
}

std::vector<std::int32_t> list_labels(const std::vector<std::int32_t>& labels) {
  std::unordered_set<std::int32_t> found;
  std::int32_t before = 0;  // neighbours mostly have the same label
  for (const std::int32_t l : labels) {
    if (l != before && l > 0) found.insert(l);
    before = l;
  }
  std::vector<std::int32_t> values(found.begin(), found.end());
  std::sort(values.begin(), values.end());
  return values;
}

namespace {

bool on_same_grid(const nifti_header& h, const image_grid& grid) {
  if (h.grid.size != grid.size) return false;
  if (!has_orientation(h.geometry)) return true;
  const auto& side = grid.voxel_size_mm;
  return largest_displacement_mm(grid.size, h.grid.voxel_to_world, grid.voxel_to_world) <=
         0.1 * std::min({side[0], side[1], side[2]});
}

std::string grid_text(const image_grid& g) {
  return fmt::format("{} x {} x {} voxels of {:.3g} x {:.3g} x {:.3g} mm", g.size[0], g.size[1], g.size[2],
                     g.voxel_size_mm[0], g.voxel_size_mm[1], g.voxel_size_mm[2]);
}

std::vector<std::int32_t> on_grid(std::vector<std::int32_t> labels, const nifti_header& h, const image_grid& grid,
                                  const std::string& reference) {
  const std::string& name = h.path;
  if (on_same_grid(h, grid)) return labels;
  if (!has_orientation(h.geometry))
    refuse_data("{}: has no orientation (qform_code and sform_code are 0) and has {}, expected {}", name,
                grid_text(h.grid), grid_text(grid));
  std::uint64_t mostly_none = 0;
  std::vector<std::int32_t> found = look_up(labels, h.grid, grid, mostly_none);
  const auto labelled = found.size() - static_cast<std::size_t>(std::count(found.begin(), found.end(), 0));
  const auto n = samples_per_axis(grid, h.grid);
  spdlog::info(
      "{}: is on another grid ({}); sampled by world coordinates at {} x {} x {} points per voxel, the most "
      "frequent label above 0 is used: {} voxels, {} of them labelled in less than half of their points",
      name, grid_text(h.grid), n[0], n[1], n[2], labelled, mostly_none);
  if (labelled == 0)
    refuse_data("{}: none of its labels is inside {}; does it belong to another subject or space?", name,
                reference.empty() ? "the image" : reference);
  return found;
}

/// The labels of an image, converted in pieces that stay in the cache.
std::vector<std::int32_t> read_file(const nifti_header& header, label_kind kind) {
  constexpr std::size_t piece = 1 << 14;
  const std::string& name = header.path;
  std::vector<std::int32_t> labels(header.grid.voxel_count());
  const std::int32_t largest = header.datatype == float32_datatype ? largest_float_label : largest_label;
  std::vector<double> values(piece);
  nifti_reader reader(header);
  for (std::size_t first = 0; first < labels.size(); first += piece) {
    const std::size_t count = std::min(piece, labels.size() - first);
    reader.read(0, first, count, values.data());
    for (std::size_t i = 0; i < count; ++i)
      labels[first + i] = to_label(values[i], largest, kind, name, "voxel", first + i);
  }
  log_bytes_after(header, reader.check_end());
  return labels;
}

std::optional<std::int32_t> parse_label(std::string_view word) {
  std::int32_t value = 0;
  const auto [stopped, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (code != std::errc{} || stopped != word.data() + word.size() || value < 1 || value > largest_label)
    return std::nullopt;
  return value;
}

/// "5" or "5-9": the first and the last label.
std::optional<std::pair<std::int32_t, std::int32_t>> parse_label_range(std::string_view word) {
  const std::size_t dash = std::min(word.find('-'), word.size());
  const auto first = parse_label(word.substr(0, dash));
  const auto last = dash == word.size() ? first : parse_label(word.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return std::pair(*first, *last);
}

}  // namespace

std::vector<std::uint64_t> label_image::voxels_with(const std::vector<std::int32_t>& wanted) const {
  std::vector<std::uint64_t> voxels;
  for (std::uint64_t v = 0; v < label.size(); ++v) {
    if (label[v] > 0 && (wanted.empty() || std::binary_search(wanted.begin(), wanted.end(), label[v])))
      voxels.push_back(v);
  }
  return voxels;
}

void count_voxels(label_image& image) {
  image.voxel_count.assign(image.values.size(), 0);
  std::size_t at = 0;
  for (const std::int32_t l : image.label) {
    if (l == 0) continue;
    if (image.values[at] != l)
      at = static_cast<std::size_t>(std::lower_bound(image.values.begin(), image.values.end(), l) -
                                    image.values.begin());
    ++image.voxel_count[at];
  }
  std::vector<std::int32_t> lost;
  for (std::size_t i = 0; i < image.values.size(); ++i)
    if (image.voxel_count[i] == 0) lost.push_back(image.values[i]);
  if (!lost.empty())
    spdlog::warn("{}: {} of its {} labels have no voxels in the image: {}", image.path, lost.size(),
                 image.values.size(), fmt::join(lost, ", "));
}

std::vector<std::uint64_t> counted_voxels(const label_image& image, nlohmann::json& input) {
  std::vector<std::uint64_t> voxels = image.voxels_with({});
  input["voxels"] = voxels.size();
  return voxels;
}

label_image read_labels(const std::string& path, const image_grid& grid, label_kind kind, const std::string& reference,
                        mask_rules rules) {
  const nifti_header header = read_nifti_header(path);
  log_warnings(header);
  check_one_volume(header, kind == label_kind::mask ? "a mask" : "a parcellation", rules);
  std::vector<std::int32_t> labels = read_file(header, kind);
  label_image image;
  image.path = path;
  image.values = list_labels(labels);
  if (image.values.empty()) {
    check_empty_mask(path, labels.size(), rules);
    image.label.resize(grid.voxel_count());
    return image;
  }
  image.label = on_grid(std::move(labels), header, grid, reference);
  count_voxels(image);
  return image;
}

void check_labels(const label_image& image, const std::vector<std::int32_t>& wanted, const char* option) {
  for (const std::int32_t l : wanted) {
    if (std::binary_search(image.values.begin(), image.values.end(), l)) continue;
    constexpr std::size_t max_named = 20;
    const std::size_t named = std::min(max_named, image.values.size());
    refuse_data("--{} {}: {} does not contain this label; it contains {}{}", option, l, image.path,
                fmt::join(image.values.begin(), image.values.begin() + static_cast<long>(named), ", "),
                image.values.size() > named ? ", ..." : "");
  }
}

std::vector<std::int32_t> parse_labels(const std::string& list, const char* option) {
  std::vector<std::int32_t> labels;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string_view word(list.data() + at, end - at);
    const auto range = parse_label_range(word);
    if (!range)
      refuse_usage(
          "--{} {}: found {}, expected integers from 1 to {} or ranges of them, separated by commas, such as "
          "3,17,20-25",
          option, list, word.empty() ? "nothing" : '"' + std::string(word) + '"', largest_label);
    constexpr std::int64_t max_labels = 1 << 24;
    if (range->second - std::int64_t{range->first} + static_cast<std::int64_t>(labels.size()) >= max_labels)
      refuse_usage("--{} {}: names more than {} labels; name those that the file has", option, list, max_labels);
    for (std::int64_t label = range->first; label <= range->second; ++label)
      labels.push_back(static_cast<std::int32_t>(label));
    at = end + 1;
  }
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

}  // namespace voxherd
