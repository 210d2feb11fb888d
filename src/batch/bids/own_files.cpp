#include "src/batch/bids/own_files.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "src/io/input_file.hpp"
#include "src/io/text_file.hpp"
#include "src/show/page.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

/// The first or last bytes of a file.
std::string end_of_file(const std::string& path, bool is_last) {
  constexpr std::uint64_t end_bytes = 4096;
  const input_file file(path);
  std::string bytes(std::min(end_bytes, file.size()), '\0');
  file.read(is_last ? file.size() - bytes.size() : 0, bytes.data(), bytes.size());
  return bytes;
}

bool is_own_sidecar(const std::string& path) {
  const nlohmann::json content = parse_json(read_text_file(path), path);
  if (!content.is_object() || !content.contains("GeneratedBy") || !content.at("GeneratedBy").is_array()) return false;
  const auto& programs = content.at("GeneratedBy");
  return std::any_of(programs.begin(), programs.end(), [](const nlohmann::json& program) {
    return program.is_object() && program.contains("Name") && program.at("Name") == "voxherd";
  });
}

/// The name without its ending, such as .nii.gz.
std::string stem_of(const std::string& path) {
  const std::size_t name = path.rfind('/') + 1;  // 0 without a folder
  return path.substr(0, std::min(path.find('.', name), path.size()));
}

/// `path` exists.
bool is_own(const std::string& path) {
  if (path.ends_with(".html"))
    return end_of_file(path, false).find(report::generator_mark) != std::string::npos ||
           end_of_file(path, true).find("\n<!-- made from results ") != std::string::npos;  // of earlier versions
  if (path.ends_with(".md")) return end_of_file(path, true).find(citation_mark) != std::string::npos;
  const std::string sidecar = stem_of(path) + ".json";
  return exists(sidecar) && is_own_sidecar(sidecar);
}

}  // namespace

bool is_own_or_new(const std::string& path) {
  // A table's sidecar belongs to it, also while the table is missing.
  const bool is_new = !exists(path) && !(path.ends_with(".tsv") && exists(stem_of(path) + ".json"));
  try {
    return is_new || is_own(path);
  } catch (const failure&) {
    return false;  // it cannot be read, and so is not known to be ours
  }
}

std::string own_path(const std::string& path) {
  if (is_own_or_new(path)) return path;
  const std::string stem = stem_of(path), other = stem + "_voxherd" + path.substr(stem.size());
  if (!is_own_or_new(other))
    refuse_usage("neither {} nor {} was made by voxherd; remove one of them, or choose another output folder", path,
                 other);
  spdlog::info("{} was made by another program and stays; ours is {}", path, fs::path(other).filename().string());
  return other;
}

}  // namespace voxherd
