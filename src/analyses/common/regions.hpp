#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "core/options.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/run/run_types.hpp"

namespace voxherd {

/// Regions of an image for tables of an analysis's maps; "" for none.
struct item_region_request {
  std::string labels, names;  ///< files
};

const option_table<item_region_request>& item_region_options();

/// The label of each item, 0 for none; names by label; the files' fingerprints.
struct item_regions {
  std::vector<double> labels;
  nlohmann::json names, files;

  static constexpr auto members() {
    return std::tuple(&item_regions::labels, &item_regions::names, &item_regions::files);
  }
};

/// Reads them on one rank. Throws failure (missing_input, bad_data): no item has a label.
item_regions read_item_regions(const item_region_request& request, const image_grid& grid,
                               const std::vector<std::uint64_t>& item_voxels);

/// The constant with the label of each item. Names become configuration, the files inputs. Empty without regions.
std::vector<constant> add_item_regions(const item_regions& regions, run_settings& how);

/// The same of what rank 0 reads for all ranks; empty without --regions. Collective.
std::vector<constant> share_item_regions(const session& s, const item_region_request& request, const image_grid& grid,
                                         const std::vector<std::uint64_t>& item_voxels, run_settings& how);

}  // namespace voxherd
