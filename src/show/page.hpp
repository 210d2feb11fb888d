#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace voxherd::report {

/// A table of texts. The first column names the rows; `links`, if any, are of these names, "" for none.
struct table {
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> links = {};
};

/// A picture or chart: its markup, what it shows, and its numbers.
struct figure {
  std::string title;
  std::string markup;       ///< HTML, with a text alternative
  std::string explanation;  ///< plain text
  std::vector<table> tables;
  bool wide = false;
};

struct section {
  std::string title;
  std::vector<std::string> paragraphs;  ///< plain text
  std::vector<figure> figures;
  std::vector<table> tables;
};

/// A paper that the methods paragraph cites. `doi` may be empty.
struct reference {
  std::string text, doi;
};

/// The section with all numbers, at the end of a page.
inline constexpr auto records_title = "Records";

/// A page in the order in which it is read: warnings, sections, the table of facts before the records. All texts are
/// plain; they are escaped when the page is written.
struct page {
  std::string title, lead;
  table facts;
  std::string facts_title = "Run";
  std::vector<std::string> warnings;
  std::vector<std::string> notes;  ///< what a reader should know, and need not worry about
  std::vector<section> sections;
  std::string methods;
  std::vector<reference> references;
  nlohmann::json numbers;
};

std::string table_markup(const table& t);

/// One HTML file that loads nothing and runs no script. It says near its beginning who made it.
std::string write_page(const page& p);
inline constexpr const char* generator_mark = "<meta name=\"generator\" content=\"voxherd\">";

/// The file with a page's numbers: page.json of page.html.
std::string json_path(const std::string& page_path);

/// The style sheet of every page: light and dark, on paper, and from a width of 320 pixels.
extern const char* const style_sheet;

/// Shows a file in the user's browser by xdg-open, without a shell. Without a display, or if that fails, prints how to
/// open it.
void show_page(const std::string& path);

}  // namespace voxherd::report
