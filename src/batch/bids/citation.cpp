// The methods of all results for papers: one note per result in logs/methods, and logs/CITATION.md, which is made of
// them.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/escape.hpp"
#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "mpi/result/named_output.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/batch/bids/own_files.hpp"
#include "src/batch/bids/request.hpp"
#include "src/io/text_file.hpp"
#include "src/show/analysis_views.hpp"
#include "src/show/methods.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path notes_folder(const bids_request& request) { return fs::path(request.out_dir) / "logs" / "methods"; }

/// The notes of all results, sorted by the names of their series.
std::vector<json> read_notes(const fs::path& folder) {
  std::vector<std::string> paths;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing))
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  std::vector<json> notes;
  for (const std::string& path : paths) {
    notes.push_back(parse_json(read_text_file(path), path));
    for (const char* field : {"analysis", "series", "methods", "data", "references"})
      if (!notes.back().is_object() || !notes.back().contains(field))
        refuse_data("{}: has no {}, as notes of voxherd bids have; remove it", path, field);
  }
  return notes;
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

/// Methods and references, each text once, in the order of the analyses, and the data of each series.
std::string citation_text(const std::vector<json>& notes) {
  std::vector<std::string> paragraphs, references;
  std::string data;
  for (const analysis_views* v : all_analysis_views()) {
    for (const json& note : notes) {
      if (note.at("analysis") != v->analysis) continue;
      add_once(paragraphs, note.at("methods").get<std::string>());
      for (const json& one : note.at("references")) add_once(references, one.get<std::string>());
      data += fmt::format("- {}, {}: {}\n", markdown_text(note.at("series").get<std::string>()), v->analysis,
                          markdown_text(note.at("data").get<std::string>()));
    }
  }
  std::string text = "# Methods\n";
  for (const std::string& paragraph : paragraphs) text += "\n" + markdown_text(paragraph) + "\n";
  text += "\n# References\n\n";
  for (std::size_t i = 0; i < references.size(); ++i)
    text += fmt::format("{}. {}\n", i + 1, markdown_text(references[i]));
  return text + "\n# Data\n\n" + data + "\n" + std::string(citation_mark);
}

}  // namespace

std::string methods_note(const bids_request& request, const bids_series& series, const std::string& analysis) {
  return (notes_folder(request) / fmt::format("{}_{}.json", series.name, analysis)).string();
}

void note_methods(export_record& record, const bids_series& series, const bids_step& step) {
  const result_reader result(step.run.out);
  const report::methods_text methods = report::write_methods(result);
  record.set("analysis", step.analysis);
  record.set("series", series.name);
  record.set("methods", methods.text);
  record.set("data", methods.data);
  json references = json::array();
  for (const report::reference& r : methods.references)
    references.push_back(r.text + (r.doi.empty() ? "" : " https://doi.org/" + r.doi));
  record.set("references", references);
  record.save();
}

void write_citation(const bids_request& request) {
  const std::vector<json> notes = read_notes(notes_folder(request));
  if (notes.empty()) return;
  const std::string path = own_path((fs::path(request.out_dir) / "logs" / "CITATION.md").string());
  const std::string text = citation_text(notes);
  if (fs::is_regular_file(path) && read_text_file(path) == text) return;
  write_output({"logs", path, true, file_name::implied}, text);
}

}  // namespace voxherd
