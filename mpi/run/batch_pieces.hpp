#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/analysis.hpp"
#include "core/pieces.hpp"

namespace voxherd {

/// Runs batches on one device; a batch that does not fit in its memory is run in pieces. Used by one thread.
class piecewise_runner {
 public:
  explicit piecewise_runner(analysis& a)
      : runner_(a.make_runner()), input_bytes_per_item_(a.input() == nullptr ? 0 : a.input()->bytes_per_item()) {}

  /// `outputs`: the batch's rows of each of `specs`; `point_offsets`: see analysis::point_offsets(). Throws
  /// device_out_of_memory if a single item does not fit.
  void run(const batch& items, std::span<const std::byte> input, std::span<const std::span<std::byte>> outputs,
           std::span<const output_spec> specs, std::span<const std::uint64_t> point_offsets);

 private:
  std::unique_ptr<batch_runner> runner_;
  std::size_t input_bytes_per_item_;
  pieces_that_fit pieces_;
};

}  // namespace voxherd
