#include "src/batch/cohort/cohort_output.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "core/own_program.hpp"
#include "core/text.hpp"
#include "src/show/chart.hpp"
#include "src/show/draft.hpp"

namespace voxherd {

namespace {

std::size_t count_in_state(const std::vector<subject_status>& all, const char* state) {
  return static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [&](const subject_status& s) { return state_name(s.state) == std::string_view(state); }));
}

/// Rounded down: 99.6 % is not 100 % yet.
std::string percent(double fraction) { return fmt::format("{:.0f} %", std::floor(fraction * 100)); }

template <class Wanted>
std::vector<std::size_t> tasks_where(const std::vector<subject_status>& all, Wanted wanted) {
  std::vector<std::size_t> tasks;
  for (const subject_status& s : all)
    if (wanted(s)) tasks.push_back(s.task);
  return tasks;
}

/// The script that submits subjects: that of this folder, or the one that belongs to the program.
std::string find_script() {
  namespace fs = std::filesystem;
  const std::string name = "slurm/cohort.sbatch";
  std::error_code ignored;
  const fs::path folder = own_program().parent_path().parent_path();
  for (const fs::path& path : {fs::path(name), folder / "share/voxherd" / name, folder / name})
    if (fs::exists(path, ignored)) return quoted_word(path.string());
  return name;
}

std::string counts_text(const std::vector<subject_status>& all) {
  std::string text = fmt::format("{} subject{}:", all.size(), all.size() == 1 ? "" : "s");
  const char* comma = " ";
  for (const char* state : subject_state_names) {
    const std::size_t count = count_in_state(all, state);
    if (count == 0) continue;
    text += fmt::format("{}{} {}", comma, count, state);
    comma = ", ";
  }
  return text + '\n';
}

cost sum_costs(const std::vector<subject_status>& all) {
  cost sum;
  for (const subject_status& s : all) sum += s.spent;
  return sum;
}

/// A column of the table for one kind of cost, shown if the cohort has any of it.
struct cost_column {
  const char* name;
  double cost::*part;
};
constexpr cost_column cost_columns[] = {
    {"GPU h", &cost::gpu_hours}, {"core h", &cost::core_hours}, {"Wh", &cost::energy_wh}};

std::string cost_heading(const cost& sum) {
  std::string text;
  for (const cost_column& column : cost_columns)
    if (sum.*column.part > 0) text += fmt::format("{:>9}  ", column.name);
  return text;
}

std::string cost_cells(const cost& spent, const cost& sum) {
  std::string text;
  for (const cost_column& column : cost_columns)
    if (sum.*column.part > 0) text += fmt::format("{:>9.4g}  ", spent.*column.part);
  return text;
}

/// The rate of complete subjects that used GPUs.
std::string rate_text(const std::vector<subject_status>& all) {
  double count = 0, gpu_hours = 0;
  for (const subject_status& s : all) {
    if (s.state != subject_state::complete || s.spent.gpu_hours <= 0) continue;
    ++count;
    gpu_hours += s.spent.gpu_hours;
  }
  return count > 0 ? fmt::format("; {:.4g} subjects per GPU hour", count / gpu_hours) : "";
}

}  // namespace

std::string array_list(const std::vector<std::size_t>& tasks) {
  std::string text;
  for (std::size_t i = 0, last = 0; i < tasks.size(); i = last + 1) {
    for (last = i; last + 1 < tasks.size() && tasks[last + 1] == tasks[last] + 1;) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", tasks[i]);
    if (last > i) text += fmt::format("-{}", tasks[last]);
  }
  return text;
}

std::vector<std::size_t> tasks_to_submit(const std::vector<subject_status>& all) {
  return tasks_where(all, [](const subject_status& s) { return s.resubmit; });
}

std::vector<std::size_t> tasks_to_repair(const std::vector<subject_status>& all) {
  return tasks_where(all, [](const subject_status& s) { return s.state == subject_state::failed && !s.resubmit; });
}

