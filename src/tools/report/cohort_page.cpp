#include "src/tools/report/cohort_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "src/tools/report/chart.hpp"
#include "src/tools/report/draft.hpp"

namespace voxherd::report {

namespace {

constexpr double max_score = 3.5;         // Iglewicz & Hoaglin 1993
constexpr std::size_t min_subjects = 10;  // the distances of fewer are too uncertain

/// The median of one output in each subject; NaN where a subject has none.
struct measure {
  std::string name, unit, meaning;
  std::vector<double> medians, scores;
};

double median(std::vector<double> values) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  if (values.empty()) return NAN;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Distances from the median in units of the median distance, as if values were normally distributed.
void add_scores(measure& m) {
  constexpr double normal = 0.6745;
  const double centre = median(m.medians);
  std::vector<double> distances;
  for (const double v : m.medians) distances.push_back(std::fabs(v - centre));
  const double spread = median(distances);
  for (const double v : m.medians) m.scores.push_back(spread > 0 ? normal * (v - centre) / spread : 0);
}

std::vector<measure> read_measures(const std::vector<cohort_entry>& subjects) {
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

table subject_rows(const std::vector<cohort_entry>& subjects, const std::vector<measure>& measures,
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

figure draw_measure(const measure& m, const std::vector<cohort_entry>& subjects) {
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

void warn_about_outliers(page& p, const std::vector<cohort_entry>& subjects,
                         const std::vector<ranked_subject>& ranked) {
  if (subjects.size() < min_subjects) return;
  for (const ranked_subject& r : ranked)
    if (std::fabs(r.score) > max_score)
      p.warnings.push_back(
          fmt::format("{}: the median of {} is far from those of the other subjects (distance {:.1f}).",
                      subjects[r.number].name, r.measure, r.score));
}

}  // namespace

page make_cohort_page(const std::string& manifest, const std::vector<cohort_entry>& subjects, const std::string& path) {
  std::vector<cohort_entry> complete;
  for (const cohort_entry& s : subjects)
    if (s.state == "complete") complete.push_back(s);
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
  for (const cohort_entry& s : complete) p.numbers["subjects"].push_back(s.name);
  for (const measure& m : measures) {
    p.sections.back().figures.push_back(draw_measure(m, complete));
    p.numbers["medians"][m.name] = m.medians;
    p.numbers["distances"][m.name] = m.scores;
  }
  p.numbers["warnings"] = p.warnings;
  return p;
}

}  // namespace voxherd::report
