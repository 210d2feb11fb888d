#include "src/io/surfaces/gifti_file.hpp"

#include <fmt/core.h>

#include <charconv>
#include <limits>
#include <sstream>
#include <utility>

#include "core/failure.hpp"
#include "core/main_memory.hpp"
#include "src/io/gzip/gzip.hpp"
#include "src/io/input_file.hpp"
#include "src/io/xml_parser.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t max_array_bytes = std::uint64_t{1} << 34;
constexpr std::size_t max_note_bytes = std::size_t{1} << 20;
constexpr std::size_t max_notes = 100000;  // of all arrays together, like labels

template <class Integer>
bool parse_integer(std::string_view text, Integer& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} && end == text.data() + text.size();
}

std::string_view without_prefix(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

/// Builds a gifti_file from the elements of the document.
class gifti_builder : public xml_handler {
 public:
  explicit gifti_builder(gifti_file& file) : file_(file) {}

  void start(std::string_view element, const xml_attributes& attributes) override {
    if (!is_gifti_ && element != "GIFTI")
      refuse_data("{}: begins with <{}>, expected the <GIFTI> of a GIFTI file", file_.name, element);
    text_ = nullptr;
    if (element == "GIFTI") {
      is_gifti_ = true;
      announced_ = attributes.find("NumberOfDataArrays");
    } else if (element == "DataArray") {
      start_array(attributes);
    } else if (element == "Data") {
      if (!in_array_) refuse_data("{}: <Data> outside <DataArray>", file_.name);
      collect(data_, max_text_bytes(file_.arrays.back(), coding_));
    } else if (element == "Name") {
      collect(note_name_, max_note_bytes);
    } else if (element == "Value") {
      collect(note_value_, max_note_bytes);
    } else if (element == "Label") {
      start_label(attributes);
    } else if (element == "CoordinateSystemTransformMatrix" && in_array_) {
      count_note();
      file_.arrays.back().transforms.emplace_back();
    } else if (gifti_transform* t = current_transform()) {
      if (element == "DataSpace") collect(t->from, max_note_bytes);
      if (element == "TransformedSpace") collect(t->to, max_note_bytes);
      if (element == "MatrixData") collect(matrix_, max_note_bytes);
    }
  }

  void text(std::string_view piece) override {
    if (text_ == nullptr) return;
    if (text_ != &data_ || coding_.form == gifti_coding::text_form::decimal) {
      text_->append(piece);
    } else {
      for (const char c : piece)
        if (c != ' ' && c != '\n' && c != '\t' && c != '\r') text_->push_back(c);
    }
    if (text_->size() > max_text_)
      refuse_data("{}: has a text of more than {} bytes{}", where(), max_text_,
                  text_ == &data_ ? ", expected at most that for its Dim0, Dim1" : "");
  }

  void end(std::string_view element) override {
    if (element == "MD") {
      count_note();
      (in_array_ ? file_.arrays.back().notes : file_.notes)[note_name_] = note_value_;
    } else if (element == "Label") {
      count_note();
      file_.labels.back().name = label_;
    } else if (element == "Data") {
      decode_values(file_.arrays.back(), coding_, data_, where());
      has_data_ = true;
      data_ = {};
    } else if (element == "CoordinateSystemTransformMatrix") {
      if (gifti_transform* t = current_transform()) end_transform(*t);
    } else if (element == "DataArray") {
      if (!has_data_) refuse_data("{}: has no <Data>", where());
      in_array_ = false;
    } else if (element == "GIFTI") {
      check_count();
    }
    text_ = nullptr;
  }

 private:
  std::string where() const { return in_array_ ? file_.describe(file_.arrays.size() - 1) : file_.name; }

  gifti_transform* current_transform() {
    if (!in_array_ || file_.arrays.back().transforms.empty()) return nullptr;
    return &file_.arrays.back().transforms.back();
  }

  void end_transform(gifti_transform& t) {
    for (std::string* name : {&t.from, &t.to}) {
      name->erase(name->find_last_not_of(" \t\r\n") + 1);
      name->erase(0, name->find_first_not_of(" \t\r\n"));
    }
    std::istringstream numbers(matrix_);
    for (double number = 0; numbers >> number;) t.matrix.push_back(number);
    matrix_.clear();
  }

  void collect(std::string& text, std::uint64_t max_bytes) {
    text.clear();
    text_ = &text;
    max_text_ = max_bytes;
  }

  void count_note() {
    if (++notes_ > max_notes) refuse_data("{}: has more than {} notes or labels", file_.name, max_notes);
  }

  void check_count() const {
    std::uint64_t expected = 0;
    if (!announced_.empty() && parse_integer(announced_, expected) && expected == file_.arrays.size()) return;
    refuse_data("{}: has {} data arrays, but its NumberOfDataArrays is \"{}\"; write it again", file_.name,
                file_.arrays.size(), announced_);
  }

  void start_label(const xml_attributes& attributes) {
    const std::string_view key = attributes.find("Key").empty() ? attributes.find("Index") : attributes.find("Key");
    surface_label label;
    if (!parse_integer(key, label.key))
      refuse_data("{}: the Key of a label is \"{}\", expected an integer", file_.name, key);
    file_.labels.push_back(label);
    collect(label_, max_note_bytes);
  }

  void start_array(const xml_attributes& attributes) {
    if (in_array_) refuse_data("{}: holds another <DataArray>", where());
    in_array_ = true;
    has_data_ = false;
    count_note();
    gifti_array& array = file_.arrays.emplace_back();
    array.intent = without_prefix(attributes.find("Intent"), "NIFTI_INTENT_");
    array.type = read_type(attributes.find("DataType"));
    read_size(attributes, array);
    coding_.form = read_form(attributes.find("Encoding"));
    coding_.is_big_endian = is_second(attributes, "Endian", "LittleEndian", "BigEndian");
    coding_.by_column = is_second(attributes, "ArrayIndexingOrder", "RowMajorOrder", "ColumnMajorOrder");
  }

  [[noreturn]] void refuse_attribute(const char* name, std::string_view found, const std::string& expected) const {
    refuse_data("{}: {} is \"{}\", expected {}", where(), name, found, expected);
  }

  element_type read_type(std::string_view type) const {
    if (type == "NIFTI_TYPE_FLOAT32") return element_type::float32;
    if (type == "NIFTI_TYPE_FLOAT64") return element_type::float64;
    if (type == "NIFTI_TYPE_INT32") return element_type::int32;
    if (type == "NIFTI_TYPE_UINT8") return element_type::uint8;
    refuse_attribute("DataType", type, "NIFTI_TYPE_FLOAT32, FLOAT64, INT32 or UINT8");
  }

  gifti_coding::text_form read_form(std::string_view form) const {
    if (form == "ASCII") return gifti_coding::text_form::decimal;
    if (form == "Base64Binary") return gifti_coding::text_form::base64;
    if (form == "GZipBase64Binary") return gifti_coding::text_form::compressed_base64;
    if (form == "ExternalFileBinary")
      refuse_data(
          "{}: its values are in an external file, which is not supported; store them inside, with `wb_command "
          "-gifti-convert GZIP_BASE64_BINARY IN OUT`",
          where());
    refuse_attribute("Encoding", form, "ASCII, Base64Binary or GZipBase64Binary");
  }

  bool is_second(const xml_attributes& attributes, const char* name, const char* first, const char* second) const {
    const std::string_view found = attributes.find(name);
    if (found != first && found != second) refuse_attribute(name, found, fmt::format("{} or {}", first, second));
    return found == second;
  }

  void read_size(const xml_attributes& attributes, gifti_array& array) const {
    constexpr int max_dimensions = 6;
    int dimensions = 0;
    const std::string_view text = attributes.find("Dimensionality");
    if (!parse_integer(text, dimensions) || dimensions < 1 || dimensions > max_dimensions)
      refuse_attribute("Dimensionality", text, "1 to 6");
    std::uint64_t bytes = element_bytes(array.type);
    for (int d = 0; d < dimensions; ++d) {
      const std::string key = fmt::format("Dim{}", d);
      const std::string_view value = attributes.find(key);
      std::uint64_t size = 0;
      if (!parse_integer(value, size) || size < 1 || size > max_array_bytes / bytes)
        refuse_attribute(key.c_str(), value,
                         fmt::format("an integer from 1, and at most {} bytes in the array", max_array_bytes));
      bytes *= size;
      if (d == 0) {
        array.rows = size;
      } else {
        array.columns *= size;
      }
    }
    require_memory(static_cast<double>(bytes), fmt::format("{}: {} x {} values", where(), array.rows, array.columns));
  }

  gifti_file& file_;
  std::string announced_;
  bool is_gifti_ = false, in_array_ = false, has_data_ = false;
  std::size_t notes_ = 0;
  gifti_coding coding_;
  std::string data_, note_name_, note_value_, label_, matrix_;
  std::string* text_ = nullptr;  ///< where text goes
  std::uint64_t max_text_ = 0;
};

/// Passes the content of a file, inflated if necessary, in pieces.
template <class Sink>
void read_pieces(const input_file& file, const Sink& sink) {
  std::string piece(std::size_t{1} << 18, '\0');
  if (is_gzip(file)) {
    gzip_stream stream(file);
    while (const std::size_t bytes = stream.read_some(piece.data(), piece.size())) sink({piece.data(), bytes});
    return;
  }
  std::uint64_t done = 0;
  while (const std::size_t bytes = file.read_some(done, piece.data(), piece.size())) {
    sink({piece.data(), bytes});
    done += bytes;
  }
}

}  // namespace

std::string gifti_file::describe(std::size_t array) const {
  return fmt::format("{}: data array {} (NIFTI_INTENT_{})", name, array + 1, arrays[array].intent);
}

gifti_file read_gifti(const std::string& path) {
  const input_file file(path);
  gifti_file gifti;
  gifti.name = file.name();
  gifti_builder builder(gifti);
  xml_parser parser(gifti.name, builder);
  read_pieces(file, [&](std::string_view piece) { parser.parse(piece); });
  parser.finish();
  return gifti;
}

}  // namespace voxherd
