#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/comm/session.hpp"
#include "src/analyses/perfusion/findings.hpp"
#include "src/analyses/perfusion/options.hpp"

namespace voxherd {

/// A dynamic series with its mask, T1 and input curves. The constructor is collective and checks everything, except
/// parts of compressed images that are decompressed later.
class perfusion_inputs final : public item_input {
 public:
  perfusion_inputs(const session& s, const perfusion_settings& o);
  ~perfusion_inputs() override;

  const image_grid& grid() const;
  const std::vector<std::uint64_t>& item_voxels() const;
  const perfusion_findings& findings() const;
  const item_regions& regions() const;  ///< without labels if there is no --regions
  nlohmann::json provenance() const;

  /// A row of frames and conversion::extras() for each item.
  std::size_t floats_per_item() const;
  std::size_t bytes_per_item() const override { return floats_per_item() * sizeof(float); }
  void load(const batch& items, std::span<std::byte> rows) override;
  std::uint64_t max_items() const override;
  std::uint64_t later_bytes() const override;
  void begin(std::uint64_t first, std::uint64_t last) override;
  bool is_ready() override;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace voxherd
