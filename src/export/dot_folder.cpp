#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <utility>

#include "core/step_outputs.hpp"
#include "core/text.hpp"
#include "src/export/dot_folder.hpp"
#include "src/export/matrix_places.hpp"
#include "src/io/output_file.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

/// The path of a file in the folder. Throws failure (usage) if it exists and must not be overwritten.
std::string new_path(const export_settings& settings, const std::string& name) {
  std::string path = (fs::path(settings.out) / name).string();
  refuse_existing(path, settings);
  return path;
}

/// A text file of a folder, written in large pieces.
class text_file {
 public:
  text_file(const export_settings& settings, const std::string& name)
      : file_(new_path(settings, name), output_file::coding::plain) {}
  template <class... Values>
  void add(const char* form, const Values&... values) {
    fmt::format_to(std::back_inserter(text_), fmt::runtime(form), values...);
    if (text_.size() > (std::size_t{1} << 20)) flush();
  }
  void close() {
    flush();
    file_.finish();
  }

 private:
  void flush() {
    file_.write(text_.data(), text_.size());
    text_.clear();
  }
  std::string text_;
  output_file file_;
};

/// A matrix in memory, by column and within a column by row, as FSL orders it.
struct by_column {
  std::vector<std::uint64_t> begin;
  std::vector<std::uint32_t> row;
  std::vector<std::uint64_t> entry;  ///< place in the file

  by_column(const std::vector<std::uint64_t>& offsets, std::vector<std::uint32_t> column, std::size_t columns)
      : begin(columns + 1), row(column.size()), entry(column.size()) {
    for (const std::uint32_t c : column) ++begin[c + 1];
    for (std::size_t c = 0; c < columns; ++c) begin[c + 1] += begin[c];
    std::vector<std::uint64_t> next(begin.begin(), begin.end() - 1);
    for (std::size_t r = 0; r + 1 < offsets.size(); ++r)
      for (std::uint64_t i = offsets[r]; i < offsets[r + 1]; ++i) {
        const std::uint64_t to = next[column[i]]++;
        row[to] = static_cast<std::uint32_t>(r);
        entry[to] = i;
      }
  }
};

template <class Value>
void write_dot(const export_settings& settings, const std::string& name, const by_column& order, std::size_t rows,
               const Value& value) {
  text_file out(settings, name);
  const std::size_t columns = order.begin.size() - 1;
  for (std::size_t c = 0; c < columns; ++c)
    for (std::uint64_t i = order.begin[c]; i < order.begin[c + 1]; ++i)
      out.add("{}  {}  {}\n", order.row[i] + 1, c + 1, value(order.entry[i]));
  out.add("{}  {}  0\n", rows, columns);
  out.close();
}

/// Voxels as FSL writes them: x, y, z, and if `numbered` 0, the number of their image in a list, and the place in it.
/// Only the columns of matrices 2 and 4 are not numbered.
void write_voxels(const export_settings& settings, const std::string& name, const std::vector<std::uint64_t>& voxels,
                  const std::array<std::uint64_t, 3>& size, bool numbered) {
  text_file out(settings, name);
  std::size_t place = 0;
  for (const std::uint64_t v : voxels) {
    out.add("{}  {}  {}  ", v % size[0], v / size[0] % size[1], v / (size[0] * size[1]));
    if (numbered) out.add("0  {}  ", ++place);
    out.add("\n");
  }
  out.close();
}

/// The rows ("row_") or columns of a matrix with vertices: x, y, z, number of the file in the list, place in it, which
/// FSL counts from 1 for voxels and from 0 for vertices. x, y, z of a vertex are its rounded position in mm. Returns
/// false if there are no vertices.
bool write_places(const export_settings& settings, const std::string& name, const result_reader& result,
                  const std::string& prefix, const std::vector<std::uint64_t>& voxels,
                  const std::array<std::uint64_t, 3>& size) {
  if (result.find_constant("matrix", prefix + "roi") == nullptr) return false;
  constexpr std::uint64_t max_number = std::uint64_t{1} << 53;  // exact as double
  const auto roi = result.constant_indices("matrix", prefix + "roi", voxels.size(), max_number),
             place = result.constant_indices("matrix", prefix + "place", voxels.size(), max_number);
  const std::vector<double>& position = result.constant_values("matrix", prefix + "position", 3 * voxels.size());
  const std::uint64_t voxel_count = size[0] * size[1] * size[2];
  text_file out(settings, name);
  for (std::size_t i = 0; i < voxels.size(); ++i) {
    const std::uint64_t v = voxels[i];
    if (v >= voxel_count) {
      const double* p = &position[3 * i];
      out.add("{}  {}  {}  {}  {}  \n", std::lround(p[0]), std::lround(p[1]), std::lround(p[2]), roi[i], place[i]);
    } else {
      out.add("{}  {}  {}  {}  {}  \n", v % size[0], v / size[0] % size[1], v / (size[0] * size[1]), roi[i],
              place[i] + 1);
    }
  }
  out.close();
  return true;
}

