#include <fmt/core.h>

#include <cstring>

#include "core/escape.hpp"
#include "src/io/output_file.hpp"
#include "src/io/surfaces/gifti_file.hpp"
#include "src/io/surfaces/surfaces.hpp"
#include "src/io/xml_parser.hpp"

namespace voxherd {

namespace {

template <class T>
gifti_array make_array(const char* intent, element_type type, std::uint64_t columns, const std::vector<T>& rows) {
  gifti_array array;
  array.intent = intent;
  array.type = type;
  array.rows = rows.size();
  array.columns = columns;
  array.values.resize(rows.size() * sizeof(T));
  std::memcpy(array.values.data(), rows.data(), array.values.size());
  return array;
}

std::string notes_text(const std::map<std::string, std::string>& notes) {
  std::string text = "<MetaData>";
  for (const auto& [name, value] : notes)
    text += fmt::format("<MD><Name>{}</Name><Value>{}</Value></MD>", xml_text(name), xml_text(value));
  return text + "</MetaData>\n";
}

const char* gifti_type(element_type type) {
  return type == element_type::int32 ? "NIFTI_TYPE_INT32" : "NIFTI_TYPE_FLOAT32";
}

std::string array_text(const gifti_array& array) {
  std::string text = fmt::format(
      "<DataArray Intent=\"NIFTI_INTENT_{}\" DataType=\"{}\" "
      "ArrayIndexingOrder=\"RowMajorOrder\" Dimensionality=\"{}\" "
      "Dim0=\"{}\"",
      array.intent, gifti_type(array.type), array.columns > 1 ? 2 : 1, array.rows);
  if (array.columns > 1) text += fmt::format(" Dim1=\"{}\"", array.columns);
  text +=
      " Encoding=\"GZipBase64Binary\" Endian=\"LittleEndian\" "
      "ExternalFileName=\"\" ExternalFileOffset=\"\">\n" +
      notes_text(array.notes);
  if (array.intent == "POINTSET")
    text +=
        "<CoordinateSystemTransformMatrix><DataSpace>NIFTI_XFORM_UNKNOWN</"
        "DataSpace>"
        "<TransformedSpace>NIFTI_XFORM_UNKNOWN</TransformedSpace>"
        "<MatrixData>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 "
        "1</MatrixData></CoordinateSystemTransformMatrix>\n";
  return text + "<Data>" + encode_values(array) + "</Data>\n</DataArray>\n";
}

void write_gifti(const std::string& path, const gifti_file& gifti) {
  output_file file(path, path.ends_with(".gz") ? output_file::coding::gzip : output_file::coding::plain);
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<!DOCTYPE GIFTI SYSTEM "
      "\"http://www.nitrc.org/frs/download.php/115/gifti.dtd\">\n"
      "<GIFTI Version=\"1.0\" NumberOfDataArrays=\"{}\">\n",
      gifti.arrays.size());
  text += notes_text(gifti.notes) + "<LabelTable>";
  for (const surface_label& label : gifti.labels)
    text += fmt::format(
        "<Label Key=\"{}\" Red=\"1\" Green=\"1\" Blue=\"1\" "
        "Alpha=\"1\">{}</Label>",
        label.key, xml_text(label.name));
  text += "</LabelTable>\n";
  file.write(text.data(), text.size());
  for (const gifti_array& array : gifti.arrays) {
    const std::string part = array_text(array);
    file.write(part.data(), part.size());
  }
  const std::string_view end = "</GIFTI>\n";
  file.write(end.data(), end.size());
  file.finish();
}

}  // namespace

std::vector<float> to_floats(const std::vector<double>& values) {
  std::vector<float> floats;
  floats.reserve(values.size());
  for (const double v : values) floats.push_back(static_cast<float>(v));
  return floats;
}

std::string cifti_structure(std::string_view gifti_name) {
  if (gifti_name == "CortexRightAndLeft" || gifti_name == "CortexLeftAndRight") return "CORTEX";
  std::string name;
  for (const char c : gifti_name) {
    const bool is_capital = c >= 'A' && c <= 'Z';
    if (is_capital && !name.empty() && name.back() != '_') name += '_';
    name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return name;
}

std::string gifti_structure(std::string_view cifti_name) {
  if (cifti_name == "CORTEX") return "CortexRightAndLeft";
  std::string name;
  bool is_start = true;
  for (const char c : cifti_name) {
    if (c != '_') name += !is_start && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    is_start = c == '_';
  }
  return name;
}

void write_surface_values(const std::string& path, const surface_values& values) {
  gifti_file gifti;
  if (!values.structure.empty()) gifti.notes[structure_note] = gifti_structure(values.structure);
  gifti.labels = values.labels;
  for (const vertex_values& v : values.arrays) {
    if (values.is_label) {
      const std::vector<std::int32_t> keys(v.values.begin(), v.values.end());
      gifti.arrays.push_back(make_array("LABEL", element_type::int32, 1, keys));
    } else {
      gifti.arrays.push_back(make_array("NONE", element_type::float32, 1, to_floats(v.values)));
    }
    gifti.arrays.back().notes["Name"] = v.name;
  }
  write_gifti(path, gifti);
}

void write_surface(const std::string& path, const surface& mesh) {
  gifti_file gifti;
  gifti.arrays.push_back(make_array("POINTSET", element_type::float32, 3, mesh.points_mm));
  gifti.arrays.push_back(make_array("TRIANGLE", element_type::int32, 3, mesh.triangles));
  if (!mesh.structure.empty()) gifti.arrays.front().notes[structure_note] = gifti_structure(mesh.structure);
  if (!mesh.values.empty())
    gifti.arrays.push_back(make_array("NONE", element_type::float32, 1, to_floats(mesh.values)));
  write_gifti(path, gifti);
}

}  // namespace voxherd
