#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/result/result_reader.hpp"

namespace voxherd {

/// Counts fitted voxels and, by reason, the others: the codes of the output `status`.
class status_counts : public item_counts {
 public:
  static constexpr std::size_t codes = 256;

  explicit status_counts(const std::vector<output_spec>& outputs);
  void add(std::uint64_t item_count, std::span<const std::span<const std::byte>> outputs) override;
  void report(std::uint64_t items) const override;  ///< to the log

 private:
  std::size_t status_;  ///< index of the output
};

/// "251 of 190506 voxels: negative mean diffusivity, not physical (status 10); ...": one line of the log and of `info`.
std::string describe_status(std::size_t code, std::uint64_t count, std::uint64_t items);

/// What the items of a result are, in the singular: "voxel", "path", or "row".
std::string item_name(const result_reader& result);
/// "190506 voxels in the mask"; of maps that have more, as those of track: "37622 voxels in the mask (47538 with their
/// neighbours)"; "812 paths with 30411 points".
std::string describe_items(const result_reader& result);

/// Whether a result has a map of status codes.
bool has_status_map(const result_reader& result);

/// How many voxels have each code, as the run counted them; empty if it did not. Counts beyond
/// the codes are an analysis's own.
std::map<std::size_t, std::uint64_t> stored_status_counts(const result_reader& result);

/// How many of these voxels have each code of the result's map `status`.
std::map<std::size_t, std::uint64_t> count_status(const result_reader& result, std::span<const std::uint64_t> voxels);

/// Index of the output of that name. Throws failure (internal_error) if there is none.
std::size_t output_index(const std::vector<output_spec>& outputs, const std::string& name);

}  // namespace voxherd
