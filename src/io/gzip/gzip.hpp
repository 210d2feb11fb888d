#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "src/io/input_file.hpp"

namespace voxherd {

/// Whether the file begins as a gzip file does; its name does not matter.
bool is_gzip(const input_file& file);

/// The inflated bytes of a gzip file (any number of members), from the front to the back. ISA-L's igzip does it, 1.9
/// to 2.8 times as fast as zlib (docs/performance.md).
/// Throws failure (bad_data) where the stream is damaged or its checksum wrong, (disk) where it cannot be read.
class gzip_stream {
 public:
  /// The file must outlive the stream, and is read `input_bytes` at a time.
  explicit gzip_stream(const input_file& file, std::size_t input_bytes = std::size_t{1} << 20);
  ~gzip_stream();
  gzip_stream(gzip_stream&&) noexcept;

  /// Inflated bytes delivered or skipped so far.
  std::uint64_t position() const;
  /// Up to `bytes` bytes; fewer only at the end of the last member. A file that stops in mid-member is a failure.
  std::size_t read_some(void* out, std::size_t bytes);
  /// Exactly `bytes` bytes, else failure (bad_data).
  void read(void* out, std::size_t bytes);
  /// Inflates and drops what lies before `position`; going back begins again from the front.
  void seek(std::uint64_t position);
  /// Whether nothing follows; when so, every member's checksum has been verified.
  bool at_end();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Where the bytes of a file go that several threads inflate.
class inflated_sink {
 public:
  virtual ~inflated_sink() = default;
  /// Called by several threads at once, for every byte once, about in order: bytes [position, position + count). May
  /// wait for calls made before it. What it throws ends the inflating.
  virtual void take(std::uint64_t position, const std::byte* bytes, std::size_t count) = 0;
  /// Nothing more will come: a take() that waits returns. Must not throw.
  virtual void give_up() = 0;
};

struct parallel_gzip_settings {
  unsigned threads = 1;
  /// Of the file; each is inflated without knowing what is before it.
  std::size_t chunk_bytes = std::size_t{1} << 19;
  /// Inflated in one go; what a chunk has beyond it is inflated in order.
  std::size_t piece_bytes = std::size_t{1} << 23;
};

struct parallel_gzip_result {
  /// Whether all members were inflated and have their checksums. If not, the file is damaged or `stop` was set:
  /// gzip_stream says why.
  bool whole = false;
  std::uint64_t bytes = 0;           ///< all of them
  std::uint64_t bytes_marked = 0;    ///< inflated as 16 bits, without knowing what is before
  std::uint64_t bytes_in_order = 0;  ///< inflated after all before them, for want of a block found in time
};

/// Inflates a gzip file of any number of members by several threads in two passes (Kerbiriou and Chikhi 2019, pugz;
/// Knespel and Brunst 2023, rapidgzip): each looks for a block in a chunk of its own and inflates from there with marks
/// for bytes that it cannot know; these are filled in once the chunk before is whole and ended just there. Where it did
/// not, the chunk is inflated again: a wrong guess costs time, never a byte.
/// Memory: 3 bytes for each inflated byte of (2 * threads + 2) chunks, each piece_bytes at most. Throws failure
/// (disk), and what the sink throws.
parallel_gzip_result inflate_in_parallel(const input_file& file, const parallel_gzip_settings& settings,
                                         const std::atomic<bool>& stop, inflated_sink& sink);

}  // namespace voxherd
