#include "src/analyses/geodesic/regions.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/option_values.hpp"
#include "kernels/tensor_field/field.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

namespace region = geodesic::region;
using option::refuse;
using option::refuse_given;

using paths = std::vector<std::string>;

paths paths_of(const arguments& args, const char* name) { return args.has(name) ? args.get<paths>(name) : paths{}; }

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
      "{}: {} target regions in {} voxels; {} of the voxels have no tensor, {} of the regions have none in any "
      "of theirs",
      printable(path), count, voxels, beyond, never);
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

void add_region_options(po::options_description& options) {
  // clang-format off
  options.add_options()
    ("exclude", po::value<paths>()->value_name("FILE"), "mask that no fibre may touch; may be given again")
    ("include", po::value<paths>()->value_name("FILE"), "mask that each fibre must touch; may be given again, up to 14 times")
    ("ordered", po::bool_switch(), "in the order of the --include options; one-way rays")
    ("targets", po::value<std::string>()->value_name("FILE"), "mask or parcellation: rays end in it, fibres must reach it")
    ("target-labels", po::value<std::string>()->value_name("LIST"), "labels of --targets, as 3,17; without it all above 0")
    ("connectome", po::value<std::string>()->value_name("FILE"),
     "parcellation: all labels are targets, fibres run both ways, matrices between the labels are written");
  // clang-format on
}

region_settings read_region_options(const arguments& args) {
  region_settings r;
  r.excludes = paths_of(args, "exclude");
  r.includes = paths_of(args, "include");
  if (r.includes.size() > static_cast<std::size_t>(region::max_includes))
    refuse(fmt::format("--include is given {} times, expected at most {}", r.includes.size(), region::max_includes));
  r.ordered = args.get<bool>("ordered");
  if (r.ordered && r.includes.size() < 2)
    refuse(fmt::format("--ordered has no meaning with {} --include; give at least two", r.includes.size()));
  if (args.has("connectome")) {
    for (const char* name : {"targets", "target-labels"})
      refuse_given(args, name, "with --connectome, whose labels are all targets");
    r.targets = args.get<std::string>("connectome");
    r.connectome = true;
  } else if (args.has("targets")) {
    r.targets = args.get<std::string>("targets");
    if (args.has("target-labels"))
      r.target_labels = parse_labels(args.get<std::string>("target-labels"), "target-labels");
  } else {
    refuse_given(args, "target-labels", "without --targets");
  }
  return r;
}

region_words read_regions(const region_settings& settings, const tensor_source& tensors, nlohmann::json& provenance) {
  region_words words(tensors.image.inside);
  int number = 0;
  for (const std::string& path : settings.excludes) {
    words.exclude(read_mask(path, tensors));
    provenance[fmt::format("exclude {}", ++number)] = fingerprint(path);
  }
  number = 0;
  for (const std::string& path : settings.includes) {
    words.include(number, read_mask(path, tensors));
    provenance[fmt::format("include {}", ++number)] = fingerprint(path);
  }
  if (settings.targets.empty()) return words;
  const label_image image = read_labels(settings.targets, tensors.grid, label_kind::labels);
  check_labels(image, settings.target_labels, "target-labels");
  words.targets(image, settings.target_labels);
  provenance[settings.connectome ? "connectome" : "targets"] = fingerprint(settings.targets);
  log_targets(words, settings.targets);
  return words;
}

void add_to_configuration(const region_settings& settings, nlohmann::json& configuration) {
  configuration["ordered"] = settings.ordered;
  configuration["target-labels"] = settings.target_labels;
  configuration["connectome"] = settings.connectome;
}

}  // namespace voxherd
