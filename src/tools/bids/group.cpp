#include "src/tools/bids/group.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>

#include "mpi/result/named_output.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/export/connectome_text.hpp"
#include "src/tools/bids/steps.hpp"
#include "src/tools/cohort/subject_status.hpp"
#include "src/tools/report/draft.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

/// A table whose columns are added as they are met.
class group_table {
 public:
  explicit group_table(std::size_t rows) : rows_(rows) {}

  void set(std::size_t row, const std::string& name, const std::string& text, json description) {
    auto found = std::find_if(columns_.begin(), columns_.end(), [&](const auto& c) { return c.name == name; });
    if (found == columns_.end()) {
      columns_.push_back({name, std::move(description), std::vector<std::string>(rows_, "n/a")});
      found = columns_.end() - 1;
    }
    found->cells[row] = text;
  }

  std::string text() const {
    std::vector<std::string> names;
    for (const column& c : columns_) names.push_back(c.name);
    std::string text = fmt::format("{}\n", fmt::join(names, "\t"));
    for (std::size_t row = 0; row < rows_; ++row) {
      for (std::size_t i = 0; i < columns_.size(); ++i) text += (i == 0 ? "" : "\t") + columns_[i].cells[row];
      text += '\n';
    }
    return text;
  }

  std::string sidecar() const {
    json all = json::object();
    for (const column& c : columns_) all[c.name] = c.description;
    return all.dump(2) + "\n";
  }

 private:
  struct column {
    std::string name;
    json description;
    std::vector<std::string> cells;
  };
  std::size_t rows_;
  std::vector<column> columns_;
};

void add_medians(group_table& table, std::size_t row, const std::string& analysis, const std::string& file) {
  const result_reader result(file);
  for (const auto& [output, values] : report::describe_outputs(report::result_draft(result)))
    if (values.values > 0)
      table.set(row, analysis + "_" + output.name, matrix_number(values.median),
                {{"Description", "median over the fitted voxels: " + output.meaning}, {"Units", output.unit}});
}

void add_series(group_table& table, std::size_t row, const bids_request& request, const bids_series& series) {
  table.set(row, "participant_id", "sub-" + series.subject, {{"Description", "subject"}});
  if (!series.session.empty()) table.set(row, "session_id", "ses-" + series.session, {{"Description", "session"}});
  table.set(row, "series", series.name, {{"Description", "entities of the series"}});
  for (const std::string& analysis : request.analyses) {
    if (!applies(series, analysis)) continue;
    cohort_subject subject;
    subject.out = result_path(request, series, analysis);
    const subject_status status = find_status(subject);
    table.set(row, analysis, status.state,
              {{"Description", "state of " + analysis},
               {"Levels", {"complete", "running", "partial", "failed", "not started"}}});
    if (status.state == "complete") add_medians(table, row, analysis, subject.out);
  }
}

void write_table(const bids_request& request, const std::vector<bids_series>& all, const std::string& datatype) {
  group_table table(all.size());
  for (std::size_t row = 0; row < all.size(); ++row) add_series(table, row, request, all[row]);
  const std::string begin = request.out_dir + "/group_" + datatype;
  write_output({"group", begin + ".tsv", true}, table.text());
  write_output({"group", begin + ".json", true}, table.sidecar());
  spdlog::info("{}.tsv written: {} series", begin, all.size());
}

}  // namespace

void write_group(const bids_request& request, const std::vector<bids_series>& all) {
  fs::create_directories(request.out_dir);
  for (const char* datatype : {"dwi", "perf"}) {
    std::vector<bids_series> own = all;
    std::erase_if(own, [&](const bids_series& series) { return series.datatype != datatype; });
    if (!own.empty()) write_table(request, own, datatype);
  }
}

}  // namespace voxherd
