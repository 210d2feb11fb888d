#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "core/failure.hpp"
#include "src/io/cifti/cifti.hpp"
#include "src/io/gzip/gzip.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/nifti_format.hpp"
#include "src/io/nifti/nifti_layout.hpp"
#include "src/io/xml_parser.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t max_volume_size = 1 << 20;  // along one axis
constexpr std::string_view structure_prefix = "CIFTI_STRUCTURE_";

/// Numbers separated by spaces, line feeds or commas.
template <class Number>
std::vector<Number> split_numbers(std::string_view text, const std::string& where) {
  constexpr std::string_view separators = " \t\r\n,";
  std::vector<Number> numbers;
  for (std::size_t at = text.find_first_not_of(separators); at != text.npos;
       at = text.find_first_not_of(separators, at)) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    Number value{};
    const auto [last, code] = std::from_chars(text.data() + at, text.data() + end, value);
    if (code != std::errc{} || last != text.data() + end)
      refuse_data("{}: found \"{}\", expected a number", where, text.substr(at, std::min<std::size_t>(end - at, 40)));
    numbers.push_back(value);
    at = end;
  }
  return numbers;
}

/// Builds both axes from the elements of the document.
class cifti_builder : public xml_handler {
 public:
  cifti_builder(const std::string& name, cifti_axis& rows, cifti_axis& columns)
      : name_(name), rows_(rows), columns_(columns) {}

  void start(std::string_view element, const xml_attributes& attributes) override {
    text_.clear();
    if (!is_cifti_) {
      if (element != "CIFTI") refuse_data("{}: its XML begins with <{}>, expected <CIFTI>", name_, element);
      if (const auto version = attributes.find("Version"); version != "2" && version != "2.0")
        refuse_data(
            "{}: is of CIFTI version \"{}\", expected 2; convert it with `wb_command -file-convert "
            "-cifti-version-convert IN 2 OUT`",
            name_, attributes.find("Version"));
      is_cifti_ = true;
    } else if (element == "MatrixIndicesMap") {
      start_axis(attributes);
    } else if (element == "Volume") {
      start_volume(attributes);
    } else if (element == "BrainModel") {
      start_part(attributes);
    } else if (element == "NamedMap") {
      maps_.names.emplace_back();
      maps_.labels.emplace_back();
    } else if (element == "Label") {
      label_key_ = integer<std::int32_t>(attributes, "Key");
    }
  }

  void text(std::string_view piece) override { text_ += piece; }

  void end(std::string_view element) override {
    if (element == "VertexIndices") {
      check_part("SURFACE").places = split_numbers<std::uint64_t>(text_, where("VertexIndices"));
    } else if (element == "VoxelIndicesIJK" && is_brain_) {
      end_voxels();
    } else if (element == "TransformationMatrixVoxelIndicesIJKtoXYZ") {
      end_volume();
    } else if (element == "BrainModel") {
      end_part();
    } else if (element == "MapName" && !maps_.names.empty()) {
      maps_.names.back() = text_;
    } else if (element == "Label" && !maps_.labels.empty()) {
      maps_.labels.back()[label_key_] = text_;
    } else if (element == "MatrixIndicesMap") {
      end_axis();
    }
    text_.clear();
  }

  void check() const {
    if (!has_rows_ || !has_columns_) refuse_data("{}: its XML does not describe both dimensions of the matrix", name_);
  }

 private:
  std::string where(const char* element) const { return fmt::format("{}: <{}>", name_, element); }

  template <class Number>
  Number integer(const xml_attributes& attributes, const char* key) const {
    const auto numbers = split_numbers<Number>(attributes.find(key), where(key));
    if (numbers.size() != 1) refuse_data("{}: {} has {} numbers, expected one", name_, key, numbers.size());
    return numbers.front();
  }

  void start_axis(const xml_attributes& attributes) {
    grey_ = {};
    maps_ = {};
    dimensions_ = attributes.find("AppliesToMatrixDimension");
    type_ = attributes.find("IndicesMapToDataType");
    is_brain_ = type_ == "CIFTI_INDEX_TYPE_BRAIN_MODELS";
    if (type_ == "CIFTI_INDEX_TYPE_SERIES") {
      constexpr std::uint64_t max_points = std::uint64_t{1} << 20;
      const auto points = integer<std::uint64_t>(attributes, "NumberOfSeriesPoints");
      if (points > max_points)
        refuse_data("{}: NumberOfSeriesPoints is {}, expected at most {}", name_, points, max_points);
      maps_.names.resize(points);
    }
  }

  void end_axis() {
    cifti_axis axis = maps_;
    if (is_brain_) axis = grey_;
    // Other programs' parcels are not used: only their number has to be known, and that is in the header.
    if (dimensions_.find('0') != std::string::npos) columns_ = axis, has_columns_ = true;
    if (dimensions_.find('1') != std::string::npos) rows_ = axis, has_rows_ = true;
    is_brain_ = false;
  }

