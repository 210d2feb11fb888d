#include "src/export/exported_samples.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "src/io/file_state.hpp"
#include "src/io/noted_inputs.hpp"
#include "src/io/output_file.hpp"
#include "src/io/text_file.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// What every write and every plain copy changes. A folder that is moved, or copied with its times, keeps it.
json describe_state(const std::string& path) {
  const std::optional<file_state> state = find_file_state(path);
  if (!state) return nullptr;
  return {{"bytes", state->bytes}, {"modified_ns", state->modified_ns}};
}

/// The result's name in the folder, so that the folder can be moved; else its path.
std::string result_place(const std::string& result, const std::string& folder) {
  std::error_code code;
  const fs::path path(result), parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  return fs::equivalent(parent, folder, code) ? path.filename().string() : fs::absolute(path).string();
}

exported_samples check_note(const json& note, const std::string& folder, const std::vector<std::string>& names) {
  const auto changed = [](const std::string& path) {
    return exported_samples{"", fmt::format("{} is not as it was when the samples were exported", path)};
  };
  const std::string result = (fs::path(folder) / note.at("result").at("path").get<std::string>()).string();
  for (const std::string& name : names) {
    const std::string path = (fs::path(folder) / name).string();
    const json& files = note.at("files");
    if (!files.contains(name)) return {"", fmt::format("{} was not exported by voxherd", path)};
    if (describe_state(path) != files.at(name)) return changed(path);
  }
  if (describe_state(result) != note.at("result").at("state")) return changed(result);
  return {result, ""};
}

}  // namespace

void write_exported_samples(const std::string& path, const std::string& result, const std::string& folder,
                            const std::vector<std::string>& names) {
  json files = json::object();
  for (const std::string& name : names) files[name] = describe_state((fs::path(folder) / name).string());
  const json note{{"result", {{"path", result_place(result, folder)}, {"state", describe_state(result)}}},
                  {"files", files}};
  // A path in another encoding is not found again, and then the files are read.
  write_file(path, dump_json(note, 2) + "\n");
}

exported_samples find_exported_samples(const std::string& folder, const std::vector<std::string>& names) {
  const std::string path = (fs::path(folder) / exported_samples_name).string();
  std::error_code code;
  if (!fs::exists(path, code)) return {};
  try {
    return check_note(json::parse(read_text_file(path)), folder, names);
  } catch (const json::exception&) {
    return {"", fmt::format("{} is damaged", path)};
  } catch (const failure& f) {
    return {"", f.what()};
  }
}

}  // namespace voxherd