std::string cohort_text(const std::string& script_words, const std::vector<subject_status>& all) {
  std::size_t width = 7;
  for (const subject_status& s : all) width = std::max(width, s.name.size());
  const cost spent = sum_costs(all);
  std::string text = fmt::format("{:>5}  {:<{}}  {:<11}  {}{:>5}  {}\n", "task", "subject", width, "status",
                                 cost_heading(spent), "done", "detail");
  for (const subject_status& s : all) {
    const std::string code = s.exit_status != 0 ? fmt::format("status {}: ", s.exit_status) : "";
    std::string line = fmt::format("{:>5}  {:<{}}  {:<11}  {}{:>5}  {}{}", s.task, s.name, width, state_name(s.state),
                                   cost_cells(s.spent, spent), percent(s.done), code, s.detail);
    line.erase(line.find_last_not_of(' ') + 1);
    text += one_line(line) + '\n';
  }
  text += counts_text(all);
  text += fmt::format("so far {}{}\n", cost_text(spent), rate_text(all));
  const auto submit = tasks_to_submit(all), repair = tasks_to_repair(all);
  if (!submit.empty())
    text += fmt::format("to submit: sbatch --array={} {} {}\n", array_list(submit), find_script(), script_words);
  if (!repair.empty())
    text += fmt::format("to repair first (they would fail again as they are): --array={}\n", array_list(repair));
  return text;
}

nlohmann::json cohort_json(const std::string& manifest, const std::vector<subject_status>& all) {
  nlohmann::json j{{"manifest", manifest}, {"subjects", nlohmann::json::array()}};
  for (const subject_status& s : all) j["subjects"].push_back(as_json(s));
  for (const char* state : subject_state_names) j["counts"][state] = count_in_state(all, state);
  j.update(sum_costs(all));
  j["resubmit"] = array_list(tasks_to_submit(all));
  j["repair"] = array_list(tasks_to_repair(all));
  return j;
}

}  // namespace voxherd

namespace voxherd::report {

namespace {

constexpr double max_score = 3.5;         // Iglewicz & Hoaglin 1993
constexpr std::size_t min_subjects = 10;  // the distances of fewer are too uncertain

/// The median of one output in each subject; NaN where a subject has none.
struct measure {
  std::string name, unit, meaning;
  std::vector<double> medians, scores;
};

double median_of_finite(std::vector<double> values) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  if (values.empty()) return NAN;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Distances from the median in units of the median distance, as if values were normally distributed.
void add_scores(measure& m) {
  constexpr double normal = 0.6745;
  const double centre = median_of_finite(m.medians);
  std::vector<double> distances;
  for (const double v : m.medians) distances.push_back(std::fabs(v - centre));
  const double spread = median_of_finite(distances);
  for (const double v : m.medians) m.scores.push_back(spread > 0 ? normal * (v - centre) / spread : 0);
}

std::vector<measure> read_measures(const std::vector<subject_status>& subjects) {
  std::vector<measure> measures;
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const result_reader result(subjects[i].out);
    for (const auto& [output, values] : describe_outputs(result_draft(result))) {
      const auto [found, is_new] = numbers.try_emplace(output.name, measures.size());
      if (is_new)
        measures.push_back({output.name, output.unit, output.meaning, std::vector<double>(subjects.size(), NAN), {}});
      if (values.values > 0) measures[found->second].medians[i] = values.median;
    }
  }
  for (measure& m : measures) add_scores(m);
  return measures;
}

/// A relative link, percent-encoded.
std::string encoded_link(const std::string& path) {
  std::string link = "./";
  for (const char c : path) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '-' || c == '_';
    link += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return link;
}

/// The link to a subject's own page; "" if there is none.
std::string find_page(const std::string& out, const std::string& from) {
  namespace fs = std::filesystem;
  const fs::path page = default_page_path(out);
  std::error_code error;
  if (!fs::exists(page, error)) return "";
  const fs::path folder = fs::absolute(from).parent_path();
  return encoded_link(fs::absolute(page).lexically_normal().lexically_relative(folder.lexically_normal()).string());
}

struct ranked_subject {
  std::size_t number;
  double score = 0;
  std::string measure = {};
};

std::vector<ranked_subject> rank_subjects(const std::vector<measure>& measures, std::size_t count) {
  std::vector<ranked_subject> ranked;
  for (std::size_t i = 0; i < count; ++i) {
    ranked.push_back({i});
    for (const measure& m : measures)
      if (std::fabs(m.scores[i]) > std::fabs(ranked.back().score)) ranked.back() = {i, m.scores[i], m.name};
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return std::fabs(a.score) > std::fabs(b.score); });
  return ranked;
}