  void start_volume(const xml_attributes& attributes) {
    const auto size = split_numbers<std::uint64_t>(attributes.find("VolumeDimensions"), where("Volume"));
    if (size.size() != 3 || std::any_of(size.begin(), size.end(), [](auto n) { return n < 1 || n > max_volume_size; }))
      refuse_data("{}: VolumeDimensions is \"{}\", expected three sizes", name_, attributes.find("VolumeDimensions"));
    if (!grey_.parts.empty()) refuse_data("{}: has a <Volume> behind a <BrainModel>", name_);
    image_grid grid;
    std::copy(size.begin(), size.end(), grid.size.begin());
    grey_.grid = grid;
  }

  void end_volume() {
    const auto matrix = split_numbers<double>(text_, where("TransformationMatrixVoxelIndicesIJKtoXYZ"));
    const bool is_finite = std::all_of(matrix.begin(), matrix.end(), [](double v) { return std::isfinite(v); });
    if (matrix.size() != 16 || !is_finite || !grey_.grid)
      refuse_data("{}: its matrix of voxels has {} numbers, expected 16 finite ones inside <Volume>", name_,
                  matrix.size());
    image_grid& grid = *grey_.grid;
    std::copy(matrix.begin(), matrix.end(), grid.voxel_to_world.begin());
    for (std::size_t d = 0; d < 3; ++d) grid.voxel_size_mm[d] = std::hypot(matrix[d], matrix[4 + d], matrix[8 + d]);
  }

  /// The part that is read. `type`: the ModelType in which these indices may be.
  brain_part& check_part(std::string_view type) {
    if (!is_brain_ || grey_.parts.empty()) refuse_data("{}: has indices outside a <BrainModel>", name_);
    if (grey_.parts.back().is_surface() != (type == "SURFACE"))
      refuse_data("{}: {} has indices of another ModelType", name_, grey_.parts.back().structure);
    return grey_.parts.back();
  }

  void start_part(const xml_attributes& attributes) {
    if (!is_brain_) refuse_data("{}: has a <BrainModel> in a map of another type", name_);
    if (const auto first = integer<std::uint64_t>(attributes, "IndexOffset"); first != grey_.size())
      refuse_data("{}: a <BrainModel> has IndexOffset {}, expected {} after those before", name_, first, grey_.size());
    brain_part& part = grey_.parts.emplace_back();
    std::string_view structure = attributes.find("BrainStructure");
    if (structure.starts_with(structure_prefix)) structure.remove_prefix(structure_prefix.size());
    part.structure = structure;
    if (!is_cifti_structure(part.structure))
      refuse_data("{}: BrainStructure is \"{}\", expected a structure of CIFTI-2", name_, part.structure);
    if (attributes.find("ModelType") == "CIFTI_MODEL_TYPE_SURFACE")
      part.surface_vertices = std::max<std::uint64_t>(1, integer<std::uint64_t>(attributes, "SurfaceNumberOfVertices"));
    count_ = integer<std::uint64_t>(attributes, "IndexCount");
  }

  void end_voxels() {
    brain_part& part = check_part("VOXELS");
    const auto ijk = split_numbers<std::uint64_t>(text_, where("VoxelIndicesIJK"));
    if (!grey_.grid) refuse_data("{}: has voxels, but no <Volume>", name_);
    const auto& n = grey_.grid->size;
    if (ijk.size() % 3 != 0)
      refuse_data("{}: <VoxelIndicesIJK> has {} numbers, expected three per voxel", name_, ijk.size());
    for (std::size_t i = 0; i < ijk.size(); i += 3) {
      if (ijk[i] >= n[0] || ijk[i + 1] >= n[1] || ijk[i + 2] >= n[2])
        refuse_data("{}: has the voxel {} {} {}, expected voxels of {} x {} x {}", name_, ijk[i], ijk[i + 1],
                    ijk[i + 2], n[0], n[1], n[2]);
      part.places.push_back(ijk[i] + n[0] * (ijk[i + 1] + n[1] * ijk[i + 2]));
    }
  }

  void end_part() {
    if (grey_.parts.empty()) return;
    const brain_part& part = grey_.parts.back();
    if (part.size() != count_)
      refuse_data("{}: {} has {} indices, but its IndexCount is {}", name_, part.structure, part.size(), count_);
    if (!part.is_surface()) return;
    for (const std::uint64_t v : part.places)
      if (v >= part.surface_vertices)
        refuse_data("{}: {} has the vertex {}, expected 0 to {}", name_, part.structure, v, part.surface_vertices - 1);
  }

  const std::string& name_;
  cifti_axis &rows_, &columns_;
  bool is_cifti_ = false, is_brain_ = false, has_rows_ = false, has_columns_ = false;
  std::string dimensions_, type_, text_;
  greyordinates grey_;
  named_maps maps_;
  std::uint64_t count_ = 0;
  std::int32_t label_key_ = 0;
};

