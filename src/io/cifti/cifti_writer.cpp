#include <fmt/core.h>

#include <atomic>
#include <cstring>
#include <iterator>

#include "core/escape.hpp"
#include "core/failure.hpp"
#include "core/text.hpp"
#include "src/io/cifti/cifti.hpp"
#include "src/io/nifti/nifti_layout.hpp"
#include "src/io/output_file.hpp"
#include "src/io/xml_parser.hpp"

namespace voxherd {

namespace {

constexpr std::size_t extension_alignment = 16;  // bytes, of NIfTI's extensions

std::string surface_places(const brain_part& part) {
  std::string text;
  for (const std::uint64_t v : part.places) fmt::format_to(std::back_inserter(text), "{} ", v);
  return text;
}

std::string voxel_places(const brain_part& part, const image_grid& grid) {
  std::string text;
  const auto& n = grid.size;
  for (const std::uint64_t v : part.places)
    fmt::format_to(std::back_inserter(text), "{} {} {}\n", v % n[0], v / n[0] % n[1], v / (n[0] * n[1]));
  return text;
}

/// The grid of an axis's voxels.
std::string volume_element(const std::optional<image_grid>& grid) {
  if (!grid) return "";
  std::string text = fmt::format(
      "<Volume VolumeDimensions=\"{},{},{}\"><TransformationMatrixVoxelIndicesIJKtoXYZ MeterExponent=\"-3\">",
      grid->size[0], grid->size[1], grid->size[2]);
  for (std::size_t i = 0; i < 16; ++i)
    fmt::format_to(std::back_inserter(text), "{:.10f}{}", grid->voxel_to_world[i], i % 4 == 3 ? "\n" : " ");
  return text + "</TransformationMatrixVoxelIndicesIJKtoXYZ></Volume>\n";
}

const image_grid& require_grid(const std::optional<image_grid>& grid) {
  if (!grid) throw failure(exit_status::internal_error, "cifti_writer: voxels without a grid");
  return *grid;
}

std::string axis_content(const greyordinates& g) {
  std::string text = volume_element(g.grid);
  std::uint64_t first = 0;
  for (const brain_part& part : g.parts) {
    fmt::format_to(std::back_inserter(text),
                   "<BrainModel IndexOffset=\"{}\" IndexCount=\"{}\" ModelType=\"CIFTI_MODEL_TYPE_{}\" "
                   "BrainStructure=\"CIFTI_STRUCTURE_{}\"",
                   first, part.size(), part.is_surface() ? "SURFACE" : "VOXELS", part.structure);
    if (part.is_surface()) {
      fmt::format_to(std::back_inserter(text),
                     " SurfaceNumberOfVertices=\"{}\"><VertexIndices>{}</VertexIndices></BrainModel>\n",
                     part.surface_vertices, surface_places(part));
    } else {
      text += "><VoxelIndicesIJK>" + voxel_places(part, require_grid(g.grid)) + "</VoxelIndicesIJK></BrainModel>\n";
    }
    first += part.size();
  }
  return text;
}

std::string axis_content(const parcel_list& list) {
  std::map<std::string, std::uint64_t> surfaces;
  std::string parcels;
  for (const brain_parcel& parcel : list.parcels) {
    parcels += fmt::format("<Parcel Name=\"{}\">", xml_text(parcel.name));
    std::string voxels;
    for (const brain_part& part : parcel.parts) {
      if (part.is_surface()) {
        surfaces[part.structure] = part.surface_vertices;
        parcels += fmt::format("<Vertices BrainStructure=\"CIFTI_STRUCTURE_{}\">{}</Vertices>", part.structure,
                               surface_places(part));
      } else {
        voxels += voxel_places(part, require_grid(list.grid));
      }
    }
    if (!voxels.empty()) parcels += "<VoxelIndicesIJK>" + voxels + "</VoxelIndicesIJK>";
    parcels += "</Parcel>\n";
  }
  std::string text = volume_element(list.grid);
  for (const auto& [structure, vertices] : surfaces)
    text += fmt::format("<Surface BrainStructure=\"CIFTI_STRUCTURE_{}\" SurfaceNumberOfVertices=\"{}\"/>\n", structure,
                        vertices);
  return text + parcels;
}

std::string axis_content(const named_maps& maps) {
  std::string text;
  for (const std::string& name : maps.names)
    text += fmt::format("<NamedMap><MapName>{}</MapName></NamedMap>\n", xml_text(name));
  return text;
}

/// The words of CIFTI for a kind of axis, in the order of the alternatives of cifti_axis.
constexpr const char* index_types[] = {"BRAIN_MODELS", "PARCELS", "SCALARS"};

std::string axis_element(const cifti_axis& axis, const char* dimensions, const std::string& content) {
  return fmt::format(
      "<MatrixIndicesMap AppliesToMatrixDimension=\"{}\" IndicesMapToDataType=\"CIFTI_INDEX_TYPE_{}\">\n{}"
      "</MatrixIndicesMap>\n",
      dimensions, index_types[axis.index()], content);
}

/// Dimension 0 runs along a row: its map describes the columns.
std::string make_xml(const cifti_axis& rows, const cifti_axis& columns) {
  const auto content = [](const auto& axis) { return axis_content(axis); };
  const std::string of_rows = std::visit(content, rows), of_columns = std::visit(content, columns);
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<CIFTI Version=\"2\">\n<Matrix>\n<MetaData><MD>"
      "<Name>ProgramProvenance</Name><Value>voxherd {}</Value></MD></MetaData>\n",
      version);
  if (of_rows == of_columns) {
    text += axis_element(rows, "0,1", of_rows);
  } else {
    text += axis_element(columns, "0", of_columns) + axis_element(rows, "1", of_rows);
  }
  return text + "</Matrix>\n</CIFTI>\n";
}

struct cifti_intent {
  std::size_t rows, columns;  ///< alternatives of cifti_axis
  int code;
  const char* name;
};

constexpr cifti_intent intents[] = {{0, 0, 3001, "ConnDense"},
                                    {1, 1, 3003, "ConnParcels"},
                                    {0, 2, 3006, "ConnDenseScalar"},
                                    {1, 2, 3008, "ConnParcelScalr"}};

const cifti_intent& find_intent(const cifti_axis& rows, const cifti_axis& columns) {
  for (const cifti_intent& intent : intents)
    if (intent.rows == rows.index() && intent.columns == columns.index()) return intent;
  throw failure(exit_status::internal_error, "cifti_writer: no intent for these axes");
}

nifti2_header make_header(const cifti_axis& rows, const cifti_axis& columns, std::size_t extension_bytes) {
  nifti2_header h{};
  h.sizeof_hdr = sizeof h;
  std::memcpy(h.magic, "n+2\0\r\n\032\n", 8);
  h.datatype = nifti_float32;
  h.bitpix = 32;
  h.dim[0] = 6;
  for (std::size_t i = 1; i < 8; ++i) h.dim[i] = 1;
  for (double& size : h.pixdim) size = 1;
  h.dim[5] = static_cast<std::int64_t>(axis_size(columns));
  h.dim[6] = static_cast<std::int64_t>(axis_size(rows));
  h.scl_slope = 1;
  h.xyzt_units = nifti_mm | nifti_second;
  const cifti_intent& intent = find_intent(rows, columns);
  h.intent_code = intent.code;
  std::strncpy(h.intent_name, intent.name, sizeof h.intent_name - 1);
  h.vox_offset = static_cast<std::int64_t>(sizeof h + 4 + extension_bytes);
  return h;
}

}  // namespace

