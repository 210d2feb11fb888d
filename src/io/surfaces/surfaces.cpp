#include "src/io/surfaces/surfaces.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "core/failure.hpp"
#include "src/io/input_file.hpp"
#include "src/io/surfaces/gifti_file.hpp"
#include "src/io/text_file.hpp"

namespace voxherd {

namespace {

constexpr std::string_view freesurfer_start = "#!ascii", vtk_start = "# vtk DataFile Version";

enum class surface_format { gifti, freesurfer_text, vtk_text };

std::optional<surface_format> find_format(const std::string& path) {
  if (path.ends_with(".gii") || path.ends_with(".gii.gz")) return surface_format::gifti;
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return {};
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  std::string start(byte_order_mark.size() + vtk_start.size(), '\0');
  start.resize(input_file(path).read_some(0, start.data(), start.size()));
  if (start.starts_with(byte_order_mark)) start.erase(0, byte_order_mark.size());
  if (start.starts_with(freesurfer_start)) return surface_format::freesurfer_text;
  if (start.starts_with(vtk_start)) return surface_format::vtk_text;
  return {};
}

/// The only array of an intent.
const gifti_array& find_array(const gifti_file& file, const char* intent, const char* what) {
  const gifti_array* found = nullptr;
  for (const gifti_array& array : file.arrays) {
    if (array.intent != intent) continue;
    if (found != nullptr) refuse_data("{}: has two arrays of {}, expected one surface", file.name, what);
    found = &array;
  }
  if (found == nullptr)
    refuse_data("{}: has no {} (NIFTI_INTENT_{}), expected a surface such as white.surf.gii", file.name, what, intent);
  if (found->columns != 3)
    refuse_data("{}: the array of {} has {} columns, expected 3", file.name, what, found->columns);
  return *found;
}

/// Intents of arrays with values per vertex, as FSL reads them.
bool has_values(const gifti_array& array) {
  constexpr const char* intents[] = {"NONE", "SHAPE", "TIME_SERIES", "NORMAL", "LABEL", "ESTIMATE"};
  return std::any_of(std::begin(intents), std::end(intents), [&](const char* i) { return array.intent == i; });
}

std::string find_structure(const gifti_file& file) {
  for (const gifti_array& array : file.arrays)
    if (const auto note = array.notes.find(structure_note); note != array.notes.end())
      return cifti_structure(note->second);
  const auto note = file.notes.find(structure_note);
  return note == file.notes.end() ? "" : cifti_structure(note->second);
}

/// An offset of the centre of FreeSurfer's volume, which mris_convert writes beside coordinates that count from there.
std::string describe_volume_centre(const gifti_array& points) {
  std::array<double, 3> centre{};
  constexpr const char* notes[] = {"VolGeomC_R", "VolGeomC_A", "VolGeomC_S"};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto note = points.notes.find(notes[d]);
    if (note == points.notes.end()) return "";
    const char* const end = note->second.data() + note->second.size();
    if (std::from_chars(note->second.data(), end, centre[d]).ec != std::errc{}) return "";
  }
  if (std::all_of(centre.begin(), centre.end(), [](double mm) { return std::abs(mm) < 1e-3; })) return "";
  return fmt::format("its VolGeomC_R, _A, _S say that they count from the centre of FreeSurfer's volume, at {} mm",
                     fmt::join(centre, ", "));
}

std::string describe_transform(const gifti_transform& t) {
  if (t.to != "NIFTI_XFORM_SCANNER_ANAT" || t.from == t.to || t.matrix.size() != 16) return "";
  double change = 0;
  for (std::size_t i = 0; i < 16; ++i) change = std::max(change, std::abs(t.matrix[i] - (i % 5 == 0 ? 1 : 0)));
  if (change < 1e-3) return "";
  return fmt::format(
      "its CoordinateSystemTransformMatrix maps them to the scanner's space, a shift of {:.4g}, {:.4g}, "
      "{:.4g} mm among others",
      t.matrix[3], t.matrix[7], t.matrix[11]);
}

/// Coordinates in the scanner's space are those of the world, whatever else the file says: tools that move a surface
/// there leave the notes of FreeSurfer as they were.
std::string find_other_origin(const gifti_array& points) {
  for (const gifti_transform& t : points.transforms)
    if (t.from == "NIFTI_XFORM_SCANNER_ANAT") return "";
  for (const gifti_transform& t : points.transforms)
    if (std::string found = describe_transform(t); !found.empty()) return found;
  return describe_volume_centre(points);
}

void require_one_column(const gifti_array& array, const std::string& where) {
  if (array.columns != 1) refuse_data("{}: has {} columns, expected one value per vertex", where, array.columns);
}

/// NaN is not a value, and counts as 0, as in masks that are images: metrics of Workbench have NaN on the medial wall.
/// Throws failure (bad_data) for an infinite value. `where` begins messages.
void remove_nan(std::vector<double>& values, const std::string& where) {
  std::uint64_t missing = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isinf(values[i]))
      refuse_data("{}: vertex {} has the value {}, expected a finite number or NaN", where, i, values[i]);
    if (!std::isnan(values[i])) continue;
    values[i] = 0;
    ++missing;
  }
  if (missing > 0) spdlog::info("{}: {} of {} values are NaN and count as 0", where, missing, values.size());
}

