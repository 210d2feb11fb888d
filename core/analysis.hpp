#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "core/input_layout.hpp"
#include "core/outputs.hpp"

namespace voxherd {

/// The image grid of volumes. Index order in memory: x fastest, as in NIfTI.
struct image_grid {
  std::array<std::uint64_t, 3> size{};      ///< nx, ny, nz
  std::array<double, 16> voxel_to_world{};  ///< row-major 4x4, mm, RAS+
  std::array<double, 3> voxel_size_mm{1, 1, 1};

  static constexpr auto members() {
    return std::tuple(&image_grid::size, &image_grid::voxel_to_world, &image_grid::voxel_size_mm);
  }
  std::uint64_t voxel_count() const { return size[0] * size[1] * size[2]; }
};

/// A small array known before the run (b-values, gradient directions, a connectome): /GROUP/NAME.
struct constant {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::vector<double> values;
  std::string unit;
  std::string meaning;
  std::string group = "inputs";
};

/// Counts over all items of a result, made while its batches are written, e.g. how many items have which status code.
class item_counts {
 public:
  virtual ~item_counts() = default;
  /// Adds a batch's outputs, as in batch_runner::run(), to `counts`.
  virtual void add(std::uint64_t item_count, std::span<const std::span<const std::byte>> outputs) = 0;
  /// Reports the counts, which are then those of all ranks. On rank 0.
  virtual void report(std::uint64_t items) const = 0;

  std::vector<std::uint64_t> counts;
};

/// A run of consecutive items. Numbered only from the input, never from the number of ranks.
struct batch {
  std::uint64_t number = 0;
  std::uint64_t first_item = 0;
  std::uint64_t item_count = 0;
};

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
  /// The same in columns. Only for inputs whose values are floats.
  virtual void load_columns(const batch& /*items*/, std::span<std::byte> /*columns*/) {
    throw std::logic_error("an analysis reads this input in columns, but it has no load_columns()");
  }
};

/// Computes batches on one device, one at a time. Owns its scratch memory; used by one thread.
class batch_runner {
 public:
  virtual ~batch_runner() = default;

  /// `input` holds the batch's items as load_input() loaded them; `outputs[i]` has room for item_count items of
  /// outputs()[i], or for exactly the batch's points. Throws device_out_of_memory if the batch does not fit in device
  /// memory: the run then calls release_memory() and processes the batch in halves.
  virtual void run(const batch& items, std::span<const std::byte> input,
                   std::span<const std::span<std::byte>> outputs) = 0;

  /// Frees the device memory that run() keeps from one batch to the next.
  virtual void release_memory() {}
};

inline constexpr int no_rank = -1;

/// Interface of an analysis; the run (plan, queue, files, progress) is shared. An analysis knows no result files, and
/// of ranks only which of them hold parts of items.
class analysis {
 public:
  virtual ~analysis() = default;

  virtual std::string name() const = 0;
  virtual const image_grid& grid() const = 0;
  /// For each item the linear index of its voxel. Items are numbered by their position here. Increasing if any output
  /// is a volume; if the list ever decreases, the plan cannot be by slices and is by items.
  virtual const std::vector<std::uint64_t>& item_voxels() const = 0;
  virtual std::vector<output_spec> outputs() const = 0;
  virtual std::vector<constant> constants() const { return {}; }
  /// Item i has rows [offsets[i], offsets[i + 1]) of the outputs laid out as points; empty if there are none.
  /// A float32 output `position` of three numbers (world mm) makes the file's /VTKHDF a set of poly-lines.
  virtual std::vector<std::uint64_t> point_offsets() const { return {}; }

  /// What to count over the result; null for nothing.
  virtual std::unique_ptr<item_counts> make_counts() const { return nullptr; }

  /// Whether a result without items is valid (no connection was found; a mask of FSL's is empty) rather than an error.
  /// Its volumes are zero.
  virtual bool may_be_empty() const { return false; }

  /// What each batch is computed from; null if the analysis reads nothing item by item.
  virtual item_input* input() { return nullptr; }
  /// How its runners read the input.
  virtual input_layout reads() const { return input_layout::rows; }
  /// Device memory per item of a batch; determines the batch size.
  virtual std::size_t device_bytes_per_item() const = 0;

  /// Called once by each device thread, after use_device().
  virtual std::unique_ptr<batch_runner> make_runner() const = 0;

  /// Device threads that keep the device full: two on a GPU let one batch's tail overlap the next one's start.
  virtual int lanes() const { return 1; }

  /// Maximum items per batch on a GPU, up to 1 << 20, if memory allows and the user sets no batch size. On CPU ranks
  /// the maximum is 8192, or a 16th of this if that is more. A value below 128 means that items are large: batches then
  /// have few items.
  virtual std::uint64_t max_items_per_batch() const { return 32768; }

  /// Minimum items per batch on a GPU, if there are that many items and the user sets no batch size.
  virtual std::uint64_t min_items_per_batch() const { return 8192; }

  /// Items of the last batches on a GPU with dynamic scheduling: small, so that ranks finish together, but large enough
  /// that two of them, in two lanes, fill the GPU.
  virtual std::uint64_t last_items_per_batch() const { return min_items_per_batch() / 2; }

  /// For items so large, or of so much work, that a dry run computes only a part of them: into how many parts of about
  /// equal work an item can be divided. 0: a dry run computes whole items.
  virtual std::uint64_t parts_of_item(std::uint64_t /*item*/) const { return 0; }
  /// Of items with parts: whether a device computes many items at once, each of them alone. A dry run then takes as
  /// many as of other analyses, and begins with one part of each; otherwise it takes parts of one item.
  virtual bool are_computed_side_by_side() const { return false; }
  /// As make_runner(), but only so many parts of each item are computed.
  virtual std::unique_ptr<batch_runner> make_probe(std::uint64_t /*parts*/) const { return make_runner(); }

  /// For each item the rank that holds what the item needs, because an earlier step of the command computed it there,
  /// or no_rank; empty if no rank holds any. The same on every rank.
  virtual std::vector<int> holders() const { return {}; }
};

/// Loads a batch of the analysis's input, if it has one, in the layout in which its runners read it.
inline void load_input(analysis& a, const batch& items, std::span<std::byte> to) {
  item_input* const input = a.input();
  if (input == nullptr) return;
  if (a.reads() == input_layout::columns) {
    input->load_columns(items, to);
  } else {
    input->load(items, to);
  }
}

}  // namespace voxherd
