#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace voxherd {

/// A file that appears under its name only when it is complete: until finish() it is a temporary_file. All files that
/// users get are written by this class, write_output() of texts that an option names, and the writer of results
/// (tests/structure). A link in its place is replaced, and what it leads to stays. Throws failure (disk).
class output_file {
 public:
  enum class coding { plain, gzip };

  output_file(const std::string& path, coding c);
  ~output_file();
  output_file(output_file&&) noexcept;

  void write(const void* data, std::size_t bytes);
  /// Writes at a place of a plain file, also beyond its end; several threads may call it at the same time.
  void write_at(std::uint64_t place, const void* data, std::size_t bytes);
  void finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Creates a folder, and those above it, unless it exists; "" is the current one. Throws failure (disk).
void create_folder(const std::string& path);

void write_file(const std::string& path, std::string_view text);
void copy_file(const std::string& from, const std::string& to);

}  // namespace voxherd
