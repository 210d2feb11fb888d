#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis.hpp"

namespace voxherd::toy {

/// An analysis that is `inner` in everything but its runners. `inner` outlives it.
class forwarded_analysis : public voxherd::analysis {
 public:
  explicit forwarded_analysis(voxherd::analysis& inner) : inner_(inner) {}

  std::string name() const override { return inner_.name(); }
  const image_grid& grid() const override { return inner_.grid(); }
  const std::vector<std::uint64_t>& item_voxels() const override { return inner_.item_voxels(); }
  std::vector<output_spec> outputs() const override { return inner_.outputs(); }
  std::vector<constant> constants() const override { return inner_.constants(); }
  std::vector<std::uint64_t> point_offsets() const override { return inner_.point_offsets(); }
  std::unique_ptr<item_counts> make_counts() const override { return inner_.make_counts(); }
  bool may_be_empty() const override { return inner_.may_be_empty(); }
  item_input* input() override { return inner_.input(); }
  input_layout reads() const override { return inner_.reads(); }
  std::size_t device_bytes_per_item() const override { return inner_.device_bytes_per_item(); }
  std::unique_ptr<batch_runner> make_runner() const override { return inner_.make_runner(); }
  int lanes() const override { return inner_.lanes(); }
  std::uint64_t max_items_per_batch() const override { return inner_.max_items_per_batch(); }
  std::uint64_t min_items_per_batch() const override { return inner_.min_items_per_batch(); }
  std::uint64_t last_items_per_batch() const override { return inner_.last_items_per_batch(); }

 protected:
  voxherd::analysis& inner() const { return inner_; }

 private:
  voxherd::analysis& inner_;
};

}  // namespace voxherd::toy
