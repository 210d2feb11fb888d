#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "core/command.hpp"
#include "core/escape.hpp"
#include "core/json_text.hpp"
#include "core/text.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/named_output.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/batch/bids/dataset_files.hpp"
#include "src/batch/bids/own_files.hpp"
#include "src/batch/bids/request.hpp"
#include "src/batch/bids/series.hpp"
#include "src/batch/cohort/run_subject.hpp"
#include "src/batch/cohort/subject_status.hpp"
#include "src/export/bids.hpp"
#include "src/io/output_file.hpp"
#include "src/io/text_file.hpp"
#include "src/show/draft.hpp"
#include "src/show/status_counts.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;
using ordered_json = nlohmann::ordered_json;

/// A table whose columns are added as they are met.
class group_table {
 public:
  explicit group_table(std::size_t rows) : rows_(rows) {}

  void set(std::size_t row, const std::string& name, const std::string& text, ordered_json description) {
    auto found = std::find_if(columns_.begin(), columns_.end(), [&](const auto& c) { return c.name == name; });
    if (found == columns_.end()) {
      columns_.push_back({name, std::move(description), std::vector<std::string>(rows_, "n/a")});
      found = columns_.end() - 1;
    }
    found->cells[row] = text;
  }

  std::string text() const {
    std::vector<std::string> names;
    for (const column& c : columns_) names.push_back(bids_cell(c.name));
    std::string text = fmt::format("{}\n", fmt::join(names, "\t"));
    for (std::size_t row = 0; row < rows_; ++row) {
      for (std::size_t i = 0; i < columns_.size(); ++i)
        text += (i == 0 ? "" : "\t") + bids_cell(columns_[i].cells[row]);
      text += '\n';
    }
    return text;
  }

  std::string sidecar() const {
    ordered_json all = ordered_json::object();
    for (const column& c : columns_) all[c.name] = c.description;
    all["GeneratedBy"] = generated_by();
    return dump_json(all, 2) + "\n";
  }

 private:
  struct column {
    std::string name;
    ordered_json description;
    std::vector<std::string> cells;
  };
  std::size_t rows_;
  std::vector<column> columns_;
};

/// Entries of a matrix for pairs of different regions that are connected.
std::vector<float> connected_pairs(const constant& matrix) {
  const std::size_t n = matrix.shape[0];
  std::vector<float> values;
  for (std::size_t i = 0; i < matrix.values.size(); ++i)
    if (i / n != i % n && matrix.values[i] > 0) values.push_back(static_cast<float>(matrix.values[i]));
  return values;
}

/// Of a fit of each voxel the medians; of streamlines and paths their numbers, and medians over pairs of regions.
void add_numbers(group_table& table, std::size_t row, const std::string& analysis, const std::string& file) {
  const result_reader result(file);
  const auto add = [&](const std::string& name, double value, const std::string& meaning, const std::string& unit) {
    table.set(row, analysis + "_" + name, std::isnan(value) ? "n/a" : fmt::format("{:.5g}", value),
              {{"Description", meaning}, {"Units", unit}});
  };
  if (has_status_map(result))
    for (const auto& [output, values] : report::describe_outputs(report::result_draft(result)))
      if (values.values > 0)
        add(output.name, values.median, "median over the fitted voxels: " + output.meaning, output.unit);
  for (const constant& c : result.constants()) {
    if (c.group == "streamlines" && c.values.size() == 1) add(c.name, c.values.front(), c.meaning, c.unit);
    if (c.group != "connectome" || c.shape.size() != 2) continue;
    if (const auto values = report::describe_values(connected_pairs(c)); values.values > 0)
      add(c.name, values.median, "median over connected pairs of regions: " + c.meaning, c.unit);
  }
}

void add_series(group_table& table, std::size_t row, const bids_request& request, const bids_series& series) {
  table.set(row, "participant_id", "sub-" + series.subject, {{"Description", "subject"}});
  if (!series.session.empty()) table.set(row, "session_id", "ses-" + series.session, {{"Description", "session"}});
  table.set(row, "series", series.name, {{"Description", "entities of the series"}});
  if (const fs::path page = subject_page(request, series.subject); fs::exists(page))
    table.set(row, "page", page.filename().string(),
              {{"Description", "pictures, charts and numbers of all results of the subject"}});
  for (const std::string& analysis : request.analyses) {
    if (!applies(series, analysis)) continue;
    cohort_subject subject;
    subject.out = result_path(request, series, analysis);
    const subject_status status = find_status(subject, {});
    table.set(row, analysis, state_name(status.state),
              {{"Description", "state of " + analysis}, {"Levels", subject_state_names}});
    if (status.state == subject_state::complete) add_numbers(table, row, analysis, subject.out);
  }
}

void write_table(const bids_request& request, const std::vector<bids_series>& all, const std::string& datatype) {
  group_table table(all.size());
  for (std::size_t row = 0; row < all.size(); ++row) add_series(table, row, request, all[row]);
  const fs::path path = own_path(request.out_dir + "/group_" + datatype + ".tsv");
  const std::string sidecar = fs::path(path).replace_extension(".json").string();
  write_output({"group", sidecar, true, file_name::implied}, table.sidecar());
  write_output({"group", path.string(), true, file_name::implied}, table.text());
  spdlog::info("{} written: {} series", path.string(), all.size());
}

