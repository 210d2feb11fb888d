#include "src/scan/host_memory.hpp"

#include <algorithm>

#include "core/option_values.hpp"
#include "mpi/run/staged_input.hpp"
#include "src/scan/stored_rows.hpp"
#include "src/scan/voxel_rows.hpp"

namespace voxherd {

namespace {

constexpr double standard_gb = 2.5;
constexpr double turned_bytes = 3 * 64;  // per voxel and file, during the transpose to rows (row_inflater)

}  // namespace

void add_host_memory_option(po::options_description& options) {
  options.add_options()("host-memory", option::real(standard_gb, "2.5")->value_name("GB"),
                        "what compressed images may take of a node's memory, 0.000001 to 1000000; above it they are "
                        "read in several passes");
}

std::uint64_t host_memory_bytes(const arguments& args) {
  if (args.values.count("host-memory") == 0) return static_cast<std::uint64_t>(standard_gb * 1e9);
  return static_cast<std::uint64_t>(option::number(args, "host-memory", 1e-6, 1e6) * 1e9);
}

std::uint64_t items_within(std::uint64_t bytes, const std::vector<std::vector<nifti_header>>& series,
                           std::uint64_t items) {
  double a_row = 0, turned = 0;
  for (const auto& files : series) {
    if (!is_compressed(files)) continue;
    a_row += stored_rows::bytes_per_voxel(files);
    turned += turned_bytes * static_cast<double>(std::min(max_files_at_once, files.size()));
  }
  const auto limit = static_cast<double>(bytes);
  if (static_cast<double>(items) * (a_row + turned) <= limit) return staged_input::all_items;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(limit / (2 * a_row + turned)));
}

}  // namespace voxherd
