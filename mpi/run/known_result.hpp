#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpi/result/known_file.hpp"
#include "mpi/run/run.hpp"

namespace voxherd {

/// An output whose values are known: one row per item, made when they are written.
struct known_output {
  output_spec spec;
  known_file::rows_of_output rows;
};

/// `make`: returns a vector with the values of all items.
template <class Make>
known_output known_map(std::string name, std::string unit, std::string meaning, Make make) {
  using value = typename std::invoke_result_t<Make>::value_type;
  // Part by part: if a member of an aggregate throws, g++ 12 destroys those of an aggregate within it twice.
  known_output o;
  o.spec = {std::move(name), element_type_of<value>(), {}, output_layout::volume, std::move(unit), std::move(meaning)};
  o.rows = [make = std::move(make)] {
    const std::vector<value> values = make();
    std::vector<std::byte> bytes(values.size() * sizeof(value));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  };
  return o;
}

/// The same of values that are there.
template <class T>
known_output known_map(std::string name, const std::vector<T>& values, std::string unit, std::string meaning) {
  return known_map(std::move(name), std::move(unit), std::move(meaning), [values] { return values; });
}

/// A result that rank 0 knows: nothing is left to compute.
struct known_result {
  std::string analysis;
  image_grid grid;                             ///< this and `item_voxels` are the same on every rank
  std::span<const std::uint64_t> item_voxels;  ///< voxels of the items, see analysis::item_voxels()
  std::vector<known_output> outputs;           ///< used only on rank 0
  std::vector<constant> constants;             ///< used only on rank 0
};

/// What a known result takes, for the estimate of a dry run, which does not know it yet.
struct known_size {
  double memory_bytes = 0;  ///< on rank 0, while it is written
  double file_bytes = 0;    ///< before it is compressed
};

/// Of maps with `bytes_per_voxel` in all, the largest of which has rows of `largest_bytes`.
known_size size_of_maps(const image_grid& grid, std::uint64_t items, double bytes_per_voxel, double largest_bytes);

/// Writes it into settings.out, from rank 0's memory, compressed. A run that is stopped meanwhile leaves nothing of it.
/// Collective; returns and throws as run_step() does.
exit_status write_known(const session& s, const known_result& known, const run_settings& settings,
                        const device_hooks& device, const step_context& step = {});

}  // namespace voxherd