/// A vertex has no voxel, but a place in a list. `side`: "row" or "column".
void check_vertices(const result_reader& result, const std::vector<std::uint64_t>& voxels, const char* side) {
  if (result.find_constant("matrix", fmt::format("{}_roi", side)) != nullptr) return;
  if (std::find(voxels.begin(), voxels.end(), no_voxel) == voxels.end()) return;
  refuse_data("{}: the matrix has {}s that are in no voxel, but no list of vertices (/matrix/{}_roi)", result.path(),
              side, side);
}

std::vector<std::uint64_t> read_counts(const result_reader& result, const char* name) {
  const std::uint64_t entries = result.point_count();
  if (result.output(name).type == element_type::uint64) return result.read_rows<std::uint64_t>(name, 0, entries);
  const auto narrow = result.read_rows<std::uint32_t>(name, 0, entries);
  return {narrow.begin(), narrow.end()};
}

/// The image of --target2 with the number of each voxel's column, from 1, as int32: FSL's xtract_blueprint uses the
/// values as indices. Its header has the codes and matrices of that image.
void write_lookup(const export_settings& settings, const result_reader& result, const sparse_matrix& m) {
  nifti_image form;
  form.grid = m.column_grid;
  form.volumes = 1;
  form.description = "voxherd: number of each column of fdt_matrix2";
  // Results of earlier versions have only the matrix.
  const nlohmann::json::json_pointer image("/inputs/target2/image");
  if (result.provenance().contains(image)) form.geometry = result.provenance().at(image);
  std::vector<std::int32_t> number(form.grid.voxel_count());
  for (std::size_t i = 0; i < m.column_voxel.size(); ++i) number[m.column_voxel[i]] = static_cast<std::int32_t>(i + 1);
  const image_type type = settings.type.value_or(image_type());
  form.is_nifti2 = type.is_nifti2;
  write_nifti(new_path(settings, fmt::format("lookup_tractspace_fdt_matrix2{}", type.ending())), form, number);
}

}  // namespace

sparse_matrix::sparse_matrix(const result_reader& result) {
  if (!result.has("column") || !result.has("count") || !result.complete())
    refuse_data("{}: expected a complete matrix of track (--matrix1 to --matrix4)", result.path());
  result.check_batches();
  const std::uint64_t entries = result.point_count();
  offsets = result.point_offsets();
  column_grid = read_column_grid(result);
  column_voxel = read_column_voxels(result);
  column = result.read_indices("column", 0, entries, column_voxel.size());
  count = read_counts(result, "count");
  if (result.has("length_sum")) length_sum = result.read_rows<double>("length_sum", 0, entries);
}