surface convert_surface(const gifti_file& file) {
  surface s;
  const gifti_array& points = find_array(file, "POINTSET", "points");
  if (points.type != element_type::float32 && points.type != element_type::float64)
    refuse_data("{}: the points are integers, expected NIFTI_TYPE_FLOAT32", file.name);
  const std::vector<float> mm = to_floats(points.numbers());
  s.points_mm.resize(points.rows);
  std::memcpy(s.points_mm.data(), mm.data(), mm.size() * sizeof(float));
  s.other_origin = find_other_origin(points);
  const gifti_array& triangles = find_array(file, "TRIANGLE", "triangles");
  if (triangles.type != element_type::int32) refuse_data("{}: the triangles are not of NIFTI_TYPE_INT32", file.name);
  s.triangles.resize(triangles.rows);
  std::memcpy(s.triangles.data(), triangles.values.data(), triangles.values.size());
  s.structure = find_structure(file);
  for (std::size_t i = 0; i < file.arrays.size() && s.values.empty(); ++i) {
    if (!has_values(file.arrays[i])) continue;
    require_one_column(file.arrays[i], file.describe(i));
    s.values = file.arrays[i].numbers();
    remove_nan(s.values, file.describe(i));
    s.has_rounded_values = file.arrays[i].type == element_type::float32;
  }
  return s;
}

/// Words of a text, with the line of the last one.
class word_reader {
 public:
  word_reader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const {
    refuse_data("{}: line {}: found {}, expected {}", name_, line_, found, expected);
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

  bool is_at_end() const { return at_ >= text_.size(); }

  /// Skips a block that ends at a blank line, or at the end.
  void skip_block() {
    rest_of_line();
    while (at_ < text_.size() && !rest_of_line().empty()) {
    }
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
      refuse(token.empty() ? "the end of the file" : fmt::format("\"{}\"", token.substr(0, 40)), expected);
    return value;
  }

  /// Rounded from double: a tiny number is not an error, as it would be when
  /// read as float.
  float real(const char* expected) {
    const auto value = static_cast<float>(number<double>(expected));
    if (!std::isfinite(value)) refuse(fmt::format("{}", value), expected);
    return value;
  }

  /// A value of a vertex; see remove_nan().
  double value() {
    constexpr const char* expected = "a finite value or NaN";
    const auto value = static_cast<float>(number<double>(expected));
    if (std::isinf(value)) refuse(fmt::format("{}", value), expected);
    return static_cast<double>(value);
  }

  /// Whether this word follows, which stays there.
  bool next_is(std::string_view expected) {
    const auto at = at_;
    const auto line = line_;
    const bool is_next = word() == expected;
    at_ = at, line_ = line;
    return is_next;
  }

  /// How many lines of at least `bytes` each are announced; refuses more than
  /// the rest of the text can hold.
  std::uint64_t count(const char* what, std::uint64_t bytes) {
    const auto n = number<std::uint64_t>(what);
    check_count(n, what, bytes);
    return n;
  }

  void check_count(std::uint64_t n, const char* what, std::uint64_t bytes) const {
    if (n < 1 || n > (text_.size() - at_) / bytes)
      refuse(fmt::format("{} {}", n, what),
             fmt::format("1 to {}, which is what the rest of the file can hold", (text_.size() - at_) / bytes));
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

// Surfaces in text formats, not yet checked. `text`: the complete file. Throw failure (bad_data).
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
    s.values[i] = words.value();
    has_values = true;
    if (words.has_more_on_line()) words.refuse("a fifth word", "x y z and a value");
  }
  if (!has_values) s.values.clear();
  remove_nan(s.values, name);
  s.has_rounded_values = true;
  s.triangles.resize(triangles);
  for (auto& t : s.triangles) {
    t = words.triangle(points);
    if (words.has_more_on_line()) words.rest_of_line();
  }
  return s;
}

/// VTK's legacy format in ASCII (The VTK File Formats; since VTK 9 version 5.1, with cells as offsets and corners).
class vtk_parser {
 public:
  vtk_parser(std::string_view text, const std::string& name) : words_(text, name), name_(name) {}

