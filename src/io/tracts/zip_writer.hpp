#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/io/output_file.hpp"

namespace voxherd {

/// Writes a ZIP archive of uncompressed members one after another, so that a reader can map them into memory. Uses
/// 64-bit records (PKWARE's APPNOTE, 4.3.14 to 4.3.16 and 4.5.3) only where a size or an offset needs them. All members
/// are dated 1980-01-01, so that the same members give the same bytes. Throws failure (disk).
class zip_writer {
 public:
  /// `zip64_from`: sizes and offsets from this value on are written in 64 bits.
  explicit zip_writer(const std::string& path, std::uint64_t zip64_from = 0xffffffff);

  /// Starts the next member, of exactly `bytes` bytes.
  void begin(const std::string& name, std::uint64_t bytes);
  void write(const void* data, std::size_t bytes);
  void finish();

 private:
  struct member {
    std::string name;
    std::uint64_t bytes = 0, place = 0;
    std::uint32_t crc = 0;
  };

  void end_member();
  void write_directory();
  bool is_large(std::uint64_t number) const { return number >= zip64_from_; }
  std::uint32_t in_32_bits(std::uint64_t number) const;
  void put(const std::string& record);

  output_file file_;
  std::uint64_t zip64_from_;
  std::uint64_t written_ = 0;  ///< bytes of the file
  std::uint64_t missing_ = 0;  ///< bytes still expected in the current member
  std::vector<member> members_;
};

}  // namespace voxherd
