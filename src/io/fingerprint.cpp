#include "src/io/fingerprint.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/escape.hpp"
#include "core/failure.hpp"
#include "core/threads.hpp"
#include "core/utf8.hpp"
#include "src/io/file_state.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t block = std::uint64_t{1} << 20, blocks = 256;

}  // namespace

bool is_fingerprint_of_all_bytes(std::uint64_t bytes) { return bytes <= block * blocks; }

nlohmann::json fingerprint(const std::string& path) {
  const std::optional<file_state> state = find_file_state(path);  // before its bytes are read
  nlohmann::json found = find_fingerprint(path);
  if (state) note_state(path, *state, found);
  return found;
}

nlohmann::json find_fingerprint(const std::string& path) {
  const input_file file(path);
  const bool complete = is_fingerprint_of_all_bytes(file.size());
  XXH64_state_t hash;
  XXH64_reset(&hash, 0);
  const std::uint64_t size = file.size();
  if (!complete) XXH64_update(&hash, &size, sizeof size);
  const std::uint64_t count = complete ? (size + block - 1) / block : blocks;
  std::vector<char> bytes(block);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = complete ? i * block : (size - block) / (blocks - 1) * i;
    const std::uint64_t offset = !complete && i == blocks - 1 ? size - block : at;
    const std::uint64_t length = std::min(block, size - offset);
    file.read(offset, bytes.data(), length);
    XXH64_update(&hash, bytes.data(), length);
  }
  return {{"path", valid_utf8(std::filesystem::absolute(path).string())},
          {"bytes", size},
          {"fingerprint", fmt::format("{:016x}", XXH64_digest(&hash))},
          {"method", complete ? "XXH64 of the file" : "XXH64 of the size and of 256 blocks of 1 MiB spread evenly"}};
}

namespace {

std::string absolute_path(const std::string& path) { return valid_utf8(std::filesystem::absolute(path).string()); }

/// `find_one`: the fingerprint of a file.
template <class Find>
nlohmann::json join_fingerprints(const std::vector<std::string>& paths, const Find& find_one) {
  if (paths.size() == 1) return find_one(paths.front());
  std::string all;
  std::uint64_t bytes = 0;
  nlohmann::json absolute = nlohmann::json::array(), states = nlohmann::json::array();
  for (const std::string& path : paths) {
    const nlohmann::json one = find_one(path);
    all += one.at("fingerprint").get<std::string>();
    bytes += one.at("bytes").get<std::uint64_t>();
    absolute.push_back(absolute_path(path));
    join_states(one, states);
  }
  nlohmann::json joined{{"path", absolute_path(paths.front())},
                        {"paths", absolute},
                        {"files", paths.size()},
                        {"bytes", bytes},
                        {"fingerprint", fmt::format("{:016x}", XXH64(all.data(), all.size(), 0))},
                        {"method", "XXH64 of the files' fingerprints in their order"}};
  if (!states.empty()) joined[state_key] = states;
  return joined;
}

}  // namespace

nlohmann::json fingerprint(const std::vector<std::string>& paths) {
  return join_fingerprints(paths, [](const std::string& path) { return fingerprint(path); });
}

std::future<nlohmann::json> fingerprint_later(const std::vector<std::string>& paths) {
  std::map<std::string, file_state> states;
  for (const std::string& path : paths)
    if (const auto state = find_file_state(path)) states.emplace(path, *state);
  return start_task("reads inputs for their checksum", [paths, states] {
    return join_fingerprints(paths, [&](const std::string& path) {
      nlohmann::json found = find_fingerprint(path);
      const auto before = states.find(path);
      if (before == states.end() || find_file_state(path) != before->second)
        fail_on_disk("{}: was changed while it was read; do not modify inputs during a run; start again", path);
      note_state(path, before->second, found);
      return found;
    });
  });
}

std::vector<std::string> list_input_files(const nlohmann::json& input) {
  if (input.contains("paths")) return input.at("paths").get<std::vector<std::string>>();
  if (input.value("path", "").empty()) return {};
  return {input.at("path").get<std::string>()};
}

std::string describe_change(const nlohmann::json& input) {
  const std::vector<std::string> paths = list_input_files(input);
  const std::string path = input.value("path", "");
  std::error_code ignored;
  std::uint64_t bytes = 0;
  for (const std::string& one : paths) {
    if (!std::filesystem::is_regular_file(one, ignored)) return fmt::format("{} no longer exists", one);
    bytes += std::filesystem::file_size(one, ignored);
  }
  try {
    const bool same = bytes == input.value("bytes", std::uint64_t{0}) &&
                      join_fingerprints(paths, find_fingerprint).at("fingerprint") == input.value("fingerprint", "");
    const std::string more = paths.size() > 1 ? fmt::format(" and {} more files", paths.size() - 1) : "";
    return same ? "" : fmt::format("{}{} has changed since the result was computed", path, more);
  } catch (const std::exception& f) {
    return f.what();  // it cannot be read
  }
}

}  // namespace voxherd