  surface parse() {
    words_.rest_of_line();
    words_.rest_of_line();
    if (const auto form = words_.rest_of_line(); form != "ASCII")
      words_.refuse(quote(form), "ASCII (a file in binary form is not supported)");
    for (std::string_view word = words_.word(); !word.empty(); word = words_.word()) parse_part(word);
    return std::move(surface_);
  }

 private:
  static std::string quote(std::string_view text) { return fmt::format("\"{}\"", text.substr(0, 40)); }

  void parse_part(std::string_view word) {
    if (word == "DATASET") {
      if (const auto kind = words_.word(); kind != "POLYDATA")
        words_.refuse(quote("DATASET " + std::string(kind)), "DATASET POLYDATA");
    } else if (word == "POINTS" && surface_.points_mm.empty()) {
      surface_.points_mm.resize(words_.count("points", 6));
      words_.word();  // the type
      for (auto& p : surface_.points_mm) p = words_.point();
    } else if (word == "POLYGONS" && surface_.triangles.empty()) {
      read_polygons();
    } else if (word == "VERTICES" || word == "LINES" || word == "POLYGONS") {
      skip_cells();  // some programs write them beside the triangles
    } else if (word == "TRIANGLE_STRIPS") {
      words_.refuse("TRIANGLE_STRIPS", "POLYGONS of three corners; use vtkTriangleFilter");
    } else if (word == "METADATA") {
      words_.skip_block();
    } else if (word == "POINT_DATA" || word == "CELL_DATA") {
      of_points_ = word == "POINT_DATA";
      data_ = words_.number<std::uint64_t>("the number of values");
      if (of_points_ && data_ != surface_.points_mm.size())
        words_.refuse(fmt::format("POINT_DATA {}", data_), fmt::format("{} as of POINTS", surface_.points_mm.size()));
    } else if (word == "SCALARS" && (of_points_ || data_ > 0)) {
      read_scalars();
    } else if (const std::uint64_t columns = data_columns(word); columns > 0) {
      words_.word();  // the name
      words_.word();  // the type
      skip_numbers(columns * data_);
    } else if (word == "COLOR_SCALARS" || word == "TEXTURE_COORDINATES") {
      words_.word();  // the name
      const auto components = words_.number<std::uint64_t>("the number of components");
      if (word == "TEXTURE_COORDINATES") words_.word();  // the type
      skip_numbers(components * data_);
    } else if (word == "FIELD") {
      read_fields();
    } else if (word == "LOOKUP_TABLE") {
      words_.word();  // the name
      skip_numbers(4 * words_.number<std::uint64_t>("the number of colours"));
    } else {
      words_.refuse(quote(word), "a part of VTK's legacy format, such as POLYGONS");
    }
  }

  /// Numbers per point of an array that is not used; 0 for other words.
  static std::uint64_t data_columns(std::string_view word) {
    if (word == "NORMALS" || word == "VECTORS") return 3;
    if (word == "GLOBAL_IDS" || word == "PEDIGREE_IDS" || word == "EDGE_FLAGS") return 1;
    return word == "TENSORS" ? 9 : 0;
  }

