#include "src/io/noted_inputs.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/failure.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

struct noted_file {
  file_state state;
  std::string fingerprint;
};

std::int64_t nanoseconds(const timespec& t) { return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }

void check(const std::string& path, const noted_file& noted) {
  const std::string name = printable(path);
  const std::optional<file_state> state = find_file_state(path);
  if (!state) return spdlog::warn("{}: no longer exists at the end of the run", name);
  if (*state == noted.state) return;
  const nlohmann::json now = find_fingerprint(path);
  if (now.at("fingerprint") != noted.fingerprint) {
    throw failure(exit_status::disk,
                  fmt::format("{}: was changed during the run: found {} bytes with fingerprint {}, expected {} bytes "
                              "with {} as at the start; do not modify inputs during a run; start again",
                              name, state->bytes, now.at("fingerprint").get<std::string>(), noted.state.bytes,
                              noted.fingerprint));
  }
  if (!is_fingerprint_of_all_bytes(state->bytes) && state->modified_ns != noted.state.modified_ns)
    spdlog::warn("{}: was written to during the run; the parts of it that are compared have not changed", name);
}

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

namespace {

/// One file may be several inputs, and inputs may be in groups, such as the masks of many tracts.
void collect_files(const nlohmann::json& inputs, std::map<std::string, noted_file>& files) {
  for (const nlohmann::json& input : inputs) {
    if (!input.is_object()) continue;
    if (!input.contains(state_key)) {
      collect_files(input, files);
      continue;
    }
    for (const nlohmann::json& state : input.at(state_key)) {
      const auto path = state.at("path").get<std::vector<unsigned char>>();
      const nlohmann::json& n = state.at("numbers");
      const file_state before{n.at(0), n.at(1), n.at(2), n.at(3), n.at(4)};
      files.try_emplace(std::string(path.begin(), path.end()), noted_file{before, state.at("fingerprint")});
    }
  }
}

}  // namespace

void check_inputs(const nlohmann::json& inputs) {
  std::map<std::string, noted_file> files;
  collect_files(inputs, files);
  for (const auto& [path, noted] : files) check(path, noted);
}

}  // namespace voxherd