namespace {

/// The columns of `m` are moved.
void write_dots(const export_settings& settings, int number, sparse_matrix& m, std::size_t rows,
                const dot_values& wanted) {
  const std::string name = fmt::format("fdt_matrix{}", number);
  const by_column order(m.offsets, std::move(m.column), m.column_voxel.size());
  const auto mean = [&](std::uint64_t i) {
    return static_cast<float>(m.length_sum[i] / static_cast<double>(m.count[i]));
  };
  if (wanted.distance_corrected && number == 3) {
    write_dot(settings, name + ".dot", order, rows, mean);
  } else if (wanted.distance_corrected) {
    write_dot(settings, name + ".dot", order, rows,
              [&](std::uint64_t i) { return static_cast<float>(m.length_sum[i]); });
  } else {
    write_dot(settings, name + ".dot", order, rows, [&](std::uint64_t i) { return m.count[i]; });
  }
  if (wanted.lengths && !m.length_sum.empty()) write_dot(settings, name + "_lengths.dot", order, rows, mean);
}

/// What matrix 4 has in one number: the count, the shares of two fibres, each of 0 to 1000, and the mean length.
std::uint64_t trajectory_code(std::uint64_t count, std::uint64_t fibre1, std::uint64_t fibre2, double length_sum) {
  constexpr std::uint64_t unit = 1000, base = unit + 1;
  const auto n = static_cast<double>(count);
  const auto share = [&](std::uint64_t part) {
    return static_cast<std::uint64_t>(std::lround(static_cast<double>(unit * part) / n));
  };
  const std::uint64_t first = share(fibre1), second = std::min(share(fibre2), unit - first);
  const auto length = static_cast<std::uint64_t>(std::min(std::round(length_sum / n), static_cast<double>(unit)));
  return std::min<std::uint64_t>(count, 0x7fffffff) << 32 | (base * base * first + base * second + length);
}

void write_numbers(const export_settings& settings, const std::string& name, const std::vector<std::uint64_t>& all) {
  output_file file(new_path(settings, name), output_file::coding::plain);
  file.write(all.data(), all.size() * sizeof(all[0]));
  file.finish();
}

/// Matrix 4 in FSL's three files, whose columns are our rows: the size; entries per column; row and code of each.
void write_trajectories(const export_settings& settings, const std::string& name, const result_reader& result,
                        const sparse_matrix& m) {
  const std::vector<std::uint64_t> fibre1 = read_counts(result, "fibre1"), fibre2 = read_counts(result, "fibre2");
  text_file size(settings, name + "_1.mtx");
  size.add("{} {}\n", m.column_voxel.size(), m.offsets.size() - 1);
  size.close();
  std::vector<std::uint64_t> entries, codes;
  for (std::size_t r = 0; r + 1 < m.offsets.size(); ++r) entries.push_back(m.offsets[r + 1] - m.offsets[r]);
  for (std::size_t i = 0; i < m.column.size(); ++i) {
    codes.push_back(m.column[i]);
    codes.push_back(trajectory_code(m.count[i], fibre1[i], fibre2[i], m.length_sum[i]));
  }
  write_numbers(settings, name + "_2.mtx", entries);
  write_numbers(settings, name + "_3.mtx", codes);
}

}  // namespace

void write_matrix_folder(const export_settings& settings, const dot_values& wanted) {
  const result_reader result(settings.result);
  sparse_matrix m(result);
  const int number = fsl_matrix_number(result);
  if ((wanted.distance_corrected || number == 4) && m.length_sum.empty() && !m.count.empty())
    refuse_data("{}: has no lengths; run track with --lengths", settings.result);
  check_vertices(result, result.item_voxels(), "row");
  check_vertices(result, m.column_voxel, "column");
  create_folder(settings.out);
  const std::vector<std::uint64_t>& columns = m.column_voxel;
  const std::size_t rows = result.item_voxels().size();
  const std::string name = fmt::format("fdt_matrix{}", number);
  number == 4 ? write_trajectories(settings, name, result, m) : write_dots(settings, number, m, rows, wanted);
  const auto &size = result.grid().size, &extents = m.column_grid.size;
  if (!write_places(settings, "coords_for_" + name, result, "row_", result.item_voxels(), size))
    write_voxels(settings, "coords_for_" + name, result.item_voxels(), size, true);
  // As in FSL, a second mask of matrix 3 has its own table even if it is the first one again.
  const bool has_own_columns = number == 3 && result.provenance().at("inputs").contains("target3-columns");
  if ((number == 2 || number == 4 || has_own_columns) &&
      !write_places(settings, "tract_space_coords_for_" + name, result, "column_", columns, extents)) {
    write_voxels(settings, "tract_space_coords_for_" + name, columns, extents, number == 3);
    if (number == 2) write_lookup(settings, result, m);
  }
  spdlog::info("{}: {} in {} x {} places", settings.out, counted(m.count.size(), "value"), rows, columns.size());
}

namespace {

void export_dot(session& s, const export_settings& settings) {
  s.on_root([&] { write_matrix_folder(settings, {}); });
}

}  // namespace

const export_kind dot_export{"dot", "DIR", "a matrix of track as FSL writes it", false, export_dot};

}  // namespace voxherd