table subject_rows(const std::vector<subject_status>& subjects, const std::vector<measure>& measures,
                   const std::vector<ranked_subject>& ranked, const std::string& path) {
  table t{"Subjects, those that differ most first", {"subject", "largest distance", "of"}, {}, {}};
  for (const measure& m : measures) t.header.push_back(with_unit(m.name, m.unit));
  for (const ranked_subject& r : ranked) {
    t.rows.push_back({subjects[r.number].name, fmt::format("{:.1f}", r.score), r.measure});
    for (const measure& m : measures) t.rows.back().push_back(number_text(m.medians[r.number]));
    t.links.push_back(find_page(subjects[r.number].out, path));
  }
  return t;
}

figure draw_measure(const measure& m, const std::vector<subject_status>& subjects) {
  line_chart chart{m.name, "subject", with_unit(m.name, m.unit), {}, {{m.name, m.medians, series::style::dots}}, {}};
  for (std::size_t i = 0; i < m.medians.size(); ++i) chart.x.push_back(static_cast<double>(i + 1));
  table t{m.name, {"subject", with_unit(m.name, m.unit)}, {}, {}};
  for (std::size_t i = 0; i < subjects.size(); ++i) t.rows.push_back({subjects[i].name, number_text(m.medians[i])});
  return {with_unit(m.name, m.unit),
          draw_lines(chart, fmt::format("Median of {} in each subject.", m.name)),
          explain(m.name, m.meaning, "The median of each subject, in the order of the manifest."),
          {t},
          false};
}

void warn_about_outliers(page& p, const std::vector<subject_status>& subjects,
                         const std::vector<ranked_subject>& ranked) {
  if (subjects.size() < min_subjects) return;
  for (const ranked_subject& r : ranked)
    if (std::fabs(r.score) > max_score)
      p.warnings.push_back(
          fmt::format("{}: the median of {} is far from those of the other subjects (distance {:.1f}).",
                      subjects[r.number].name, r.measure, r.score));
}

}  // namespace

page make_cohort_page(const std::string& manifest, const std::vector<subject_status>& subjects,
                      const std::string& path) {
  std::vector<subject_status> complete;
  for (const subject_status& s : subjects)
    if (s.state == subject_state::complete) complete.push_back(s);
  const std::vector<measure> measures = read_measures(complete);
  const std::vector<ranked_subject> ranked = rank_subjects(measures, complete.size());
  page p;
  p.title = "voxherd cohort: " + manifest;
  p.lead = fmt::format("{} of {} subjects are complete", complete.size(), subjects.size());
  p.facts = {"What is shown", {}, {{"manifest", manifest}, {"complete", std::to_string(complete.size())}}, {}};
  if (complete.size() < subjects.size())
    p.warnings.push_back(
        fmt::format("{} of {} subjects are not complete.", subjects.size() - complete.size(), subjects.size()));
  warn_about_outliers(p, complete, ranked);
  p.sections.push_back(
      {"Subjects",
       {fmt::format(
           "The distance is the modified z-score: 0.6745 times the difference from the median of all subjects, over "
           "the median of such differences. Distances beyond {} are unusual.",
           max_score)},
       {},
       {subject_rows(complete, measures, ranked, path)}});
  p.sections.push_back({"Outputs", {}, {}, {}});
  p.numbers["subjects"] = nlohmann::json::array();
  for (const subject_status& s : complete) p.numbers["subjects"].push_back(s.name);
  for (const measure& m : measures) {
    p.sections.back().figures.push_back(draw_measure(m, complete));
    p.numbers["medians"][m.name] = m.medians;
    p.numbers["distances"][m.name] = m.scores;
  }
  p.numbers["warnings"] = p.warnings;
  return p;
}

}  // namespace voxherd::report
