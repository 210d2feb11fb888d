#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace voxherd {

/// A text file (JSON) beside exported files, which says by the identity of a result which one each of them was made
/// from. Files that are not in it, or that are not as they were written, have to be written again. For one process.
class export_record {
 public:
  /// `path`: of the record. `folder`: that the files' names are relative to.
  export_record(std::string path, std::string folder) : path_(std::move(path)), folder_(std::move(folder)) {}

  /// Reads the record; one that is missing or damaged is empty.
  void read();

  /// Whether the file is as it was written from this result.
  bool is_current(const std::string& name, const std::string& made_from) const;
  /// Whether the file was written, even if it has changed since.
  bool lists(const std::string& name) const;
  /// Before files are written: a process that is killed meanwhile leaves files of which nothing is known.
  void forget(const std::vector<std::string>& names);
  /// After files were written. Throws failure (disk).
  void note(const std::vector<std::string>& names, const std::string& made_from);

  /// Sets a further field of the record.
  void set(const std::string& field, nlohmann::json value) { content_[field] = std::move(value); }
  /// Writes it, unless nothing has changed since it was read. Throws failure (disk).
  void save();

 private:
  nlohmann::json describe(const std::string& name, const std::string& made_from) const;

  std::string path_, folder_;
  nlohmann::json content_ = nlohmann::json::object(), stored_;
};

}  // namespace voxherd