std::uint64_t greyordinates::size() const {
  std::uint64_t sum = 0;
  for (const brain_part& part : parts) sum += part.size();
  return sum;
}

std::uint64_t axis_size(const cifti_axis& axis) {
  if (const auto* g = std::get_if<greyordinates>(&axis)) return g->size();
  if (const auto* list = std::get_if<parcel_list>(&axis)) return list->parcels.size();
  return std::get<named_maps>(axis).names.size();
}

struct cifti_writer::state {
  state(const std::string& p, std::uint64_t count)
      : path(p),
        expected(count),
        file(p, p.ends_with(".gz") ? output_file::coding::gzip : output_file::coding::plain) {}
  bool compresses() const { return path.ends_with(".gz"); }

  std::string path;
  std::uint64_t expected;  ///< values
  std::atomic<std::uint64_t> written = 0;
  std::uint64_t begin = 0;  ///< place of the first value in the file
  output_file file;
};

cifti_writer::cifti_writer(const std::string& path, const cifti_axis& rows, const cifti_axis& columns)
    : state_(std::make_unique<state>(path, axis_size(rows) * axis_size(columns))) {
  std::string xml = make_xml(rows, columns);
  constexpr std::size_t size_and_code = 8;
  xml.resize((xml.size() + size_and_code + extension_alignment - 1) / extension_alignment * extension_alignment -
             size_and_code);
  const auto bytes = static_cast<std::int32_t>(xml.size() + size_and_code);
  const nifti2_header header = make_header(rows, columns, static_cast<std::size_t>(bytes));
  const char has_extension[4] = {1, 0, 0, 0};
  const std::int32_t size_code[2] = {bytes, nifti_cifti_extension};
  state_->file.write(&header, sizeof header);
  state_->file.write(has_extension, sizeof has_extension);
  state_->file.write(size_code, sizeof size_code);
  state_->file.write(xml.data(), xml.size());
  state_->begin = sizeof header + sizeof has_extension + sizeof size_code + xml.size();
}
cifti_writer::~cifti_writer() = default;
cifti_writer::cifti_writer(cifti_writer&&) noexcept = default;

void cifti_writer::append(std::span<const float> values) {
  state_->file.write(values.data(), values.size_bytes());
  state_->written += values.size();
}

bool cifti_writer::takes_any_order() const { return !state_->compresses(); }

void cifti_writer::put_row(std::uint64_t row, std::span<const float> values) {
  if (!takes_any_order()) return append(values);
  state_->file.write_at(state_->begin + row * values.size_bytes(), values.data(), values.size_bytes());
  state_->written += values.size();
}

void cifti_writer::finish() {
  if (state_->written != state_->expected)
    throw failure(exit_status::internal_error, fmt::format("{}: {} values written, expected {}", state_->path,
                                                           state_->written.load(), state_->expected));
  state_->file.finish();
}

}  // namespace voxherd
