#include "src/io/file_state.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace voxherd {

namespace {

std::int64_t nanoseconds(const timespec& t) { return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }

}  // namespace

std::optional<file_state> find_file_state(const std::string& path) {
  // Opening the file makes a network file system ask its server; stat() alone may answer from a cache.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  struct stat s {};
  const bool is_known = ::fstat(descriptor, &s) == 0;
  ::close(descriptor);
  if (!is_known) return std::nullopt;
  return file_state{s.st_dev, s.st_ino, static_cast<std::uint64_t>(s.st_size), nanoseconds(s.st_mtim),
                    nanoseconds(s.st_ctim)};
}

void note_state(const std::string& path, const file_state& state, nlohmann::json& input) {
  const nlohmann::json numbers{state.device, state.inode, state.bytes, state.modified_ns, state.changed_ns};
  // A path may be in any encoding, which JSON cannot store as a text.
  input[state_key] = {{{"path", std::vector<unsigned char>(path.begin(), path.end())},
                       {"numbers", numbers},
                       {"fingerprint", input.at("fingerprint")}}};
}

void join_states(const nlohmann::json& input, nlohmann::json& states) {
  if (!input.contains(state_key)) return;
  for (const nlohmann::json& state : input.at(state_key)) states.push_back(state);
}

}  // namespace voxherd
