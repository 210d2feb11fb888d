// A folder of XTRACT: its structureList, then | and the names of its files, one per line.
#include "src/analyses/track/tracts.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/fuzz/targets/input.hpp"

namespace voxherd::fuzz {

namespace {

namespace fs = std::filesystem;

/// A folder in memory that is removed at the end.
class protocols {
 public:
  protocols(std::string_view list, std::string_view names)
      : path_("/dev/shm/voxherd_fuzz_" + std::to_string(getpid())) {
    fs::create_directory(path_);
    if (!list.empty()) std::ofstream(path_ / "structureList", std::ios::binary) << list;
    std::istringstream lines{std::string(names)};
    constexpr int max_files = 20;
    std::string line;
    for (int i = 0; i < max_files && std::getline(lines, line); ++i) create(line);
  }
  ~protocols() { fs::remove_all(path_); }
  protocols(const protocols&) = delete;
  protocols& operator=(const protocols&) = delete;
  std::string path() const { return path_.string(); }

 private:
  /// Only below the folder; names that the system refuses are left out.
  void create(const std::string& name) const {
    const fs::path file = (path_ / fs::path(name).relative_path()).lexically_normal();
    if (name.find('\0') != name.npos || !file.string().starts_with(path_.string() + "/")) return;
    std::error_code refused;
    fs::create_directories(file.parent_path(), refused);
    std::ofstream(file).put(' ');
  }

  fs::path path_;
};

}  // namespace

}  // namespace voxherd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace voxherd;
  const std::string_view text = fuzz::as_text(data, size);
  const std::size_t middle = std::min(text.find('|'), text.size());
  const fuzz::protocols folder(text.substr(0, middle), text.substr(std::min(middle + 1, text.size())));
  fuzz::accepts([&] {
    for (const tract_protocol& tract : read_tract_protocols(folder.path(), "")) {
      fuzz::require(!tract.name.empty() && tract.name.find('/') == tract.name.npos, "a name is that of a folder");
      fuzz::require(tract.factor > 0 && tract.factor <= 1e6, "the factor is usable");
      for (const std::string& file : tract.files())
        fuzz::require(file.starts_with(folder.path()), "files are in the folder");
    }
  });
  return 0;
}
