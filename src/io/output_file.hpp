#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace voxherd {

/// Creates a file in the place of what a killed process left, or of a link, whose target stays as it is. `access`:
/// O_WRONLY or O_RDWR. Returns its descriptor, or -1 and errno.
int create_temporary(const std::string& name, int access);

/// A file that appears under its name only when it is complete: data are written to NAME.part, which finish() renames.
/// Without finish(), the destructor removes NAME.part. Throws failure (disk).
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

}  // namespace voxherd
