#include <algorithm>

#include "src/report/report_pages.hpp"
#include "src/show/analysis_views.hpp"
#include "src/show/methods.hpp"

namespace voxherd::report {

page make_result_page(const std::string& path, view_sides sides) {
  const result_reader result(path);
  result.check_batches();
  result_draft d(result, sides);
  describe_run(d);
  add_common_warnings(d);
  write_chapter(d);
  methods_text methods = write_methods(result);
  d.out.methods = methods.text + " " + methods.data;
  d.out.references = std::move(methods.references);
  add_records(d);
  return std::move(d.out);
}

void finish_page(page& p) {
  std::erase_if(p.sections, [](const section& part) {
    return part.paragraphs.empty() && part.figures.empty() && part.tables.empty();
  });
  p.numbers["warnings"] = p.warnings;
  p.numbers["notes"] = p.notes;
}

namespace {

/// Tables of several parts have different captions, which screen readers announce.
void name_tables(const std::string& name, std::vector<table>& tables) {
  for (table& t : tables) t.caption = name + ": " + t.caption;
}

void add_references(const std::vector<reference>& more, std::vector<reference>& all) {
  for (const reference& r : more)
    if (std::none_of(all.begin(), all.end(), [&](const reference& known) { return known.text == r.text; }))
      all.push_back(r);
}

}  // namespace

page join_pages(const std::string& title, std::vector<std::pair<std::string, page>> parts) {
  page all;
  all.title = title;
  all.facts_title = "Results";
  all.facts = {"What is shown", {}, {}};
  for (auto& [name, part] : parts) {
    all.facts.rows.push_back({name, part.lead});
    for (const std::string& text : part.warnings) all.warnings.push_back(name + ": " + text);
    for (const std::string& text : part.notes) all.notes.push_back(name + ": " + text);
    part.sections.insert(part.sections.begin(), {part.facts_title, {}, {}, {part.facts}});
    for (section& one : part.sections) {
      one.title = name + ": " + one.title;
      name_tables(name, one.tables);
      for (figure& f : one.figures) name_tables(name, f.tables);
      all.sections.push_back(std::move(one));
    }
    all.methods += (all.methods.empty() ? "" : " ") + part.methods;
    add_references(part.references, all.references);
    all.numbers[name] = std::move(part.numbers);
  }
  finish_page(all);
  return all;
}

}  // namespace voxherd::report
