#include "src/analyses/geodesic/regions.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/readable.hpp"
#include "kernels/tensor_field/field.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

namespace region = geodesic::region;
std::vector<std::uint64_t> read_mask(const std::string& path, const tensor_source& tensors) {
  return read_labels(path, tensors.grid, label_kind::mask).voxels_with({});
}

/// A target that no tensor touches cannot be reached.
void log_targets(const region_words& words, const std::string& path) {
  const std::size_t count = words.target_labels().size();
  std::vector<char> reachable(count + 1, 0);
  std::uint64_t voxels = 0, beyond = 0;
  for (const std::uint32_t w : words.words()) {
    const std::uint32_t number = w >> region::target_shift;
    if (number == 0) continue;
    ++voxels;
    beyond += (w & region::inside) == 0 ? 1 : 0;
    if ((w & region::inside) != 0) reachable[number] = 1;
  }
  const auto never = count - static_cast<std::size_t>(std::count(reachable.begin(), reachable.end(), 1));
  spdlog::info(
      "{}: {} in {}; {} of the voxels without a tensor, {} of the regions without a "
      "voxel that has one",
      printable(path), counted(count, "target region"), counted(voxels, "voxel"), beyond, never);
}

}  // namespace

region_words::region_words(const std::vector<std::uint8_t>& inside) : words_(inside.size()) {
  for (std::size_t v = 0; v < inside.size(); ++v) words_[v] = inside[v] != 0 ? region::inside : 0;
}

void region_words::exclude(std::span<const std::uint64_t> voxels) {
  for (const std::uint64_t v : voxels) words_[v] |= region::exclude;
}

void region_words::include(int number, std::span<const std::uint64_t> voxels) {
  for (const std::uint64_t v : voxels) words_[v] |= region::first_include << number;
}

void region_words::targets(const label_image& image, const std::vector<std::int32_t>& wanted) {
  const std::vector<std::int32_t>& labels = wanted.empty() ? image.values : wanted;
  if (labels.size() > static_cast<std::size_t>(region::max_targets))
    throw failure(exit_status::bad_data, fmt::format("{}: has {} labels, expected at most {}; choose some with "
                                                     "--target-labels",
                                                     printable(image.path), labels.size(), region::max_targets));
  target_labels_.assign(labels.begin(), labels.end());
  for (std::size_t v = 0; v < words_.size(); ++v) {
    const auto at = std::lower_bound(labels.begin(), labels.end(), image.label[v]);
    if (at == labels.end() || *at != image.label[v]) continue;
    words_[v] |= static_cast<std::uint32_t>(at - labels.begin() + 1) << region::target_shift;
  }
}

region_words read_regions(const region_request& request, const tensor_source& tensors, nlohmann::json& provenance) {
  region_words words(tensors.image.inside);
  int number = 0;
  for (const std::string& path : request.excludes) {
    words.exclude(read_mask(path, tensors));
    provenance[fmt::format("exclude {}", ++number)] = fingerprint(path);
  }
  number = 0;
  for (const std::string& path : request.includes) {
    words.include(number, read_mask(path, tensors));
    provenance[fmt::format("include {}", ++number)] = fingerprint(path);
  }
  const bool connectome = !request.connectome.empty();
  const std::string& path = connectome ? request.connectome : request.targets;
  if (path.empty()) return words;
  const label_image image = read_labels(path, tensors.grid, label_kind::labels);
  check_labels(image, request.target_labels, "target-labels");
  words.targets(image, request.target_labels);
  provenance[connectome ? "connectome" : "targets"] = fingerprint(path);
  log_targets(words, path);
  return words;
}

}  // namespace voxherd
