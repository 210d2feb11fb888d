#include "src/io/text_file.hpp"

#include <fmt/core.h>

#include "core/failure.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

std::string read_text_file(const std::string& path, std::uint64_t max_bytes) {
  const input_file file(path);
  if (file.size() > max_bytes)
    throw failure(exit_status::bad_data,
                  fmt::format("{}: has {} bytes, expected a text of at most {}", file.name(), file.size(), max_bytes));
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read(0, text.data(), text.size());
  return text;
}

}  // namespace voxherd
