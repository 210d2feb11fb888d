#include "src/io/text_file.hpp"

#include <fmt/core.h>

#include <utility>

#include "core/failure.hpp"
#include "core/main_memory.hpp"
#include "core/plain_text.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

std::string read_text_file(const std::string& path, const char* expected, std::uint64_t max_bytes) {
  const input_file file(path);
  if (file.size() > max_bytes)
    refuse_data("{}: has {} bytes, expected {} of at most {} bytes", file.name(), file.size(), expected, max_bytes);
  require_memory(static_cast<double>(file.size()), fmt::format("{}: {} bytes of text", file.name(), file.size()));
  std::string bytes(static_cast<std::size_t>(file.size()), '\0');
  file.read(0, bytes.data(), bytes.size());
  return plain_text(std::move(bytes), file.name(), expected);
}

std::vector<std::string> read_text_lines(const std::string& path, const char* expected, std::uint64_t max_bytes) {
  return split_lines(read_text_file(path, expected, max_bytes));
}

}  // namespace voxherd
