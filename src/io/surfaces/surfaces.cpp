#include "src/io/surfaces/surfaces.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>

#include "core/failure.hpp"
#include "src/io/input_file.hpp"
#include "src/io/surfaces/gifti_file.hpp"
#include "src/io/surfaces/surface_text.hpp"
#include "src/io/text_file.hpp"

namespace voxherd {

namespace {

constexpr std::string_view freesurfer_start = "#!ascii", vtk_start = "# vtk DataFile Version";

enum class surface_format { gifti, freesurfer_text, vtk_text };

std::optional<surface_format> find_format(const std::string& path) {
  if (path.ends_with(".gii") || path.ends_with(".gii.gz")) return surface_format::gifti;
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return {};
  std::string start(vtk_start.size(), '\0');
  start.resize(input_file(path).read_some(0, start.data(), start.size()));
  if (start.starts_with(freesurfer_start)) return surface_format::freesurfer_text;
  if (start == vtk_start) return surface_format::vtk_text;
  return {};
}

/// The only array of an intent.
const gifti_array& find_array(const gifti_file& file, const char* intent, const char* what) {
  const gifti_array* found = nullptr;
  for (const gifti_array& array : file.arrays) {
    if (array.intent != intent) continue;
    if (found != nullptr) refuse_data(fmt::format("{}: has two arrays of {}, expected one surface", file.name, what));
    found = &array;
  }
  if (found == nullptr)
    refuse_data(
        fmt::format("{}: has no {} (NIFTI_INTENT_{}), expected a "
                    "surface such as white.surf.gii",
                    file.name, what, intent));
  if (found->columns != 3)
    refuse_data(fmt::format("{}: the array of {} has {} columns, expected 3", file.name, what, found->columns));
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

void require_one_column(const gifti_array& array, const std::string& where) {
  if (array.columns != 1)
    refuse_data(fmt::format("{}: has {} columns, expected one value per vertex", where, array.columns));
}

surface convert_surface(const gifti_file& file) {
  surface s;
  const gifti_array& points = find_array(file, "POINTSET", "points");
  if (points.type != element_type::float32 && points.type != element_type::float64)
    refuse_data(fmt::format("{}: the points are integers, expected NIFTI_TYPE_FLOAT32", file.name));
  const std::vector<float> mm = points.floats(file.name);
  s.points_mm.resize(points.rows);
  std::memcpy(s.points_mm.data(), mm.data(), mm.size() * sizeof(float));
  const gifti_array& triangles = find_array(file, "TRIANGLE", "triangles");
  if (triangles.type != element_type::int32)
    refuse_data(fmt::format("{}: the triangles are not of NIFTI_TYPE_INT32", file.name));
  s.triangles.resize(triangles.rows);
  std::memcpy(s.triangles.data(), triangles.values.data(), triangles.values.size());
  s.structure = find_structure(file);
  for (std::size_t i = 0; i < file.arrays.size() && s.values.empty(); ++i) {
    if (!has_values(file.arrays[i])) continue;
    require_one_column(file.arrays[i], file.describe(i));
    s.values = file.arrays[i].floats(file.describe(i));
  }
  return s;
}

void check_surface(const surface& s, const std::string& name) {
  if (s.points_mm.empty() || s.triangles.empty())
    refuse_data(fmt::format("{}: has {} vertices and {} triangles, expected at least one of each", name,
                            s.points_mm.size(), s.triangles.size()));
  for (std::size_t i = 0; i < s.points_mm.size(); ++i)
    for (const float x : s.points_mm[i])
      if (!std::isfinite(x))
        refuse_data(fmt::format("{}: vertex {} has the coordinate {}, expected a finite number", name, i, x));
  for (std::size_t i = 0; i < s.triangles.size(); ++i)
    for (const std::uint32_t corner : s.triangles[i])
      if (corner >= s.points_mm.size())
        refuse_data(fmt::format("{}: triangle {} has the vertex {}, expected 0 to {}", name, i,
                                static_cast<std::int32_t>(corner), s.points_mm.size() - 1));
  if (!s.values.empty() && s.values.size() != s.points_mm.size())
    refuse_data(fmt::format("{}: has {} values for {} vertices, expected one per vertex", name, s.values.size(),
                            s.points_mm.size()));
  for (std::size_t i = 0; i < s.values.size(); ++i)
    if (!std::isfinite(s.values[i]))
      refuse_data(fmt::format("{}: the value of vertex {} is {}, expected a finite number", name, i, s.values[i]));
}

}  // namespace

bool is_surface_file(const std::string& path) { return find_format(path).has_value(); }

surface read_surface(const std::string& path) {
  const std::string name = input_file(path).name();
  const auto format = find_format(path);
  if (!format)
    refuse_data(
        fmt::format("{}: is not a surface; expected GIFTI (a name that "
                    "ends in .gii), FreeSurfer's text (a "
                    "first line #!ascii) or VTK's legacy text",
                    name));
  constexpr std::uint64_t max_text_file_bytes = std::uint64_t{1} << 32;
  surface s;
  if (*format == surface_format::gifti) {
    s = convert_surface(read_gifti(path));
  } else {
    const std::string text = read_text_file(path, max_text_file_bytes);
    s = *format == surface_format::freesurfer_text ? parse_freesurfer_text(text, name) : parse_vtk_text(text, name);
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
      refuse_data(fmt::format("{}: has {} values, expected {} as in the array before", file.describe(i), array.rows,
                              v.arrays.front().values.size()));
    if (array.intent == "LABEL") v.is_label = true;
    const auto name = array.notes.find("Name");
    v.arrays.push_back({name == array.notes.end() ? "" : name->second, array.floats(file.describe(i))});
  }
  if (v.arrays.empty())
    refuse_data(
        fmt::format("{}: has no values per vertex, expected a file "
                    "such as .func.gii, .shape.gii or .label.gii",
                    file.name));
  return v;
}

}  // namespace voxherd
