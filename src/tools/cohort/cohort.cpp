#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "core/option_values.hpp"
#include "core/shell_words.hpp"
#include "mpi/run/summary.hpp"
#include "src/tools/cohort/cohort_table.hpp"
#include "src/tools/cohort/manifest.hpp"
#include "src/tools/cohort/run_subject.hpp"

namespace voxherd {

namespace {

void options(po::options_description& description) {
  // clang-format off
  description.add_options()
    ("manifest", option::file(), "table of subjects, cells parted by tabs")
    ("template", po::value<std::string>()->value_name("WORDS"),
     "command line of every subject, with {COLUMN} for what is in its line")
    ("run", po::value<long long>()->value_name("N"), "compute subject N, from 1, on these ranks")
    ("more", po::value<std::string>()->value_name("WORDS"), "options added to the subject's command")
    ("array", po::bool_switch(), "print the tasks to submit alone, as sbatch --array takes them")
    ("json", option::file(), "write the table to FILE as JSON; - is standard output");
  // clang-format on
}

std::string read_text(const session& s, const std::string& path) {
  std::string text;
  s.on_root([&] {
    std::ifstream file(path);
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (!file.is_open() || file.bad())
      throw failure(exit_status::missing_input, fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  });
  s.broadcast(text);
  return text;
}

/// A subject whose command line is wrong has failed before it began.
subject_status checked_status(const cohort_subject& subject, const std::vector<std::string>& more) {
  subject_status status = status_of(subject);
  if (status.state == "whole" || status.state == "running") return status;
  try {
    call_of(subject, more);
  } catch (const failure& f) {
    status.state = "failed";
    status.detail = f.what();
    status.exit_status = static_cast<int>(f.status);
    status.begin_again = false;
  }
  return status;
}

/// Every rank looks at its share of the files; all of them, in order, on rank 0.
std::vector<subject_status> gather_statuses(const session& s, const std::vector<cohort_subject>& subjects,
                                            const std::vector<std::string>& more) {
  nlohmann::json own = nlohmann::json::array();
  for (std::size_t i = static_cast<std::size_t>(s.rank()); i < subjects.size(); i += static_cast<std::size_t>(s.size()))
    own.push_back(as_json(checked_status(subjects[i], more)));
  std::vector<subject_status> all;
  for (const std::string& text : s.gather(own.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)))
    for (const auto& j : nlohmann::json::parse(text)) all.push_back(status_from_json(j));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.task < b.task; });
  return all;
}

void report(const arguments& args, const std::string& manifest, const std::vector<subject_status>& all) {
  const std::string json = args.has("json") ? args.get<std::string>("json") : "";
  if (args.get<bool>("array")) {
    const std::string list = array_list(tasks_to_submit(all));
    if (!list.empty()) fmt::print("{}\n", list);
  } else if (json != "-") {
    fmt::print("{}", cohort_text(manifest, all));
  }
  if (json == "-") fmt::print("{}\n", cohort_json(manifest, all).dump(2));
  if (!json.empty() && json != "-") write_json(json, cohort_json(manifest, all));
}

exit_status run_command(session& s, const arguments& args) {
  if (!args.has("manifest"))
    throw failure(exit_status::usage, "cohort: which subjects? usage: voxherd cohort MANIFEST");
  const auto& path = args.get<std::string>("manifest");
  const std::string given = args.has("template") ? args.get<std::string>("template") : "";
  const std::vector<std::string> more = split_words(args.has("more") ? args.get<std::string>("more") : "");
  const std::vector<cohort_subject> subjects = parse_manifest(path, read_text(s, path), given);
  if (args.has("run")) {
    option::refuse_given(args, "array", "with --run");
    option::refuse_given(args, "json", "with --run; --more '--json FILE' has the times of the subject");
    const long long task = args.get<long long>("run"), count = static_cast<long long>(subjects.size());
    if (task < 1 || task > count) option::refuse(fmt::format("--run {}: {} has subjects 1 to {}", task, path, count));
    return run_subject(s, subjects[static_cast<std::size_t>(task - 1)], more);
  }
  const std::vector<subject_status> all = gather_statuses(s, subjects, more);
  s.on_root([&] { report(args, path, all); });
  return exit_status::whole;
}

}  // namespace

extern const command cohort_command{
    "cohort",
    "many subjects: which are whole, partial, failed or not begun, what to submit; computes one",
    "MANIFEST [--template WORDS] [--run N] [--json FILE]",
    "manifest",
    options,
    run_command};

}  // namespace voxherd
