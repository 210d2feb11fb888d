#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "src/io/gzip/inflated_piece.hpp"

namespace voxherd {

/// Checksums of a piece, one for each part between member ends.
class piece_checksum {
 public:
  explicit piece_checksum(std::vector<inflated_piece::member_end> ends) : ends_(std::move(ends)) {}
  void add(const std::uint8_t* bytes, std::size_t count);

 private:
  friend class member_checker;
  struct part {
    std::uint64_t bytes = 0;
    std::uint32_t sum = 0;
  };
  void add_to_part(const std::uint8_t* bytes, std::size_t count);
  std::vector<inflated_piece::member_end> ends_;
  std::vector<part> parts_{1};
  std::size_t count_ = 0;
};

/// Combines the checksums of consecutive pieces and compares them with the footers of the members.
class member_checker {
 public:
  /// False if a member that ends in this piece does not match its footer.
  bool add(const piece_checksum& piece);

 private:
  piece_checksum::part member_;
};

}  // namespace voxherd
