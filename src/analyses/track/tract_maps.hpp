#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/run/known_result.hpp"
#include "src/analyses/track/sums.hpp"
#include "src/analyses/track/tally_output.hpp"

namespace voxherd {

// Of the maps that every run writes.
inline constexpr const char* density_meaning = "number of accepted streamlines that visit the voxel";
inline constexpr const char* accepted_meaning =
    "number of accepted streamlines that start in the voxel; 0 outside the seeds";

/// Adds the maps of one tract to a result. They are computed when they are written.
class tract_maps {
 public:
  /// `voxels`: of the maps, in the order of the result, as FSL numbers them. All arguments outlive the maps.
  tract_maps(const track_sums& sums, const track_inputs& in, std::size_t tract,
             const std::vector<std::uint64_t>& voxels, std::vector<known_output>& maps)
      : sums_(&sums), in_(&in), tract_(tract), voxels_(&voxels), maps_(&maps) {}

  const track_inputs& inputs() const { return *in_; }
  /// Whether the result has several tracts, whose names end those of its maps.
  bool is_named() const { return in_->has_tracts(); }
  /// Sums of an array by place.
  template <output_name Name>
  const std::vector<std::uint64_t>& sums() const {
    return sums_->values<Name>(tract_);
  }
  const track_sums& all_sums() const { return *sums_; }
  std::uint64_t accepted() const { return sums_->accepted(tract_); }

  /// Adds a map. `make()` is called when it is written: it returns what gives the value of a place, a number or an
  /// array of numbers.
  template <class Make>
  void add(const std::string& name, const std::string& unit, const std::string& meaning, Make make) const {
    known_output map = known_map(full_name(name), unit, full_meaning(meaning), [own = *this, make = std::move(make)] {
      const auto value = make();
      return own.list_values(value);
    });
    using value_type = std::decay_t<decltype(make()(std::size_t{}))>;
    if constexpr (!std::is_arithmetic_v<value_type>) map.spec.shape = {std::tuple_size_v<value_type>};
    maps_->push_back(std::move(map));
  }

  /// Adds a map of counts, in 32 bits while they cannot overflow, which more programs can read.
  template <class Make>
  void add_counts(const std::string& name, const std::string& meaning, Make make) const {
    if (in_->tracts[tract_].started > 0xffffffff) {
      add(name, "1", meaning, std::move(make));
    } else {
      add(name, "1", meaning, [make = std::move(make)] {
        return [value = make()](std::size_t place) { return static_cast<std::uint32_t>(value(place)); };
      });
    }
  }

  /// Numbers of the tract's seeds, added up in their places. `number`: of a seed.
  std::vector<std::uint64_t> add_in_places(const std::function<std::uint64_t(std::uint64_t seed)>& number) const;

 private:
  std::string full_name(const std::string& name) const;
  std::string full_meaning(const std::string& meaning) const;

  template <class Value>
  auto list_values(const Value& value) const {
    using value_type = std::decay_t<decltype(value(std::size_t{}))>;
    if constexpr (std::is_arithmetic_v<value_type>) {
      std::vector<value_type> all;
      all.reserve(voxels_->size());
      for (const std::uint64_t v : *voxels_) all.push_back(value(place(v)));
      return all;
    } else {
      std::vector<typename value_type::value_type> all;
      all.reserve(voxels_->size() * std::tuple_size_v<value_type>);
      for (const std::uint64_t v : *voxels_)
        for (const auto component : value(place(v))) all.push_back(component);
      return all;
    }
  }
  std::size_t place(std::uint64_t voxel) const { return static_cast<std::size_t>(in_->voxels[voxel].place); }

  const track_sums* sums_;
  const track_inputs* in_;
  std::size_t tract_;
  const std::vector<std::uint64_t>* voxels_;
  std::vector<known_output>* maps_;
};

/// Bytes of a number of a map of counts.
std::size_t count_bytes(const track_inputs& in);

/// 0 of nothing.
inline double share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

/// A number about the streamlines of a result: /streamlines/NAME.
constant streamline_number(const char* name, std::uint64_t value, const char* meaning);

}  // namespace voxherd
