#include "src/tools/report/page.hpp"

#include <fmt/core.h>

#include "src/io/utf8.hpp"
#include "src/tools/report/style.hpp"

namespace voxherd::report {

namespace {

// Nothing is loaded and nothing is run, whatever a text from a file contains.
constexpr auto policy =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

std::string figure_markup(const figure& f) {
  std::string html = fmt::format("<figure{}>\n<h3>{}</h3>\n{}\n<figcaption>{}</figcaption>\n",
                                 f.wide ? " class=\"wide\"" : "", escaped(f.title), f.markup, escaped(f.explanation));
  if (!f.tables.empty()) {
    html += fmt::format("<details><summary>Numbers of “{}”</summary>\n", escaped(f.title));
    for (const table& t : f.tables) html += table_markup(t);
    html += "</details>\n";
  }
  return html + "</figure>\n";
}

std::string section_markup(const section& s, std::size_t number) {
  std::string html = fmt::format("<section id=\"s{0}\" aria-labelledby=\"h{0}\">\n<h2 id=\"h{0}\">{1}</h2>\n", number,
                                 escaped(s.title));
  for (const std::string& text : s.paragraphs) html += fmt::format("<p>{}</p>\n", escaped(text));
  if (!s.figures.empty()) html += "<div class=\"figures\">\n";
  for (const figure& f : s.figures) html += figure_markup(f);
  if (!s.figures.empty()) html += "</div>\n";
  for (const table& t : s.tables) html += table_markup(t);
  return html + "</section>\n";
}

std::string warning_markup(const std::vector<std::string>& warnings) {
  std::string html =
      fmt::format("<section class=\"{}\" aria-labelledby=\"warnings\">\n<h2 id=\"warnings\">Warnings</h2>\n",
                  warnings.empty() ? "calm" : "warnings");
  if (warnings.empty()) html += "<p>None.</p>\n";
  if (!warnings.empty()) html += "<ul>\n";
  for (const std::string& text : warnings) html += fmt::format("<li>{}</li>\n", escaped(text));
  if (!warnings.empty()) html += "</ul>\n";
  return html + "</section>\n";
}

std::string methods_markup(const page& p) {
  std::string html = fmt::format(
      "<section id=\"methods\" aria-labelledby=\"hm\">\n<h2 id=\"hm\">Methods</h2>\n<p>This paragraph may be used in a "
      "paper as it is.</p>\n<blockquote><p>{}</p></blockquote>\n<h3>References</h3>\n<ol>\n",
      escaped(p.methods));
  for (const reference& r : p.references) {
    const std::string link = escaped("https://doi.org/" + r.doi);
    html += fmt::format("<li>{}", escaped(r.text));
    if (!r.doi.empty()) html += fmt::format(" <a href=\"{0}\" rel=\"noreferrer\">{0}</a>", link);
    html += "</li>\n";
  }
  return html + "</ol>\n</section>\n";
}

std::string contents_markup(const page& p) {
  std::string html = "<nav aria-label=\"Contents\"><ul>\n";
  for (std::size_t i = 0; i < p.sections.size(); ++i)
    html += fmt::format("<li><a href=\"#s{}\">{}</a></li>\n", i, escaped(p.sections[i].title));
  if (!p.methods.empty()) html += "<li><a href=\"#methods\">Methods</a></li>\n";
  return html + "</ul></nav>\n";
}

/// JSON inside a script element: no `<` may begin a tag there.
std::string embedded_json(const nlohmann::json& numbers) {
  std::string safe;
  for (const char c : json_text(numbers, -1)) safe += c == '<' ? "\\u003c" : std::string(1, c);
  return fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n", safe);
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : valid_utf8(text)) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else if (c == '"') {
      safe += "&quot;";
    } else if (c == '\'') {
      safe += "&#39;";
    } else if ((code < 32 && c != '\n' && c != '\t') || code == 127) {
      safe += "\uFFFD";
    } else {
      safe += c;
    }
  }
  return safe;
}

namespace {

std::string linked(const std::string& text, const std::string& link) {
  return link.empty() ? escaped(text) : fmt::format("<a href=\"{}\">{}</a>", escaped(link), escaped(text));
}

}  // namespace

std::string table_markup(const table& t) {
  // A wide table scrolls by itself; with a tab stop it does so by keyboard too.
  std::string html = fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\"><table><caption>{0}</caption>\n",
      escaped(t.caption));
  if (!t.header.empty()) html += "<thead><tr>";
  for (const std::string& name : t.header) html += fmt::format("<th scope=\"col\">{}</th>", escaped(name));
  if (!t.header.empty()) html += "</tr></thead>\n";
  html += "<tbody>\n";
  for (std::size_t number = 0; number < t.rows.size(); ++number) {
    const auto& row = t.rows[number];
    const std::string link = number < t.links.size() ? t.links[number] : "";
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      html += i == 0 ? fmt::format("<th scope=\"row\">{}</th>", linked(row[i], link))
                     : fmt::format("<td>{}</td>", escaped(row[i]));
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string json_path(const std::string& page_path) {
  constexpr std::string_view ending = ".html";
  const std::size_t length = page_path.size() - (page_path.ends_with(ending) ? ending.size() : 0);
  return page_path.substr(0, length) + ".json";
}

std::string json_text(const nlohmann::json& numbers, int indent) {
  return numbers.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string write_page(const page& p) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<header>\n<h1>{}</h1>\n<p>{}</p>\n</header>\n",
      policy, escaped(p.title), style_sheet, escaped(p.title), escaped(p.lead));
  html += "<main>\n" + warning_markup(p.warnings) + contents_markup(p);
  html += fmt::format("<section aria-labelledby=\"run\">\n<h2 id=\"run\">{}</h2>\n{}</section>\n",
                      escaped(p.facts_title), table_markup(p.facts));
  for (std::size_t i = 0; i < p.sections.size(); ++i) html += section_markup(p.sections[i], i);
  if (!p.methods.empty()) html += methods_markup(p);
  html += "</main>\n";
  return html + embedded_json(p.numbers) + "</body>\n</html>\n";
}

}  // namespace voxherd::report
