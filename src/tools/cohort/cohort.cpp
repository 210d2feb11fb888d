#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "core/command.hpp"
#include "core/shell_words.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/named_output.hpp"
#include "src/tools/cohort/cohort_table.hpp"
#include "src/tools/cohort/manifest.hpp"
#include "src/tools/cohort/run_all.hpp"
#include "src/tools/cohort/run_subject.hpp"
#include "src/tools/report/cohort_page.hpp"

namespace voxherd {

namespace {

struct cohort_request {
  std::string manifest, words_template, json, page;
  std::optional<std::size_t> task;
  std::optional<std::size_t> per_gpu, per_node;
  std::vector<std::string> more;
  bool runs_all = false, array = false, overwrite = false;
};

std::vector<std::string> parse_words(const std::string& text, const char*) { return split_words(text); }

const option_table<cohort_request>& cohort_options() {
  using T = cohort_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Input", {
      {"manifest", &T::manifest, text_kind::file, {"table of subjects, with cells separated by tabs"}},
      {"template", &T::words_template, text_kind::any,
       {.text = "command line of every subject; {COLUMN} is replaced by the cell of the subject's line",
        .value = "WORDS"}}})
    .group("Running", {
      {"run", &T::task, at_least(1), {"compute subject N, counted from 1, on these ranks"}},
      {"run-all", &T::runs_all, {"compute all subjects that are to be submitted, several at a time; one process per node"}},
      {"per-gpu", &T::per_gpu, range{1, 64},
       {.text = "with --run-all: subjects at a time on each GPU", .standard = "2"}},
      {"per-node", &T::per_node, range{1, 4096},
       {.text = "with --run-all: subjects at a time on a node without GPUs", .standard = "one per 8 cores"}},
      {"more", &T::more, parse_words, {.text = "options added to the subject's command", .value = "WORDS"}}})
    .group("Output", {
      {"array", &T::array, {"print only the tasks to submit, in the form of sbatch --array"}},
      {"json", &T::json, text_kind::file, {"write the table to FILE as JSON; - is standard output"}},
      {"report", &T::page, text_kind::file,
       {"write a page over all complete subjects, outliers first, to FILE (HTML), and its numbers to the same name with .json"}},
      {"overwrite", &T::overwrite, {"replace the files of --json and --report if they exist"}}})
    .check([](const T& r, const given_options& given) {
      if (r.manifest.empty()) option::refuse("cohort: the manifest is missing; usage: voxherd cohort MANIFEST");
      if (r.runs_all)
        for (const char* name : {"run", "array", "report", "json"}) option::refuse_given(given, name, "with --run-all");
      else
        for (const char* name : {"per-gpu", "per-node"}) option::refuse_given(given, name, "without --run-all");
      if (!r.task) return;
      for (const char* name : {"array", "report"}) option::refuse_given(given, name, "with --run");
      option::refuse_given(given, "json", "with --run; --more '--json FILE' writes the times of the subject");
    });
  // clang-format on
  return table;
}

std::string read_text(const session& s, const std::string& path) {
  std::string text;
  s.on_root([&] {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
      throw failure(exit_status::missing_input,
                    fmt::format("{}: it is a directory, expected a table of subjects", path));
    constexpr std::size_t max_bytes = 64 << 20;
    std::ifstream file(path);
    text.resize(max_bytes + 1);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (!file.is_open() || file.bad())
      throw failure(exit_status::missing_input,
                    fmt::format("{}: cannot read the file: {}", path, std::strerror(errno)));
    if (text.size() > max_bytes || text.find('\0') != std::string::npos)
      throw failure(exit_status::bad_data,
                    fmt::format("{}: {}, expected a text file: a table of subjects", path,
                                text.size() > max_bytes ? "has more than 64 MiB" : "contains binary data"));
  });
  s.broadcast(text);
  return text;
}

