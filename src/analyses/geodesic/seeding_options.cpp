#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <cmath>

#include "core/option_values.hpp"
#include "src/analyses/geodesic/seeding.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"
#include "src/io/number_table.hpp"
#include "src/scan/label_image.hpp"

namespace voxherd {

namespace {

using option::refuse;
using option::refuse_given;

seed_list from_points(const std::string& path, const tensor_source& tensors) {
  const number_table table = read_number_table(path);
  if (table.columns != 3)
    throw failure(exit_status::bad_data, fmt::format("{}: line {}: found {} values, expected 3: x y z in world mm",
                                                     table.name, table.row_line.front(), table.columns));
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    if (!std::isfinite(table.values[i]))
      throw failure(exit_status::bad_data, fmt::format("{}: line {}: found {}, expected a finite number of mm",
                                                       table.name, table.row_line[i / 3], table.values[i]));
  }
  return seeds_at_points(table.values, tensors.image, tensors.grid);
}

seed_list from_image(const std::string& path, const seeding_settings& how, const tensor_source& tensors) {
  const label_image image = read_labels(path, tensors.grid, how.labels.empty() ? label_kind::mask : label_kind::labels);
  check_labels(image, how.labels, "seed-labels");
  const auto voxels = image.voxels_with(how.labels);
  const double per_voxel = how.kind == seeding_kind::grid ? std::pow(how.per_voxel, 3) : how.per_voxel;
  constexpr double most_seeds = 1e9;
  if (static_cast<double>(voxels.size()) * per_voxel > most_seeds)
    refuse(fmt::format("--seeds-per-voxel {}: {} voxels would have {:.3g} seeds, expected at most {:.0e}",
                       how.per_voxel, voxels.size(), static_cast<double>(voxels.size()) * per_voxel, most_seeds));
  return seeds_in_voxels(voxels, tensors.image, how);
}

}  // namespace

void add_seeding_options(po::options_description& options) {
  // clang-format off
  options.add_options()
    ("seed-points", po::value<std::string>()->value_name("FILE"), "text: a seed a line, x y z in world mm (RAS+)")
    ("seed-image", po::value<std::string>()->value_name("FILE"), "mask or parcellation whose voxels are seeded")
    ("seed-labels", po::value<std::string>()->value_name("LIST"), "labels of --seed-image, as 3,17; without it all above 0")
    ("seeding", po::value<std::string>()->default_value("center"), "center | random | grid: where in a voxel")
    ("seeds-per-voxel", po::value<long long>()->default_value(1), "random: 1 to 1000000; grid: along each axis, 1 to 100");
  // clang-format on
}

seeding_settings read_seeding_options(const arguments& args) {
  if (!args.has("seed-points") && !args.has("seed-image"))
    refuse("neither --seed-points nor --seed-image is given: a text file of x y z, or a mask or parcellation");
  if (args.has("seed-points") && args.has("seed-image"))
    refuse("--seed-points and --seed-image exclude each other; give one");
  seeding_settings how;
  how.kind = option::word<seeding_kind>(
      args, "seeding",
      {{"center", seeding_kind::center}, {"random", seeding_kind::random}, {"grid", seeding_kind::grid}});
  how.random_seed = static_cast<std::uint64_t>(args.get<long long>("seed"));
  if (args.has("seed-points")) {
    for (const char* name : {"seed-labels", "seeding", "seeds-per-voxel"})
      refuse_given(args, name, "with --seed-points");
    return how;
  }
  how.per_voxel = static_cast<std::uint32_t>(
      option::integer(args, "seeds-per-voxel", 1, how.kind == seeding_kind::grid ? 100 : 1'000'000));
  if (how.kind == seeding_kind::center && how.per_voxel > 1)
    refuse(fmt::format("--seeds-per-voxel {}: a voxel has one center; give --seeding random or grid", how.per_voxel));
  if (args.has("seed-labels")) how.labels = parse_labels(args.get<std::string>("seed-labels"), "seed-labels");
  return how;
}

std::vector<geodesic::seed> read_seeds(const arguments& args, const seeding_settings& how, const tensor_source& tensors,
                                       nlohmann::json& provenance) {
  const bool points = args.has("seed-points");
  const char* option_name = points ? "seed-points" : "seed-image";
  const auto& path = args.get<std::string>(option_name);
  seed_list list = points ? from_points(path, tensors) : from_image(path, how, tensors);
  provenance[option_name] = fingerprint(path);
  const std::size_t asked = list.seeds.size() + list.outside;
  if (list.seeds.empty())
    throw failure(exit_status::bad_data, fmt::format("{}: none of {} seeds lies where there is a tensor; is it in "
                                                     "world mm (RAS+), and of this subject?",
                                                     printable(path), asked));
  if (list.outside > 0)
    spdlog::info("{}: {} of {} seeds lie where there is no tensor; left out", printable(path), list.outside, asked);
  return std::move(list.seeds);
}

void add_to_configuration(const seeding_settings& how, const arguments& args, nlohmann::json& configuration) {
  if (args.has("seed-points")) return;
  configuration["seeding"] = args.get<std::string>("seeding");
  configuration["seeds-per-voxel"] = how.per_voxel;
  configuration["seed-labels"] = how.labels;
}

}  // namespace voxherd
