#include "mpi/run/batch_pieces.hpp"

#include "mpi/result/batch_rows.hpp"

namespace voxherd {

namespace {

/// The rows of `piece` within the rows of its batch.
std::vector<std::span<std::byte>> piece_rows(const batch& piece, const batch& items,
                                             std::span<const std::span<std::byte>> outputs,
                                             std::span<const output_spec> specs,
                                             std::span<const std::uint64_t> point_offsets) {
  std::vector<std::span<std::byte>> rows;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::size_t bytes = specs[i].bytes_per_item();
    const row_range own = batch_rows(piece, specs[i].layout, point_offsets);
    const std::uint64_t before = own.first - batch_rows(items, specs[i].layout, point_offsets).first;
    rows.push_back(outputs[i].subspan(before * bytes, own.count * bytes));
  }
  return rows;
}

}  // namespace

void piecewise_runner::run(const batch& items, std::span<const std::byte> input,
                           std::span<const std::span<std::byte>> outputs, std::span<const output_spec> specs,
                           std::span<const std::uint64_t> point_offsets) {
  const auto run_piece = [&](std::uint64_t first, std::uint64_t count) {
    const batch piece{items.number, items.first_item + first, count};
    runner_->run(piece, input.subspan(first * input_bytes_per_item_, count * input_bytes_per_item_),
                 piece_rows(piece, items, outputs, specs, point_offsets));
  };
  pieces_.run(items.item_count, run_piece, [&] { runner_->release_memory(); });
}

}  // namespace voxherd
