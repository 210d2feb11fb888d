#include "src/io/surfaces/surface_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/failure.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

/// Words of a text, with the line of the last one.
class word_reader {
 public:
  word_reader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const {
    throw failure(exit_status::bad_data,
                  fmt::format("{}: line {}: found {}, expected {}", name_, line_, found, expected));
  }

  /// The rest of the current line.
  std::string_view rest_of_line() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view rest = text_.substr(at_, end - at_);
    at_ = std::min(end + 1, text_.size());
    ++line_;
    while (rest.ends_with('\r') || rest.ends_with(' ')) rest.remove_suffix(1);
    return rest;
  }

  /// Whether another word follows on the same line.
  bool has_more_on_line() {
    while (at_ < text_.size() && is_blank(text_[at_]) && text_[at_] != '\n') ++at_;
    return at_ < text_.size() && text_[at_] != '\n';
  }

  /// "" at the end.
  std::string_view word() {
    for (; at_ < text_.size() && is_blank(text_[at_]); ++at_) line_ += text_[at_] == '\n';
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_blank(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  template <class Number>
  Number number(const char* expected) {
    std::string_view token = word();
    const std::string_view digits = token.size() > 1 && token[0] == '+' ? token.substr(1) : token;
    Number value{};
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (code != std::errc{} || end != digits.data() + digits.size())
      refuse(token.empty() ? "the end of the file" : fmt::format("\"{}\"", printable(std::string(token.substr(0, 40)))),
             expected);
    return value;
  }

  /// Rounded from double: a tiny number is not an error, as it would be when
  /// read as float.
  float real(const char* expected) {
    const auto value = static_cast<float>(number<double>(expected));
    if (!std::isfinite(value)) refuse(fmt::format("{}", value), expected);
    return value;
  }

  /// How many lines of at least `bytes` each are announced; refuses more than
  /// the rest of the text can hold.
  std::uint64_t count(const char* what, std::uint64_t bytes) {
    const auto n = number<std::uint64_t>(what);
    if (n < 1 || n > (text_.size() - at_) / bytes)
      refuse(fmt::format("{} {}", n, what),
             fmt::format("1 to {}, which is what the rest of the file can hold", (text_.size() - at_) / bytes));
    return n;
  }

  std::array<float, 3> point() {
    std::array<float, 3> mm{};
    for (float& x : mm) x = real("a finite coordinate");
    return mm;
  }

  std::array<std::uint32_t, 3> triangle(std::size_t points) {
    std::array<std::uint32_t, 3> corners{};
    for (std::uint32_t& c : corners) {
      c = number<std::uint32_t>("the number of a vertex");
      if (c >= points)
        refuse(fmt::format("the vertex {}", c), fmt::format("the number of one of {} vertices, from 0", points));
    }
    return corners;
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f'; }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 1;
};

void read_vtk_scalars(word_reader& words, std::size_t points, surface& s) {
  words.word();  // the name
  words.word();  // the type
  if (words.has_more_on_line() && words.number<int>("the number of components") != 1)
    words.refuse("scalars of several components", "one value per vertex");
  if (const auto table = words.word(); table != "LOOKUP_TABLE")
    words.refuse(fmt::format("\"{}\"", printable(std::string(table.substr(0, 40)))), "LOOKUP_TABLE");
  words.word();
  s.values.resize(points);
  for (float& v : s.values) v = words.real("a finite value");
}

}  // namespace

surface parse_freesurfer_text(std::string_view text, const std::string& name) {
  word_reader words(text, name);
  words.rest_of_line();
  surface s;
  // The shortest lines are "0 0 0" with a line feed.
  constexpr std::uint64_t shortest_line = 6;
  const std::uint64_t points = words.count("vertices", shortest_line);
  const std::uint64_t triangles = words.count("triangles", shortest_line);
  s.points_mm.resize(points);
  s.values.resize(points);
  bool has_values = false;
  for (std::uint64_t i = 0; i < points; ++i) {
    s.points_mm[i] = words.point();
    if (!words.has_more_on_line()) continue;
    s.values[i] = words.real("a finite value");
    has_values = true;
    if (words.has_more_on_line()) words.refuse("a fifth word", "x y z and a value");
  }
  if (!has_values) s.values.clear();
  s.triangles.resize(triangles);
  for (auto& t : s.triangles) {
    t = words.triangle(points);
    if (words.has_more_on_line()) words.rest_of_line();
  }
  return s;
}

surface parse_vtk_text(std::string_view text, const std::string& name) {
  word_reader words(text, name);
  words.rest_of_line();
  words.rest_of_line();
  if (const auto form = words.rest_of_line(); form != "ASCII")
    words.refuse(fmt::format("\"{}\"", printable(std::string(form.substr(0, 40)))),
                 "ASCII (a file in binary form is not supported)");
  surface s;
  bool of_points = false;
  for (std::string_view word = words.word(); !word.empty(); word = words.word()) {
    if (word == "DATASET") {
      if (const auto kind = words.word(); kind != "POLYDATA")
        words.refuse(fmt::format("\"DATASET {}\"", printable(std::string(kind.substr(0, 40)))), "DATASET POLYDATA");
    } else if (word == "POINTS" && s.points_mm.empty()) {
      s.points_mm.resize(words.count("points", 6));
      words.word();
      for (auto& p : s.points_mm) p = words.point();
    } else if (word == "POLYGONS" && s.triangles.empty()) {
      s.triangles.resize(words.count("polygons", 8));
      words.word();
      for (auto& t : s.triangles) {
        if (const auto corners = words.number<int>("the number of corners"); corners != 3)
          words.refuse(fmt::format("a polygon of {} corners", corners), "triangles");
        t = words.triangle(s.points_mm.size());
      }
    } else if (word == "POINT_DATA") {
      const auto count = words.number<std::uint64_t>("the number of points");
      if (count != s.points_mm.size())
        words.refuse(fmt::format("POINT_DATA {}", count), fmt::format("{} as of POINTS", s.points_mm.size()));
      of_points = true;
    } else if (word == "SCALARS" && of_points) {
      read_vtk_scalars(words, s.points_mm.size(), s);
      break;
    } else {
      break;  // nothing else is used
    }
  }
  return s;
}

}  // namespace voxherd
