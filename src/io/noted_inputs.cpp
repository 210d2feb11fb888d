#include "src/io/noted_inputs.hpp"

#include <spdlog/spdlog.h>

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/failure.hpp"
#include "src/io/file_state.hpp"
#include "src/io/fingerprint.hpp"

namespace voxherd {

namespace {

struct noted_file {
  file_state state;
  std::string fingerprint;
};

void check(const std::string& path, const noted_file& noted) {
  const std::string& name = path;
  const std::optional<file_state> state = find_file_state(path);
  if (!state) return spdlog::warn("{}: no longer exists at the end of the run", name);
  if (*state == noted.state) return;
  const nlohmann::json now = find_fingerprint(path);
  if (now.at("fingerprint") != noted.fingerprint) {
    fail_on_disk(
        "{}: was changed during the run: found {} bytes with fingerprint {}, expected {} bytes with {} as at the "
        "start; do not modify inputs during a run; start again",
        name, state->bytes, now.at("fingerprint").get<std::string>(), noted.state.bytes, noted.fingerprint);
  }
  if (!is_fingerprint_of_all_bytes(state->bytes) && state->modified_ns != noted.state.modified_ns)
    spdlog::warn("{}: was written to during the run; the parts of it that are compared have not changed", name);
}

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
