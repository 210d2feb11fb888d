#include "src/export/export_record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/checksum.hpp"
#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "mpi/result/named_output.hpp"
#include "src/io/input_file.hpp"
#include "src/io/output_file.hpp"
#include "src/io/text_file.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

/// Of the first and last bytes of a file. The ends of .gz and .trx files have the CRC-32 of what is in them, so that
/// other values are found without reading the file.
std::string fingerprint_of_ends(const std::string& path) {
  constexpr std::uint64_t end_bytes = 4096;
  const input_file file(path);
  checksum sum;
  std::array<char, end_bytes> bytes{};
  const std::uint64_t length = std::min(end_bytes, file.size());
  for (const std::uint64_t offset : {std::uint64_t{0}, file.size() - length}) {
    file.read(offset, bytes.data(), length);
    sum.add(std::as_bytes(std::span(bytes)).first(length));
  }
  return fmt::format("{:016x}", sum.value());
}

}  // namespace

void export_record::read() {
  content_ = nlohmann::json::object();
  stored_ = nlohmann::json();
  std::error_code ignored;
  if (!fs::exists(path_, ignored)) return;
  try {
    stored_ = parse_json(read_text_file(path_), path_);
    if (stored_.is_object()) content_ = stored_;
  } catch (const failure&) {
    // as without a record
  }
}

nlohmann::json export_record::describe(const std::string& name, const std::string& made_from) const {
  const std::string path = (fs::path(folder_) / name).string();
  return {{"made_from", made_from}, {"bytes", fs::file_size(path)}, {"fingerprint", fingerprint_of_ends(path)}};
}

bool export_record::lists(const std::string& name) const {
  return content_.contains("files") && content_.at("files").is_object() && content_.at("files").contains(name);
}

bool export_record::is_current(const std::string& name, const std::string& made_from) const {
  if (!lists(name)) return false;
  try {
    return content_.at("files").at(name) == describe(name, made_from);
  } catch (const std::exception&) {
    return false;  // the file is missing
  }
}

void export_record::forget(const std::vector<std::string>& names) {
  if (!content_.contains("files") || !content_.at("files").is_object()) return;
  for (const std::string& name : names) content_.at("files").erase(name);
  save();
}

void export_record::note(const std::vector<std::string>& names, const std::string& made_from) {
  if (names.empty()) return;
  nlohmann::json& files = content_["files"];
  if (!files.is_object()) files = nlohmann::json::object();
  for (const std::string& name : names) files[name] = describe(name, made_from);
  save();
}

void export_record::save() {
  if (content_ == stored_) return;
  create_folder(fs::path(path_).parent_path().string());
  write_output({"logs", path_, true, file_name::implied}, dump_json(content_, 1) + "\n");
  stored_ = content_;
}

}  // namespace voxherd
