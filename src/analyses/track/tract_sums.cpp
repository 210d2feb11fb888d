#include <spdlog/spdlog.h>

#include <fmt/core.h>

#include "core/readable.hpp"
#include "src/analyses/track/tracts.hpp"

namespace voxherd {

namespace {

double share(double part, double all) { return all > 0 ? part / all : 0; }

template <class T>
void add_row(const std::vector<T>& row, std::vector<std::uint64_t>& to) {
  for (std::size_t i = 0; i < row.size(); ++i) to[i] += row[i];
}

void log_tract(const std::string& name, std::uint64_t accepted, std::uint64_t started) {
  spdlog::info("{}: {} of {} accepted ({:.3g} %)", name, accepted, counted(started, "streamline"),
               100 * share(static_cast<double>(accepted), static_cast<double>(started)));
  if (accepted == 0) spdlog::warn("{}: no streamline was accepted; its maps are 0", name);
}

}  // namespace

tract_sums add_tract_groups(const result_reader& groups, const tract_inputs& in) {
  const std::size_t tracts = in.names.size(), places = in.field.place_voxels.size();
  tract_sums sums;
  sums.density.assign(tracts, std::vector<std::uint64_t>(places));
  sums.length.assign(in.field.lengths ? tracts : 0, std::vector<std::uint64_t>(places));
  sums.accepted.resize(tracts);
  sums.started.resize(tracts);
  for (const tract_run& run : in.runs) sums.started[run.tract] += run.plan.streamlines();
  for (std::uint64_t g = 0; g < in.groups(); ++g) {
    const std::size_t tract = in.run_with(g).tract;
    add_row(groups.read_rows<std::uint32_t>("density", g, 1), sums.density[tract]);
    if (in.field.lengths) add_row(groups.read_rows<std::uint64_t>("length", g, 1), sums.length[tract]);
    sums.accepted[tract] += groups.read_rows<std::uint64_t>("accepted", g, 1).front();
    sums.walked += groups.read_rows<std::uint64_t>("walked", g, 1).front();
  }
  for (std::size_t t = 0; t < tracts; ++t) log_tract(in.names[t], sums.accepted[t], sums.started[t]);
  return sums;
}

std::vector<known_output> make_tract_maps(const tract_sums& sums, const tract_inputs& in,
                                          const std::vector<std::uint64_t>& voxels) {
  std::vector<known_output> maps;
  for (std::size_t t = 0; t < in.names.size(); ++t) {
    const std::string& name = in.names[t];
    std::vector<std::uint64_t> density;
    std::vector<float> normalised, mean_length;
    for (const std::uint64_t v : voxels) {
      const auto place = static_cast<std::size_t>(in.field.voxels[v].place);
      const std::uint64_t count = sums.density[t][place];
      density.push_back(count);
      normalised.push_back(
          static_cast<float>(share(static_cast<double>(count), static_cast<double>(sums.accepted[t]))));
      if (in.field.lengths)
        mean_length.push_back(static_cast<float>(
            share(static_cast<double>(sums.length[t][place]), static_cast<double>(count)) * in.field.step_mm));
    }
    const std::string meaning = fmt::format("{}: accepted streamlines that visit the voxel, each counted once", name);
    if (sums.started[t] > 0xffffffff) {
      maps.push_back(known_map("density_" + name, density, "1", meaning));
    } else {
      maps.push_back(
          known_map("density_" + name, std::vector<std::uint32_t>(density.begin(), density.end()), "1", meaning));
    }
    maps.push_back(known_map("normalised_" + name, normalised, "1", name + ": density divided by its waytotal"));
    if (in.field.lengths)
      maps.push_back(known_map("mean_length_" + name, mean_length, "mm",
                               name + ": mean length of their paths from the seed to the first point in the voxel"));
  }
  return maps;
}

std::vector<constant> make_tract_constants(const tract_sums& sums, const tract_inputs& in) {
  const auto numbers = [&](const char* name, const std::vector<std::uint64_t>& values, const char* meaning) {
    return constant{name, {in.names.size()}, {values.begin(), values.end()}, "1", meaning, "tracts"};
  };
  return {numbers("started", sums.started, "streamlines of each tract, in the order of the maps"),
          numbers("waytotal", sums.accepted, "accepted streamlines of each tract"),
          {"steps", {1}, {static_cast<double>(sums.walked)}, "1", "steps of all streamlines", "streamlines"}};
}

}  // namespace voxherd
