#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace voxherd {

/// Compresses pieces of a deflate stream (RFC 1951) independently of one another: with ISA-L (isal_deflater.cpp) or, in
/// a build without it, with zlib (zlib_deflater.cpp). For one thread at a time.
class piece_deflater {
 public:
  piece_deflater();
  ~piece_deflater();

  /// Appends the compressed piece to `out`. It refers to no byte of other pieces and ends at a byte, so that the next
  /// one can follow; the last one ends the stream. At most 2^30 bytes.
  void deflate(std::span<const std::byte> piece, bool is_last, std::vector<std::byte>& out);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace voxherd
