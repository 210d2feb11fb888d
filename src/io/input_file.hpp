#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace voxherd {

/// The path as printed in one-line messages: control characters escaped, long paths shortened.
std::string printable(const std::string& path);

/// A regular file open for reading.
class input_file {
 public:
  /// Throws failure (missing_input) if the path does not exist, is not a regular file, or is not readable.
  explicit input_file(const std::string& path);
  ~input_file();
  input_file(input_file&& other) noexcept;
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;

  const std::string& path() const { return path_; }
  std::string name() const { return printable(path_); }
  std::uint64_t size() const { return size_; }

  /// Reads up to `bytes` bytes at `offset`; fewer only at the end of the file. Throws failure (disk).
  std::size_t read_some(std::uint64_t offset, void* out, std::size_t bytes) const;
  /// Reads exactly `bytes` bytes. Throws failure (disk), also if the file has become shorter since it was opened.
  void read(std::uint64_t offset, void* out, std::size_t bytes) const;
  /// Advises the kernel that this range will be read soon.
  void will_need(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace voxherd