  void skip_numbers(std::uint64_t count) {
    for (; count > 0; --count)
      if (words_.word().empty()) words_.refuse("the end of the file", fmt::format("{} more numbers", count));
  }

  /// Texts have a line each.
  void skip_lines(std::uint64_t count) {
    words_.rest_of_line();
    for (; count > 0; --count) {
      if (words_.is_at_end()) words_.refuse("the end of the file", fmt::format("{} more texts", count));
      words_.rest_of_line();
    }
  }

  std::array<std::uint32_t, 3> triangle() { return words_.triangle(surface_.points_mm.size()); }

  void require_three_corners(std::uint64_t corners) const {
    if (corners != 3) words_.refuse(fmt::format("a polygon of {} corners", corners), "triangles");
  }

  /// Before version 5.1 the number of cells and of all numbers follow, then cells, each with its number of corners.
  /// Since then the number of offsets, one more than cells, and of corners; then both arrays, with words before them.
  bool read_sizes(std::uint64_t& first, std::uint64_t& second) {
    first = words_.number<std::uint64_t>("the number of cells");
    second = words_.number<std::uint64_t>("the number of their numbers");
    return words_.next_is("OFFSETS");
  }

  void read_polygons() {
    std::uint64_t cells = 0, numbers = 0;
    const bool has_offsets = read_sizes(cells, numbers);
    if (has_offsets) --cells;
    words_.check_count(cells, "polygons", 6);
    surface_.triangles.resize(cells);
    if (!has_offsets) {
      for (auto& t : surface_.triangles) {
        require_three_corners(words_.number<std::uint64_t>("the number of corners"));
        t = triangle();
      }
      return;
    }
    read_offsets(cells);
    expect("CONNECTIVITY");
    words_.word();  // the type
    for (auto& t : surface_.triangles) t = triangle();
  }

  void read_offsets(std::uint64_t cells) {
    expect("OFFSETS");
    words_.word();  // the type
    std::uint64_t before = 0;
    for (std::uint64_t i = 0; i <= cells; ++i) {
      const auto offset = words_.number<std::uint64_t>("an offset");
      if (i > 0) require_three_corners(offset - before);
      before = offset;
    }
  }

  void skip_cells() {
    std::uint64_t cells = 0, numbers = 0;
    if (!read_sizes(cells, numbers)) return skip_numbers(numbers);
    expect("OFFSETS");
    words_.word();
    skip_numbers(cells);
    expect("CONNECTIVITY");
    words_.word();
    skip_numbers(numbers);
  }

  void expect(const char* word) {
    if (const auto found = words_.word(); found != word) words_.refuse(quote(found), word);
  }

  /// The first scalars of the points are the surface's values; others are skipped.
  void read_scalars() {
    words_.word();  // the name
    words_.word();  // the type
    const std::uint64_t columns =
        words_.has_more_on_line() ? words_.number<std::uint64_t>("the number of components") : 1;
    const bool is_used = of_points_ && surface_.values.empty();
    if (is_used && columns != 1) words_.refuse("scalars of several components", "one value per vertex");
    expect("LOOKUP_TABLE");
    words_.word();
    if (!is_used) return skip_numbers(columns * data_);
    surface_.values.resize(surface_.points_mm.size());
    for (double& v : surface_.values) v = words_.value();
    remove_nan(surface_.values, name_);
    surface_.has_rounded_values = true;
  }

  void read_fields() {
    words_.word();  // the name
    const auto arrays = words_.number<std::uint64_t>("the number of arrays");
    for (std::uint64_t i = 0; i < arrays; ++i) {
      std::string_view name = words_.word();
      if (name == "METADATA") {  // of the array before
        words_.skip_block();
        name = words_.word();
      }
      const auto columns = words_.number<std::uint64_t>("the number of components"),
                 rows = words_.number<std::uint64_t>("the number of rows");
      if (words_.word() == "string") {
        skip_lines(columns * rows);
      } else {
        skip_numbers(columns * rows);
      }
    }
  }