/// Writes group_dwi.tsv and group_dwi.json, and group_perf of dynamic series: for each series the state of each
/// analysis and its main numbers. Reads the results in the work folder. For one process. Throws failure.
void write_group(const bids_request& request, const std::vector<bids_series>& all) {
  create_folder(request.out_dir);
  for (const char* datatype : {"dwi", "perf"}) {
    std::vector<bids_series> own = all;
    std::erase_if(own, [&](const bids_series& series) { return series.datatype != datatype; });
    if (!own.empty()) write_table(request, own, datatype);
  }
}

void check_data_set(const bids_request& request, const std::vector<bids_series>& all) {
  const fs::path folder = request.bids_dir;
  const bool is_bids = fs::exists(folder / ("sub-" + all.front().subject));  // else folders of the HCP or UK Biobank
  if (request.skip_validation || !is_bids || fs::exists(folder / "dataset_description.json")) return;
  refuse_data(
      "{}: no dataset_description.json, which a BIDS data set has; use its top folder, or --skip-bids-validation",
      request.bids_dir);
}

void check_folders(const bids_request& request) {
  for (const std::string& folder : request.derivatives)
    if (std::error_code wrong_link; !fs::is_directory(folder, wrong_link))
      refuse_missing("--derivatives {}: no such folder; expected a data set", folder);
}

std::vector<bids_series> find_wanted_series(const bids_request& request) {
  check_folders(request);
  series_request wanted{request.bids_dir, request.derivatives, request.subjects, request.sessions, {}, request.series};
  if (!request.filter_file.empty())
    wanted.filter = bids_filter(request.filter_file, read_text_file(request.filter_file));
  const auto& analyses = request.analyses;
  const auto dynamic = std::find_if(analyses.begin(), analyses.end(), is_dynamic);
  const bool has_dynamic = dynamic != analyses.end();
  const bool has_diffusion = !std::all_of(analyses.begin(), analyses.end(), is_dynamic);
  std::vector<bids_series> all;
  if (has_diffusion) all = find_series(wanted);
  if (has_dynamic) {
    const std::vector<bids_series> more = find_dynamic_series(wanted, *dynamic, user_words(request, *dynamic));
    all.insert(all.end(), more.begin(), more.end());
  }
  if (!request.series.empty() && all.empty())
    refuse_missing(
        "--series {}: no series of {} has this name, which is that of its derivatives without _model-..., such as "
        "sub-01_ses-1_run-1",
        request.series, request.bids_dir);
  if (!request.series.empty()) wanted.subjects = wanted.sessions = {};  // it is one of them
  if (has_diffusion) {
    check_found(wanted, all, has_dynamic ? "diffusion or dynamic" : "diffusion",
                "sub-*/[ses-*/]dwi/*_dwi.nii.gz or */T1w/Diffusion/data.nii.gz");
  } else {
    check_found(wanted, all, "dynamic", "images that --bids-filter-file names by \"dynamic\"");
  }
  check_different(all);
  check_data_set(request, all);
  return all;
}

/// Paths do not depend on the folder where the program was started. The form NAME=DIR of fMRIPrep is accepted.
bids_request with_absolute_paths(bids_request request) {
  const auto make_absolute = [](std::string& path) {
    const fs::path normal = fs::absolute(path).lexically_normal();
    path = (normal.has_filename() ? normal : normal.parent_path()).string();
  };
  for (std::string& path : request.derivatives) {
    const std::size_t equals = path.find('=');
    if (equals != std::string::npos && !fs::exists(path)) path.erase(0, equals + 1);
    make_absolute(path);
  }
  for (std::string* path : {&request.bids_dir, &request.out_dir, &request.work_dir}) make_absolute(*path);
  // A data set that is given twice is one, so that its files are no equals of themselves.
  std::vector<std::string> different;
  for (const std::string& path : request.derivatives) {
    const auto is_known = [&](const std::string& other) { return is_same_file(path, other); };
    if (!is_known(request.bids_dir) && std::none_of(different.begin(), different.end(), is_known))
      different.push_back(path);
  }
  request.derivatives = different;
  return request;
}

exit_status run_bids(session& s, const bids_request& given) {
  const bids_request request = with_absolute_paths(given);
  const std::vector<bids_series> all = s.from_root([&] { return find_wanted_series(request); });
  if (request.level == bids_level::participant) return run_participants(s, request, all);
  s.on_root([&] {
    write_group(request, all);
    write_citation(request);
  });
  return exit_status::complete;
}

/// Only computing needs all ranks.
needed_ranks ranks_of_bids(const std::vector<std::string>& words) {
  const auto has = [&](const char* word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  return has("group") && !has("participant") ? needed_ranks::first : needed_ranks::all;
}

}  // namespace

constexpr command make_bids_command() {
  command c = make_command<bids_options, run_bids>(
      {"bids", "a BIDS data set: computes, and writes BIDS derivatives",
       "voxherd bids /data/study /data/study/derivatives/voxherd participant \\\n"
       "  --analysis tensor,ballstick --participant-label 01 02 -w /scratch/work"});
  c.translate = from_bids_app;
  c.ranks = ranks_of_bids;
  return c;
}

extern const command bids_command = make_bids_command();

}  // namespace voxherd
