#include "src/analyses/track/tract_maps.hpp"

#include <algorithm>

namespace voxherd {

std::size_t count_bytes(const track_inputs& in) {
  const auto has_many = [](const track_tract& tract) { return tract.started > 0xffffffff; };
  return std::any_of(in.tracts.begin(), in.tracts.end(), has_many) ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
}

constant streamline_number(const char* name, std::uint64_t value, const char* meaning) {
  return {name, {1}, {static_cast<double>(value)}, "1", meaning, "streamlines"};
}

std::vector<std::uint64_t> tract_maps::add_in_places(
    const std::function<std::uint64_t(std::uint64_t seed)>& number) const {
  std::vector<std::uint64_t> sums(in_->place_voxels.size());
  for (const track_draw& draw : in_->draws) {
    if (draw.tract != tract_) continue;
    for (std::size_t i = 0; i < draw.seeds.size(); ++i) {
      const std::uint64_t seed = draw.first_seed + i;
      if (in_->is_vertex(seed)) continue;
      const std::int32_t at = in_->voxels[draw.seeds[i].index].place;
      if (at >= 0) sums[static_cast<std::size_t>(at)] += number(seed);
    }
  }
  return sums;
}

std::string tract_maps::full_name(const std::string& name) const {
  return is_named() ? name + "_" + in_->tracts[tract_].name : name;
}

std::string tract_maps::full_meaning(const std::string& meaning) const {
  return is_named() ? in_->tracts[tract_].name + ": " + meaning : meaning;
}

}  // namespace voxherd
