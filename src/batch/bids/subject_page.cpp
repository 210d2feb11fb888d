// One page per subject, of all its results in the work folder.
#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>

#include "core/checksum.hpp"
#include "core/failure.hpp"
#include "core/program_build.hpp"
#include "mpi/result/named_output.hpp"
#include "mpi/result/result_identity.hpp"
#include "src/batch/bids/own_files.hpp"
#include "src/batch/bids/request.hpp"
#include "src/io/input_file.hpp"
#include "src/report/report_pages.hpp"
#include "src/show/analysis_views.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

struct named_result {
  std::string name;  ///< "sub-01_ses-1 tensor"
  fs::path path;
};

/// Complete results below a folder, by series and then in the order of the analyses.
std::vector<named_result> list_results(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code missing;
  for (const auto& entry : fs::recursive_directory_iterator(folder, missing)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<named_result> results;
  for (const analysis_views* v : all_analysis_views()) {
    const std::string ending = fmt::format("_{}.h5", v->analysis);
    for (const fs::path& file : files) {
      const std::string name = file.filename().string();
      if (name.ends_with(ending))
        results.push_back({name.substr(0, name.size() - ending.size()) + " " + v->analysis, file});
    }
  }
  const auto series = [](const named_result& r) { return r.name.substr(0, r.name.find(' ')); };
  std::stable_sort(results.begin(), results.end(),
                   [&](const named_result& a, const named_result& b) { return series(a) < series(b); });
  return results;
}

/// The last line of a page: what it was made from.
std::string last_line(const std::vector<named_result>& results) {
  checksum sum;
  std::string text = program_name();
  for (const named_result& r : results)
    text += fmt::format("\n{} {}", r.name, file_identity_of_result(r.path.string()));
  sum.add(std::as_bytes(std::span(text)));
  return fmt::format("<!-- made from results {:016x} -->\n", sum.value());
}

/// Whether a file exists and ends with these bytes.
bool ends_with(const fs::path& path, const std::string& end) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  const input_file file(path.string());
  if (file.size() < end.size()) return false;
  std::string found(end.size(), ' ');
  file.read(file.size() - end.size(), found.data(), found.size());
  return found == end;
}

}  // namespace

std::string subject_page(const bids_request& request, const std::string& subject) {
  return own_path((fs::path(request.out_dir) / fmt::format("sub-{}.html", subject)).string());
}

void update_subject_page(const bids_request& request, const std::string& subject) {
  const std::vector<named_result> results = list_results(fs::path(request.work_dir) / ("sub-" + subject));
  if (results.empty()) return;
  const std::string path = subject_page(request, subject);
  // Before the results are read: one that another process completes meanwhile is not among them.
  const std::string end = last_line(results);
  if (ends_with(path, end)) return;
  std::vector<std::pair<std::string, report::page>> parts;
  for (const named_result& r : results) {
    try {
      parts.emplace_back(r.name, report::make_result_page(r.path.string()));
    } catch (const std::exception& e) {
      spdlog::warn("{} is not in the page of sub-{}: {}", r.path.string(), subject, e.what());
    }
  }
  const report::page page = report::join_pages("sub-" + subject, std::move(parts));
  write_output({"page", path, true, file_name::implied}, report::write_page(page) + end);
}

}  // namespace voxherd
