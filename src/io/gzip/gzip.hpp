#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "src/io/input_file.hpp"

namespace voxherd {

/// Whether the file starts with a gzip header; its name does not matter.
bool is_gzip(const input_file& file);

/// Inflates a gzip file (any number of members) sequentially: with ISA-L's igzip, 1.9 to 2.8 times as fast as zlib
/// (docs/performance.md), or with zlib in a build without ISA-L. igzip accepts incomplete Huffman codes, which zlib and
/// inflate_in_parallel() refuse. Throws failure: bad_data if the stream is damaged or a checksum is wrong, disk if the
/// file cannot be read.
class gzip_stream {
 public:
  /// The file must outlive the stream; `input_bytes` is the size of each read.
  explicit gzip_stream(const input_file& file, std::size_t input_bytes = std::size_t{1} << 20);
  ~gzip_stream();
  gzip_stream(gzip_stream&&) noexcept;

  /// Number of inflated bytes read or skipped so far.
  std::uint64_t position() const;
  /// Reads up to `bytes` bytes; fewer only at the end of the last member. Throws failure (bad_data) if the file is
  /// truncated.
  std::size_t read_some(void* out, std::size_t bytes);
  /// Reads exactly `bytes` bytes. Throws failure (bad_data) if there are fewer.
  void read(void* out, std::size_t bytes);
  /// Inflates and discards data up to `position`. Going back starts again from the beginning.
  void seek(std::uint64_t position);
  /// Inflates and discards everything up to the end of the last member, which verifies the checksums and lengths of all
  /// members. Returns the number of bytes discarded. Throws failure (bad_data).
  std::uint64_t finish();
  /// After the end: number of bytes of the file that follow the last member.
  std::uint64_t bytes_after_members() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Receives the inflated bytes of inflate_in_parallel().
class inflated_sink {
 public:
  virtual ~inflated_sink() = default;
  /// Receives bytes [position, position + count). Called by several threads at once, roughly in order, once for each
  /// byte. An exception ends the inflation.
  virtual void take(std::uint64_t position, const std::byte* bytes, std::size_t count) = 0;
};

struct parallel_gzip_settings {
  unsigned threads = 1;
  /// Compressed bytes per chunk; chunks are inflated independently.
  std::size_t chunk_bytes = std::size_t{1} << 19;
  /// Maximum inflated bytes of a chunk; the remainder of a larger chunk is inflated in order.
  std::size_t piece_bytes = std::size_t{1} << 23;
};

struct parallel_gzip_result {
  /// Whether all members were inflated with correct checksums. Otherwise the file is damaged or `stop` was set; read it
  /// with gzip_stream to get the error.
  bool complete = false;
  std::uint64_t bytes = 0;           ///< inflated in total
  std::uint64_t bytes_after = 0;     ///< bytes of the file after the last member
  std::uint64_t bytes_marked = 0;    ///< inflated as 16-bit symbols, before the preceding data were known
  std::uint64_t bytes_in_order = 0;  ///< inflated sequentially, because no block start was found in time
};

/// Inflates a gzip file with several threads in two passes (Kerbiriou and Chikhi 2019, pugz; Knespel and Brunst 2023,
/// rapidgzip). Each thread searches its chunk for a block start and inflates from there, with marks for unknown
/// preceding bytes. The marks are replaced once the previous chunk is complete and ends exactly there; otherwise the
/// chunk is inflated again, so a wrong guess costs time but never changes the result. Needs up to 3 bytes for each
/// inflated byte of (2 * threads + 2) chunks of at most piece_bytes. Throws failure (disk) and whatever the sink
/// throws.
parallel_gzip_result inflate_in_parallel(const input_file& file, const parallel_gzip_settings& settings,
                                         const std::atomic<bool>& stop, inflated_sink& sink);

}  // namespace voxherd
