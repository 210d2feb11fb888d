#include "src/show/page.hpp"

#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "core/escape.hpp"
#include "core/json_text.hpp"

namespace voxherd::report {

namespace {

// Nothing is loaded and nothing is run, whatever a text from a file contains.
constexpr auto policy =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

std::string figure_markup(const figure& f) {
  std::string html =
      fmt::format("<figure{}>\n<h3>{}</h3>\n{}\n<figcaption>{}</figcaption>\n", f.wide ? " class=\"wide\"" : "",
                  html_text(f.title), f.markup, html_text(f.explanation));
  if (!f.tables.empty()) {
    html += fmt::format("<details><summary>Numbers of “{}”</summary>\n", html_text(f.title));
    for (const table& t : f.tables) html += table_markup(t);
    html += "</details>\n";
  }
  return html + "</figure>\n";
}

std::string section_markup(const section& s, std::size_t number) {
  std::string html = fmt::format("<section id=\"s{0}\" aria-labelledby=\"h{0}\">\n<h2 id=\"h{0}\">{1}</h2>\n", number,
                                 html_text(s.title));
  for (const std::string& text : s.paragraphs) html += fmt::format("<p>{}</p>\n", html_text(text));
  if (!s.figures.empty()) html += "<div class=\"figures\">\n";
  for (const figure& f : s.figures) html += figure_markup(f);
  if (!s.figures.empty()) html += "</div>\n";
  for (const table& t : s.tables) html += table_markup(t);
  return html + "</section>\n";
}

std::string warning_markup(const std::vector<std::string>& warnings, const std::vector<std::string>& notes) {
  std::string html =
      fmt::format("<section class=\"{}\" aria-labelledby=\"warnings\">\n<h2 id=\"warnings\">Warnings</h2>\n",
                  warnings.empty() ? "calm" : "warnings");
  if (warnings.empty()) html += "<p>No warnings.</p>\n";
  if (!warnings.empty()) html += "<ul>\n";
  for (const std::string& text : warnings) html += fmt::format("<li>{}</li>\n", html_text(text));
  if (!warnings.empty()) html += "</ul>\n";
  for (const std::string& text : notes) html += fmt::format("<p>{}</p>\n", html_text(text));
  return html + "</section>\n";
}

std::string methods_markup(const page& p) {
  std::string html = fmt::format(
      "<section id=\"methods\" aria-labelledby=\"hm\">\n<h2 id=\"hm\">Methods</h2>\n<p>This paragraph may be used in a "
      "paper as it is.</p>\n<blockquote><p>{}</p></blockquote>\n<h3>References</h3>\n<ol>\n",
      html_text(p.methods));
  for (const reference& r : p.references) {
    const std::string link = html_text("https://doi.org/" + r.doi);
    html += fmt::format("<li>{}", html_text(r.text));
    if (!r.doi.empty()) html += fmt::format(" <a href=\"{0}\" rel=\"noreferrer\">{0}</a>", link);
    html += "</li>\n";
  }
  return html + "</ol>\n</section>\n";
}

std::string contents_markup(const page& p) {
  std::string html = "<nav aria-label=\"Contents\"><ul>\n";
  for (std::size_t i = 0; i < p.sections.size(); ++i)
    html += fmt::format("<li><a href=\"#s{}\">{}</a></li>\n", i, html_text(p.sections[i].title));
  html += fmt::format("<li><a href=\"#run\">{}</a></li>\n", html_text(p.facts_title));
  if (!p.methods.empty()) html += "<li><a href=\"#methods\">Methods</a></li>\n";
  return html + "</ul></nav>\n";
}

/// JSON inside a script element: no `<` may begin a tag there.
std::string embedded_json(const nlohmann::json& numbers) {
  std::string safe;
  for (const char c : dump_json(numbers)) safe += c == '<' ? "\\u003c" : std::string(1, c);
  return fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n", safe);
}

/// A text; the words of a command line are not broken at their hyphens.
std::string cell_markup(const std::string& text) {
  if (text.find(" --") == std::string::npos) return html_text(text);
  std::string html;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    html += fmt::format("{}<span class=\"word\">{}</span>", begin > 0 ? " " : "",
                        html_text(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return html;
}

std::string linked(const std::string& text, const std::string& link) {
  return link.empty() ? html_text(text) : fmt::format("<a href=\"{}\">{}</a>", html_text(link), html_text(text));
}

}  // namespace

std::string table_markup(const table& t) {
  // A wide table scrolls by itself; with a tab stop it does so by keyboard too.
  std::string html = fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\"><table><caption>{0}</caption>\n",
      html_text(t.caption));
  if (!t.header.empty()) html += "<thead><tr>";
  for (const std::string& name : t.header) html += fmt::format("<th scope=\"col\">{}</th>", html_text(name));
  if (!t.header.empty()) html += "</tr></thead>\n";
  html += "<tbody>\n";
  for (std::size_t number = 0; number < t.rows.size(); ++number) {
    const auto& row = t.rows[number];
    const std::string link = number < t.links.size() ? t.links[number] : "";
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      html += i == 0 ? fmt::format("<th scope=\"row\">{}</th>", linked(row[i], link))
                     : fmt::format("<td>{}</td>", cell_markup(row[i]));
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string json_path(const std::string& page_path) {
  constexpr std::string_view ending = ".html";
  const std::size_t length = page_path.size() - (page_path.ends_with(ending) ? ending.size() : 0);
  return page_path.substr(0, length) + ".json";
}

std::string write_page(const page& p) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{}\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<header>\n<h1>{}</h1>\n<p>{}</p>\n</header>\n",
      generator_mark, policy, html_text(p.title), style_sheet, html_text(p.title), html_text(p.lead));
  html += "<main>\n" + warning_markup(p.warnings, p.notes) + contents_markup(p);
  std::string facts = fmt::format("<section aria-labelledby=\"run\">\n<h2 id=\"run\">{}</h2>\n{}</section>\n",
                                  html_text(p.facts_title), table_markup(p.facts));
  for (std::size_t i = 0; i < p.sections.size(); ++i) {
    if (p.sections[i].title == records_title) html += std::exchange(facts, "");
    html += section_markup(p.sections[i], i);
  }
  html += facts;
  if (!p.methods.empty()) html += methods_markup(p);
  html += "</main>\n";
  return html + embedded_json(p.numbers) + "</body>\n</html>\n";
}

const char* const style_sheet = R"css(
:root{--page:#fff;--text:#1b1f24;--quiet:#57606a;--line:#d0d7de;--panel:#f6f8fa;--link:#0550ae;--alarm:#8a1c1c;
--alarm-page:#fff1f0;--c0:#0072b2;--c1:#b34700;--c2:#00734f;--c3:#a03a78;--c4:#6b5900;--band:#d0d7de}
@media (prefers-color-scheme:dark){:root{--page:#14171b;--text:#e6e9ed;--quiet:#a6afb9;--line:#3a424b;--panel:#1c2127;
--link:#7ab8ff;--alarm:#ffb3ad;--alarm-page:#3a1a1a;--c0:#56b4e9;--c1:#ff9d5c;--c2:#3ecf9a;--c3:#e79ac8;--c4:#f0e442;
--band:#3a424b}}
*{box-sizing:border-box}
html{color-scheme:light dark}
body{margin:0 auto;max-width:72rem;padding:1rem;background:var(--page);color:var(--text);
font:16px/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;overflow-wrap:anywhere}
h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0}
h2{font-size:1.3rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line);padding-bottom:.2rem}
h3{font-size:1.05rem;margin:.2rem 0 .5rem}
header p{color:var(--quiet);margin:.2rem 0}
a{color:var(--link)}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;list-style:none;padding:0;margin:1rem 0}
.warnings{border-left:.4rem solid var(--alarm);background:var(--alarm-page);padding:.5rem 1rem;margin:1rem 0}
.warnings h2,.calm h2{margin:0;border:0;font-size:1.1rem}
.warnings h2{color:var(--alarm)}
.warnings ul{margin:.3rem 0;padding-left:1.2rem}
.calm{border-left:.4rem solid var(--c2);background:var(--panel);padding:.5rem 1rem;margin:1rem 0}
.calm p{margin:0}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(26rem,100%),1fr));gap:1rem}
figure{margin:0;padding:.8rem;background:var(--panel);border:1px solid var(--line);border-radius:.4rem;min-width:0}
figure.wide{grid-column:1/-1}
figure img{display:block;width:100%;height:auto;background:#000;image-rendering:pixelated}
figure img.smooth{image-rendering:auto}
figure svg{display:block;width:100%;height:auto;max-width:40rem;margin:0 auto}
figcaption{margin-top:.5rem;color:var(--text)}
.picture{position:relative;width:100%}
.mark{position:absolute;padding:.1rem .2rem;color:#ffe34d;background:#0009;white-space:nowrap;
font:600 .85rem/1 system-ui,"DejaVu Sans",sans-serif}
.mark.end{transform:translate(-100%,-50%)}
.mark.begin{transform:translateY(-50%)}
.mark.foot{transform:translateY(-100%);font-weight:400;font-size:.75rem}
.word{display:inline-block;max-width:100%}
.legend{color:var(--quiet);font-size:.9rem;margin:.3rem 0 0}
.bar{display:flex;align-items:center;gap:.5rem;margin:.4rem 0 0;font-size:.9rem}
.bar img{flex:1;min-width:4rem;height:.8rem;image-rendering:auto}
.views{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(16rem,100%),1fr));gap:.5rem;align-items:center;
justify-items:center}
.key svg{display:inline-block;width:1.8rem;margin:0 .3rem 0 0;vertical-align:middle}
.key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;list-style:none;padding:0;margin:.4rem 0 0;font-size:.9rem}
.key i{display:inline-block;width:.9rem;height:.9rem;margin-right:.4rem;vertical-align:-.1rem;border:1px solid var(--line)}
details{margin-top:.5rem}
summary{cursor:pointer;color:var(--link)}
.scroll{overflow-x:auto;margin:.5rem 0}
table{border-collapse:collapse;font-size:.9rem}
caption{text-align:left;color:var(--quiet);padding:.2rem 0}
th,td{text-align:left;vertical-align:top;padding:.2rem .6rem .2rem 0;border-bottom:1px solid var(--line)}
thead th{white-space:nowrap}
tbody th{font-weight:600;min-width:6rem}
th,td{overflow-wrap:break-word}
td{font-variant-numeric:tabular-nums;min-width:3rem}
td:last-child{overflow-wrap:anywhere}
@media (max-width:40rem){td:last-child:nth-child(n+4){min-width:14rem}}
blockquote{margin:.5rem 0;padding:.2rem 1rem;border-left:.3rem solid var(--line);background:var(--panel)}
svg text{fill:var(--text);font:12px system-ui,"DejaVu Sans",sans-serif}
svg .axis{stroke:var(--quiet);fill:none}
svg .grid{stroke:var(--line);fill:none}
.k0{--k:var(--c0)}.k1{--k:var(--c1)}.k2{--k:var(--c2)}.k3{--k:var(--c3)}.k4{--k:var(--c4)}
.k1 .draw{stroke-dasharray:6 3}.k2 .draw{stroke-dasharray:2 2}
svg .fill{fill:var(--k,var(--c0))}
svg .draw{stroke:var(--k,var(--c0));fill:none;stroke-width:1.6}
svg .band{fill:var(--band)}
@media print{body{max-width:none;font-size:10pt}figure,tr{break-inside:avoid}nav{display:none}
details::details-content{content-visibility:visible;block-size:auto}.scroll{overflow:visible}}
)css";

namespace {

bool has_display() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return true;
  return false;
}

/// Whether xdg-open started and did not fail. It either ends at once or runs as long as the browser, without being
/// waited for.
bool open_in_browser(const std::string& file) {
  std::string program = "xdg-open", argument = file;
  char* words[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, "xdg-open", nullptr, nullptr, words, environ) != 0) return false;
  constexpr int tries = 60;
  constexpr useconds_t between_us = 50000;
  for (int i = 0; i < tries; ++i) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    usleep(between_us);
  }
  return true;
}

}  // namespace

void show_page(const std::string& path) {
  // An absolute path never looks like an option.
  const std::string file = std::filesystem::absolute(path).string();
  if (has_display() && open_in_browser(file)) return;
  fmt::print("there is no {}; open {} in a browser\n", has_display() ? "browser that xdg-open can start" : "display",
             file);
}

}  // namespace voxherd::report