  word_reader words_;
  const std::string& name_;
  surface surface_;
  bool of_points_ = false;
  std::uint64_t data_ = 0;  ///< points or cells that the arrays that follow belong to
};

/// Numbers whose bytes are in the wrong order are tiny or huge: their exponents are random.
void check_millimetres(const surface& s, const std::string& name) {
  constexpr float tiny_mm = 1e-6f, huge_mm = 1e6f;
  std::size_t numbers = 0, wrong = 0, vertex = 0;
  float found = 0;
  for (std::size_t i = 0; i < s.points_mm.size(); ++i)
    for (const float x : s.points_mm[i]) {
      if (x == 0) continue;
      ++numbers;
      const float size = std::abs(x);
      if (size >= tiny_mm && size <= huge_mm) continue;
      if (wrong++ > 0 && size <= huge_mm) continue;
      vertex = i, found = x;
    }
  if (2 * wrong <= numbers && std::abs(found) <= huge_mm) return;
  refuse_data(
      "{}: vertex {} has the coordinate {:g}, expected millimetres ({} of {} coordinates are below {:g} or above "
      "{:g}); does the file state the order of bytes that its points have (Endian of GIFTI)?",
      name, vertex, found, wrong, numbers, tiny_mm, huge_mm);
}

void check_surface(const surface& s, const std::string& name) {
  if (s.points_mm.empty() || s.triangles.empty())
    refuse_data("{}: has {} vertices and {} triangles, expected at least one of each", name, s.points_mm.size(),
                s.triangles.size());
  for (std::size_t i = 0; i < s.points_mm.size(); ++i)
    for (const float x : s.points_mm[i])
      if (!std::isfinite(x)) refuse_data("{}: vertex {} has the coordinate {}, expected a finite number", name, i, x);
  for (std::size_t i = 0; i < s.triangles.size(); ++i)
    for (const std::uint32_t corner : s.triangles[i])
      if (corner >= s.points_mm.size())
        refuse_data("{}: triangle {} has the vertex {}, expected 0 to {}", name, i, static_cast<std::int32_t>(corner),
                    s.points_mm.size() - 1);
  if (!s.values.empty() && s.values.size() != s.points_mm.size())
    refuse_data("{}: has {} values for {} vertices, expected one per vertex", name, s.values.size(),
                s.points_mm.size());
  check_millimetres(s, name);
}

}  // namespace

bool is_surface_file(const std::string& path) { return find_format(path).has_value(); }

surface read_surface(const std::string& path) {
  const std::string name = input_file(path).name();
  const auto format = find_format(path);
  if (!format)
    refuse_data(
        "{}: is not a surface; expected GIFTI (a name that ends in .gii), FreeSurfer's text (a first line #!ascii) or "
        "VTK's legacy text",
        name);
  constexpr std::uint64_t max_text_file_bytes = std::uint64_t{1} << 32;
  surface s;
  if (*format == surface_format::gifti) {
    s = convert_surface(read_gifti(path));
  } else {
    const std::string text = read_text_file(path, "a surface in ASCII", max_text_file_bytes);
    s = *format == surface_format::freesurfer_text ? parse_freesurfer_text(text, name) : vtk_parser(text, name).parse();
  }
  check_surface(s, name);
  return s;
}

surface_values read_surface_values(const std::string& path) {
  const gifti_file file = read_gifti(path);
  surface_values v;
  v.structure = find_structure(file);
  v.labels = file.labels;
  for (std::size_t i = 0; i < file.arrays.size(); ++i) {
    const gifti_array& array = file.arrays[i];
    if (!has_values(array)) continue;
    require_one_column(array, file.describe(i));
    if (!v.arrays.empty() && array.rows != v.arrays.front().values.size())
      refuse_data("{}: has {} values, expected {} as in the array before", file.describe(i), array.rows,
                  v.arrays.front().values.size());
    if (array.intent == "LABEL") v.is_label = true;
    const auto name = array.notes.find("Name");
    v.arrays.push_back(
        {name == array.notes.end() ? "" : name->second, array.numbers(), array.type == element_type::float32});
    remove_nan(v.arrays.back().values, file.describe(i));
  }
  if (v.arrays.empty())
    refuse_data("{}: has no values per vertex, expected a file such as .func.gii, .shape.gii or .label.gii", file.name);
  return v;
}

}  // namespace voxherd
