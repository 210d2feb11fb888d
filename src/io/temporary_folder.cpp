#include "src/io/temporary_folder.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/failure.hpp"

namespace voxherd {

namespace fs = std::filesystem;

temporary_folder::temporary_folder(const std::string& purpose) {
  std::error_code code;
  const fs::path parent = fs::temp_directory_path(code);
  if (code) fail_on_disk("TMPDIR: {}; set it to a folder that can be written", code.message());
  path_ = (parent / fmt::format("voxherd-{}-XXXXXX", purpose)).string();
  if (!mkdtemp(path_.data()))
    fail_on_disk("{}: cannot be created: {}; set TMPDIR to another folder", path_, std::strerror(errno));
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace voxherd
