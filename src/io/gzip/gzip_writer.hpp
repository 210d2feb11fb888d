#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace voxherd {

/// Compresses a gzip file of one member (RFC 1952) by several threads. The data are cut into pieces of piece_bytes,
/// which are compressed independently and follow one another, so that the file does not depend on the number of
/// threads. Any program that reads gzip reads it.
class gzip_writer {
 public:
  static constexpr std::size_t piece_bytes = std::size_t{1} << 20;

  /// Receives the compressed bytes in their order, on the thread that calls write() or finish(). May throw.
  using sink = std::function<void(std::span<const std::byte>)>;

  explicit gzip_writer(sink out);
  ~gzip_writer();

  /// Takes the next bytes. Waits, and compresses itself, while many pieces are not compressed yet. Throws what the sink
  /// throws; then the writer is of no further use.
  void write(const void* data, std::size_t bytes);
  /// Compresses what is left and ends the member.
  void finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// A complete member that holds `plain`, at most 2^30 bytes.
std::vector<std::byte> gzip_member(std::span<const std::byte> plain);

}  // namespace voxherd
