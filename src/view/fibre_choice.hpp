#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/result/result_reader.hpp"
#include "src/scan/label_image.hpp"

namespace voxherd::view {

/// Largest number of groups of a grouping; rarer groups are joined in one more.
inline constexpr std::uint32_t max_fibre_groups = 1000;

/// The fibres of a result in groups that can be switched on and off. A fibre is in one or more groups: a streamline may
/// reach several regions.
struct fibre_grouping {
  std::string name;
  std::vector<std::string> group;                    ///< names, the group with the most fibres first
  std::vector<std::uint64_t> fibres;                 ///< number in each group
  std::vector<std::vector<std::uint32_t>> of_fibre;  ///< groups of each of `items`
};

/// Groups paths by pair of regions and by the region where they start, if the result has them. `names`: names of
/// labels, where known.
std::vector<fibre_grouping> group_fibres(const result_reader& r, const std::vector<std::uint64_t>& items,
                                         const std::map<std::int32_t, std::string>& names);

/// Names of groupings and groups, and the number of fibres of each group.
nlohmann::json describe_groupings(const std::vector<fibre_grouping>& groupings);

/// Which of a result's fibres the page asks for.
struct fibre_choice {
  std::uint64_t count = 0;                  ///< at most so many, evenly spread; 0: all
  std::vector<std::int32_t> include;        ///< labels of regions that a fibre touches, all of them
  std::vector<std::int32_t> exclude;        ///< labels of regions that it does not touch
  std::optional<std::uint64_t> grouping;    ///< its number
  std::vector<std::uint32_t> hidden;        ///< groups of that grouping that are off
  std::string measure;                      ///< "": any value of any measure
  std::optional<double> at_least, at_most;  ///< values of the measure
};

/// From the JSON that the page sends. Throws failure (usage) for anything else.
fibre_choice parse_fibre_choice(std::string_view json);

/// The labels of the voxels that each fibre of a result passes.
class touched_regions {
 public:
  /// Reads all points. `regions`: on the result's grid.
  touched_regions(const result_reader& r, const label_image& regions);

  /// Increasing, without 0.
  std::span<const std::int32_t> of_fibre(std::uint64_t item) const {
    return std::span(labels_).subspan(first_[item], first_[item + 1] - first_[item]);
  }

 private:
  std::vector<std::uint64_t> first_{0};
  std::vector<std::int32_t> labels_;
};

/// Finds the fibres of a result that a choice means. For one thread.
class fibre_chooser {
 public:
  /// `regions` may be null. Both, if given, must outlive this. `names`: of labels, where known.
  fibre_chooser(const result_reader& r, const label_image* regions, const std::map<std::int32_t, std::string>& names);

  const std::vector<fibre_grouping>& groupings() const { return groupings_; }
  /// All finished fibres that can be drawn.
  const std::vector<std::uint64_t>& fibres() const { return fibres_; }
  /// Those that pass the choice, however many. Reads all points at the first choice of regions. Throws failure (usage)
  /// for regions, groups or measures that the result does not have.
  std::vector<std::uint64_t> choose(const fibre_choice& choice);

 private:
  bool passes_regions(std::uint64_t item, const fibre_choice& choice) const;
  void check_regions(const fibre_choice& choice) const;
  void keep_measured(const fibre_choice& choice, std::vector<std::uint64_t>& items) const;

  const result_reader& result_;
  const label_image* regions_;
  std::vector<std::uint64_t> fibres_;
  std::vector<fibre_grouping> groupings_;
  std::optional<touched_regions> touched_;
};

}  // namespace voxherd::view
