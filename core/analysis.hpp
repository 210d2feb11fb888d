#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "core/item_input.hpp"
#include "core/outputs.hpp"

namespace voxherd {

/// The image grid that volumes lie on. Index order in memory: x fastest, as in NIfTI.
struct image_grid {
  std::array<std::uint64_t, 3> size{};      ///< nx, ny, nz
  std::array<double, 16> voxel_to_world{};  ///< row-major 4x4, mm, RAS+
  std::array<double, 3> voxel_size_mm{1, 1, 1};
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

/// Computes batches on one device, one at a time. Owns its scratch memory; used by one thread.
class batch_runner {
 public:
  virtual ~batch_runner() = default;

  /// `input` holds the batch's rows as analysis::input() loaded them; `outputs[i]` has room for item_count items of
  /// outputs()[i], or for exactly the batch's points. Throws device_out_of_memory if the batch does not fit in device
  /// memory: the run then calls release_memory() and processes the batch in halves.
  virtual void run(const batch& items, std::span<const std::byte> input,
                   std::span<const std::span<std::byte>> outputs) = 0;

  /// Frees the device memory that run() keeps from one batch to the next.
  virtual void release_memory() {}
};

/// What an analysis must say; the run (plan, queue, files, progress) is shared. It knows no ranks and no files of
/// results.
class analysis {
 public:
  virtual ~analysis() = default;

  virtual std::string name() const = 0;
  virtual const image_grid& grid() const = 0;
  /// For each item the linear index of its voxel. Items are numbered by their place here. Increasing where there are
  /// volumes among the outputs; a plan by slices is made where the list never falls, else one by items.
  virtual const std::vector<std::uint64_t>& item_voxels() const = 0;
  virtual std::vector<output_spec> outputs() const = 0;
  virtual std::vector<constant> constants() const { return {}; }
  /// Item i has rows [offsets[i], offsets[i + 1]) of the outputs laid out as points; empty where there are none.
  /// A float32 output `position` of three numbers (world mm) makes the file's /VTKHDF a set of poly-lines.
  virtual std::vector<std::uint64_t> point_offsets() const { return {}; }

  /// What to count over the result; null for nothing.
  virtual std::unique_ptr<item_counts> make_counts() const { return nullptr; }

  /// Whether no items at all make a result, too (no connection was found), rather than a mistake of the user's (an
  /// empty mask). For analyses without volumes.
  virtual bool may_be_empty() const { return false; }

  /// What each batch is computed from; null if the analysis reads nothing item by item.
  virtual item_input* input() { return nullptr; }
  /// Device memory that one item of a batch takes, for the choice of the batch size.
  virtual std::size_t device_bytes_per_item() const = 0;

  /// Called once by each driving thread, after use_device().
  virtual std::unique_ptr<batch_runner> make_runner() const = 0;

  /// Driving threads that keep the device full: two on a GPU let one batch's tail overlap the next one's start.
  virtual int lanes() const { return 1; }

  /// Items that a GPU wants at once, up to 1 << 20: a batch of the plan's own choice has up to this many, memory
  /// allowing. On CPU ranks a batch has up to 8192, or a 16th of this where that is more; where this is below
  /// 128, items are large ones, and a batch has few of them.
  virtual std::uint64_t most_items_per_batch() const { return 32768; }

  /// Items that a GPU wants at least: a batch of the plan's own choice is not smaller where there are that many.
  virtual std::uint64_t fewest_items_per_batch() const { return 8192; }

  /// Items of the last batches on a GPU where ranks fetch them: small ones, so that ranks end together, but large
  /// enough that two of them, in its two lanes, fill it.
  virtual std::uint64_t last_items_per_batch() const { return fewest_items_per_batch() / 2; }
};

}  // namespace voxherd
