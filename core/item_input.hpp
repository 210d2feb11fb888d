#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "core/batch.hpp"

namespace voxherd {

/// Input that may be read in the background, one range of consecutive items (a stage) at a time: the first while the
/// run is set up, each further one while the previous one is computed. At most two stages are in memory. The default
/// functions are those of an input that is available immediately.
class staged_input {
 public:
  static constexpr std::uint64_t all_items = std::numeric_limits<std::uint64_t>::max();

  virtual ~staged_input() = default;

  /// Largest stage; at least 1, the same on every rank.
  virtual std::uint64_t max_items() const { return all_items; }
  /// Memory of a node for the stages after the first, in bytes; 0 if there is one stage for all items.
  virtual std::uint64_t later_bytes() const { return 0; }

  /// Starts reading items [first, last), unless the latest stage has them. Replaces the stage before the latest, which
  /// no rank may read any more. Called on every rank, in the same order.
  virtual void begin(std::uint64_t /*first*/, std::uint64_t /*last*/) {}
  /// Whether the latest stage has arrived, so that its items can be read. Does not wait. Throws failure (bad_data,
  /// disk) on the rank that read it.
  virtual bool is_ready() { return true; }
};

/// The input of an analysis: bytes of each item.
class item_input : public staged_input {
 public:
  virtual std::size_t bytes_per_item() const = 0;
  /// Fills `rows` with item_count * bytes_per_item() bytes. Called by the main thread while the device computes, for
  /// items of a stage that is ready.
  virtual void load(const batch& items, std::span<std::byte> rows) = 0;
};

}  // namespace voxherd
