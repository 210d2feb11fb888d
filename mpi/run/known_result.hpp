#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "mpi/run/run.hpp"

namespace voxherd {

/// An output whose values are known: one row per item.
struct known_output {
  output_spec spec;
  std::vector<std::byte> values;
};

template <class T>
known_output known_map(std::string name, const std::vector<T>& values, std::string unit, std::string meaning) {
  known_output o{
      {std::move(name), element_type_of<T>(), {}, output_layout::volume, std::move(unit), std::move(meaning)},
      std::vector<std::byte>(values.size() * sizeof(T))};
  std::memcpy(o.values.data(), values.data(), o.values.size());
  return o;
}

/// A result that rank 0 knows: nothing is left to compute.
struct known_result {
  std::string analysis;
  image_grid grid;                             ///< this and `item_voxels` are the same on every rank
  std::span<const std::uint64_t> item_voxels;  ///< voxels of the items, see analysis::item_voxels()
  std::vector<known_output> outputs;           ///< used only on rank 0
  std::vector<constant> constants;             ///< used only on rank 0
};

/// Writes it into settings.out, from rank 0's memory. Collective; returns and throws as run_step() does.
exit_status write_known(const session& s, const known_result& known, const run_settings& settings,
                        const device_hooks& device, const step_context& step = {});

}  // namespace voxherd