/// A subject whose command line is wrong has failed before it started.
subject_status checked_status(const cohort_subject& subject, const std::vector<std::string>& more) {
  subject_status status = find_status(subject);
  if (status.state == "complete" || status.state == "running") return status;
  try {
    (void)prepare_subject(subject, more);
  } catch (const failure& f) {
    status.state = "failed";
    status.detail = f.what();
    status.exit_status = static_cast<int>(f.status);
    status.resubmit = false;
  }
  return status;
}

/// Each rank reads its share of the files. Returns the status of all subjects, in order, on every rank.
std::vector<subject_status> gather_statuses(const session& s, const std::vector<cohort_subject>& subjects,
                                            const std::vector<std::string>& more) {
  nlohmann::json own = nlohmann::json::array();
  for (std::size_t i = static_cast<std::size_t>(s.rank()); i < subjects.size(); i += static_cast<std::size_t>(s.size()))
    own.push_back(as_json(checked_status(subjects[i], more)));
  nlohmann::json gathered = nlohmann::json::array();
  for (const std::string& text : s.gather(own.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)))
    for (const auto& j : nlohmann::json::parse(text)) gathered.push_back(j);
  s.broadcast(gathered);
  std::vector<subject_status> all;
  for (const auto& j : gathered) all.push_back(status_from_json(j));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.task < b.task; });
  return all;
}

/// The words after the batch script's name that give its tasks the same subjects.
std::string script_words(const cohort_request& request) {
  std::string words = quoted_word(request.manifest);
  if (!request.words_template.empty()) words += " --template " + quoted_word(request.words_template);
  return words;
}

void write_cohort_page(const cohort_request& request, const std::vector<subject_status>& all) {
  const named_output html{"--report", request.page, request.overwrite};
  const named_output json{"--report", report::json_path(request.page), request.overwrite};
  check_output(html);
  check_output(json);
  std::vector<report::cohort_entry> subjects;
  for (const subject_status& s : all) subjects.push_back({s.name, s.out, s.state});
  const report::page page = report::make_cohort_page(request.manifest, subjects, request.page);
  write_output(html, report::write_page(page));
  write_output(json, report::json_text(page.numbers, 1) + "\n");
}

void print_cohort(const cohort_request& request, const std::vector<subject_status>& all) {
  const std::string &manifest = request.manifest, &json = request.json;
  if (request.array) {
    const std::string list = array_list(tasks_to_submit(all));
    if (!list.empty()) fmt::print("{}\n", list);
  } else if (json != "-") {
    fmt::print("{}", cohort_text(script_words(request), all));
  }
  if (json.empty()) return;
  const std::string text = cohort_json(manifest, all).dump(2) + '\n';
  if (json == "-") {
    fmt::print("{}", text);
  } else {
    write_output({"--json", json, request.overwrite}, text);
  }
}

exit_status run_cohort(session& s, const cohort_request& request) {
  const std::string& path = request.manifest;
  const std::vector<cohort_subject> subjects = parse_manifest(path, read_text(s, path), request.words_template);
  if (request.task) {
    const std::size_t task = *request.task;
    if (task > subjects.size())
      option::refuse(fmt::format("--run {}: {} has subjects 1 to {}", task, path, subjects.size()));
    return run_subject(s, subjects[task - 1], request.more);
  }
  const std::vector<subject_status> all = gather_statuses(s, subjects, request.more);
  if (request.runs_all)
    return run_all(
        s, {path, request.words_template, request.more, request.per_gpu.value_or(2), request.per_node.value_or(0)},
        subjects, all);
  s.on_root([&] {
    print_cohort(request, all);
    if (!request.page.empty()) write_cohort_page(request, all);
  });
  return exit_status::complete;
}

}  // namespace

extern const command cohort_command = make_command<cohort_options, run_cohort>(
    {"cohort", "many subjects: the status of each, what to submit; computes one or all",
     "MANIFEST [--template WORDS] [--run N | --run-all] [--json FILE] [--report FILE]", "manifest",
     "voxherd cohort subjects.tsv\n"
     "voxherd cohort subjects.tsv --run-all\n"
     "sbatch --array=\"$(voxherd cohort subjects.tsv --array)\" \\\n"
     "  slurm/cohort.sbatch subjects.tsv"});

}  // namespace voxherd
