#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/comm/session.hpp"
#include "src/analyses/connect/inputs.hpp"

namespace voxherd {

/// A map that is known: its values at every voxel.
struct voxel_map {
  output_spec spec;
  std::vector<std::byte> values;
};

template <class T>
voxel_map map_of(std::string name, const std::vector<T>& values, std::string unit, std::string meaning) {
  voxel_map m{{std::move(name), element_type_of<T>(), {}, output_layout::volume, std::move(unit), std::move(meaning)},
              std::vector<std::byte>(values.size() * sizeof(T))};
  std::memcpy(m.values.data(), values.data(), m.values.size());
  return m;
}

/// What rank 0 has found out, to be written: maps and constants. The last step of `voxherd connect`.
struct findings {
  std::vector<voxel_map> maps;
  std::vector<constant> constants;

  void share(const session& s);  ///< rank 0's to all; collective
};

/// Writes findings. Items are the voxels that fronts may pass.
class connect_maps final : public analysis {
 public:
  connect_maps(const connect_inputs& inputs, const findings& found) : inputs_(inputs), found_(found) {}

  std::string name() const override { return "connect"; }
  const image_grid& grid() const override { return inputs_.grid; }
  const std::vector<std::uint64_t>& item_voxels() const override { return inputs_.voxels; }
  std::vector<output_spec> outputs() const override;
  std::vector<constant> constants() const override { return found_.constants; }
  std::size_t input_bytes_per_item() const override { return 0; }
  std::size_t device_bytes_per_item() const override { return 1; }
  void load(const batch&, std::span<std::byte>) override {}
  std::unique_ptr<batch_runner> make_runner() const override;

 private:
  const connect_inputs& inputs_;
  const findings& found_;
};

}  // namespace voxherd
