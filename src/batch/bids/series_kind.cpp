// Which images are no series to be fitted, although their names have the suffix of one.
#include "src/batch/bids/series_kind.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "src/batch/bids/companion_files.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/io/number_table.hpp"
#include "src/io/text_file.hpp"
#include "src/scan/gradients.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

/// A tensor has six numbers besides S0, so that fewer volumes than these cannot be fitted.
constexpr std::size_t min_volumes = 7;

/// Words of DICOM's Image Type (0008,0008), as dcm2niix copies it, for images that are not magnitudes.
constexpr std::pair<const char*, const char*> other_image_types[] = {
    {"P", "is a phase image"},
    {"PHASE", "is a phase image"},
    {"REAL", "is the real part of a complex image"},
    {"IMAGINARY", "is the imaginary part of a complex image"},
    {"ADC", "is a map of the scanner"},
    {"EADC", "is a map of the scanner"},
    {"FA", "is a map of the scanner"},
    {"COLFA", "is a map of the scanner"},
    {"TENSOR", "is a map of the scanner"},
    {"TRACE", "is a trace-weighted image"},
    {"TRACEW", "is a trace-weighted image"}};

/// Entities of maps that were computed from a series.
constexpr const char* map_entities[] = {"model", "param", "parameter", "metric", "meas", "measure", "stat"};

/// The words of ImageType in the nearest sidecar that has it.
std::vector<std::string> read_image_type(const fs::path& root, const named_file& image) {
  for (const companion_file& file : list_inherited(root, fs::path(image.path).parent_path(), image.name, ".json")) {
    try {
      const nlohmann::json all = parse_json(read_text_file(file.path), file.path);
      if (!all.is_object() || !all.contains("ImageType")) continue;
      return all.at("ImageType").get<std::vector<std::string>>();
    } catch (const std::exception&) {
      // an analysis that needs the sidecar reports it
    }
  }
  return {};
}

std::string why_no_magnitude(const fs::path& root, const named_file& image) {
  const std::string part = image.name.value("part");
  if (is_part_of_complex_image(image.name))
    return fmt::format("is the {} of a complex image (part-{}); only its magnitude is fitted",
                       part == "phase"  ? "phase"
                       : part == "real" ? "real part"
                                        : "imaginary part",
                       part);
  for (const std::string& word : read_image_type(root, image))
    for (const auto& [type, what] : other_image_types)
      if (word == type) return fmt::format("{} (ImageType {} in its sidecar)", what, word);
  return "";
}

std::optional<std::uint64_t> count_volumes(const std::string& path) {
  try {
    return read_nifti_header(path).volumes;
  } catch (const failure&) {
    return std::nullopt;
  }
}

std::optional<number_table> read_table(const std::string& path) {
  if (path.empty()) return std::nullopt;
  try {
    return read_number_table(path);
  } catch (const failure&) {
    return std::nullopt;
  }
}

/// Whether nothing can be fitted because no volume is weighted. b-values in ms/um2 are also small; of a series with
/// many of them the analysis says so.
bool has_only_b0(const std::vector<double>& b) {
  constexpr double smallest_top_b_s_per_mm2 = 10;
  if (b.empty()) return false;
  const auto [lowest, highest] = std::minmax_element(b.begin(), b.end());
  if (!(*lowest >= 0 && *highest <= max_b0_s_per_mm2)) return false;
  if (*lowest == *highest || *highest >= smallest_top_b_s_per_mm2) return true;
  const auto above = static_cast<std::size_t>(std::count_if(b.begin(), b.end(), [](double v) { return v > 0; }));
  return above + 1 < min_volumes;
}

bool has_no_directions(const std::string& bvec) {
  const std::optional<number_table> g = read_table(bvec);
  return g && std::all_of(g->values.begin(), g->values.end(), [](double v) { return v == 0; });
}

/// The .bval that has the image's own name, which says how many volumes the image must have.
bool is_own_table(const std::string& table, const std::string& image) {
  const auto stem = [](const std::string& path) {
    const std::string name = fs::path(path).filename().string();
    return name.substr(0, name.find('.'));
  };
  return stem(table) == stem(image);
}

}  // namespace

bool is_part_of_complex_image(const bids_name& name) {
  const std::string part = name.value("part");
  return part == "phase" || part == "real" || part == "imag";
}

std::string why_no_diffusion_series(const fs::path& root, const named_file& image, const std::string& bval,
                                    const std::string& bvec) {
  for (const char* entity : map_entities)
    if (const std::string value = image.name.value(entity); !value.empty())
      return fmt::format("is a map ({}-{}), not a series", entity, value);
  if (std::string why = why_no_magnitude(root, image); !why.empty()) return why;
  const std::optional<std::uint64_t> volumes = count_volumes(image.path);
  const std::optional<number_table> b = read_table(bval);
  if (volumes == 1 && !(b && b->values.size() != 1 && is_own_table(bval, image.path)))
    return "has a single volume, as references and maps of the scanner have";
  if (bval.empty() && bvec.empty() && volumes && *volumes < min_volumes)
    return fmt::format("has {} volumes, and neither .bval nor .bvec: it is taken for a series of b=0", *volumes);
  if (!b || volumes.value_or(b->values.size()) != b->values.size()) return "";  // the analysis reports it
  if (has_only_b0(b->values))
    return "has only b=0, as series with reversed phase encoding have; nothing is fitted to it";
  if (b->values.size() < min_volumes && has_no_directions(bvec))
    return "has no gradient directions, as trace-weighted images have";
  return "";
}

std::string why_no_dynamic_series(const fs::path& root, const named_file& image) {
  if (std::string why = why_no_magnitude(root, image); !why.empty()) return why;
  return count_volumes(image.path) == 1 ? "has a single volume" : "";
}

}  // namespace voxherd