/// Reads the axes of a CIFTI-2 file from its XML. `name`: of the file in messages. Throws failure (bad_data).
void parse_cifti_xml(const std::string& xml, const std::string& name, cifti_axis& rows, cifti_axis& columns) {
  cifti_builder builder(name, rows, columns);
  xml_parser parser(name, builder);
  parser.parse(std::string_view(xml).substr(0, xml.find_last_not_of('\0') + 1));
  parser.finish();
  builder.check();
}

/// The XML among the extensions of a NIfTI-2 header.
std::string read_extension(const input_file& file, const nifti_fields& fields) {
  const auto end = static_cast<std::uint64_t>(fields.vox_offset);
  std::uint64_t at = static_cast<std::uint64_t>(fields.first_data_byte());
  while (at + 8 <= end) {
    std::uint32_t size_code[2] = {};
    if (file.read_some(at, size_code, sizeof size_code) < sizeof size_code) break;
    if (fields.byte_swapped)
      for (std::uint32_t& n : size_code) n = __builtin_bswap32(n);
    const std::uint64_t bytes = size_code[0];
    if (bytes < 8 || at + bytes > end || at + bytes > file.size()) break;
    if (size_code[1] == nifti_cifti_extension) {
      std::string xml(bytes - 8, '\0');
      file.read(at + 8, xml.data(), xml.size());
      return xml;
    }
    at += bytes;
  }
  refuse_data("{}: has no XML of CIFTI in its header; is it an ordinary image?", file.name());
}

void check_size(const cifti_axis& axis, std::int64_t found, const char* what, const std::string& name) {
  // Axes of other kinds, such as parcels, are not read.
  if (const auto* maps = std::get_if<named_maps>(&axis); maps != nullptr && maps->names.empty()) return;
  if (found >= 0 && static_cast<std::uint64_t>(found) == axis_size(axis)) return;
  refuse_data("{}: has {} {}, but its XML describes {}", name, found, what, axis_size(axis));
}

}  // namespace

cifti_file read_cifti(const std::string& path) {
  const input_file file(path);
  if (is_gzip(file))
    refuse_data("{}: is compressed, expected a CIFTI file as it is; decompress it with gunzip", file.name());
  std::vector<std::byte> bytes(sizeof(nifti2_header));
  bytes.resize(file.read_some(0, bytes.data(), bytes.size()));
  const nifti_fields fields = decode_nifti_fields(bytes, file.name());
  if (fields.version != 2 || fields.dim[0] < 6 || !(fields.vox_offset >= fields.first_data_byte()) ||
      !(fields.vox_offset <= static_cast<double>(file.size())))
    refuse_data("{}: is not CIFTI: expected a NIfTI-2 header of 6 dimensions, with its data inside the file",
                file.name());
  cifti_file cifti;
  cifti.path = path;
  parse_cifti_xml(read_extension(file, fields), file.name(), cifti.rows, cifti.columns);
  check_size(cifti.columns, fields.dim[5], "columns", file.name());
  check_size(cifti.rows, fields.dim[6], "rows", file.name());
  cifti.datatype = fields.datatype;
  cifti.byte_swapped = fields.byte_swapped;
  if (std::isfinite(fields.slope) && fields.slope != 0) {
    cifti.slope = fields.slope;
    cifti.intercept = std::isfinite(fields.intercept) ? fields.intercept : 0;
  }
  cifti.data_offset = static_cast<std::uint64_t>(fields.vox_offset);
  if (datatype_bytes(fields.datatype) == 0)
    refuse_data("{}: datatype is {}, expected numbers", file.name(), fields.datatype);
  return cifti;
}

std::vector<double> read_cifti_column(const cifti_file& file, std::uint64_t column) {
  const input_file data(file.path);
  const std::uint64_t rows = axis_size(file.rows), columns = axis_size(file.columns),
                      size = datatype_bytes(file.datatype);
  const bool is_scaled = file.slope != 1 || file.intercept != 0;
  const nifti_converter_to<double> convert = find_converter<double>(file.datatype, file.byte_swapped, is_scaled);
  if (data.size() < file.data_offset ||
      (data.size() - file.data_offset) / size / std::max<std::uint64_t>(1, columns) < rows)
    refuse_data("{}: has {} bytes, expected {} x {} values after byte {}; the file is truncated", data.name(),
                data.size(), rows, columns, file.data_offset);
  std::vector<double> values(rows), row(columns);
  std::vector<std::byte> stored(columns * size);
  for (std::uint64_t r = 0; r < rows; ++r) {
    data.read(file.data_offset + r * stored.size(), stored.data(), stored.size());
    convert(stored.data(), columns, file.slope, file.intercept, row.data());
    values[r] = row[column];
  }
  return values;
}

}  // namespace voxherd
