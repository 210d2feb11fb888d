#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "src/io/gzip/inflated_piece.hpp"

namespace voxherd {

/// The checksum of one piece's bytes, up to each member's end and from there on.
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

/// Puts the pieces' checksums together, in order, and compares them with what the members' footers say.
class member_checker {
 public:
  /// False where a member that ends in it is not what its footer says.
  bool add(const piece_checksum& piece);

 private:
  piece_checksum::part member_;
};

}  // namespace voxherd
