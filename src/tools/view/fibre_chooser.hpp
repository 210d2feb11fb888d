#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/tools/view/fibre_choice.hpp"
#include "src/tools/view/fibre_groups.hpp"
#include "src/tools/view/touched_regions.hpp"

namespace voxherd::view {

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
