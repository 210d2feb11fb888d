#include "mpi/result/result_reader.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "core/plan.hpp"
#include "core/step_outputs.hpp"
#include "core/text.hpp"
#include "mpi/result/checksums.hpp"
#include "mpi/result/file_names.hpp"
#include "mpi/result/hdf5_handle.hpp"
#include "mpi/result/result_layout.hpp"
#include "mpi/result/table_checksum.hpp"

namespace voxherd {

struct result_reader::state {
  std::string path;
  hdf5::handle file;
  bool complete = false;
  std::vector<std::uint64_t> item_voxels;
  result_layout layout;
  nlohmann::json summary;
  std::vector<journal_entry> journal;
};

namespace {

bool is_later(const std::string& other) {
  const auto numbers = [](const std::string& text) {
    std::array<int, 3> n{};
    std::sscanf(text.c_str(), "%d.%d.%d", &n[0], &n[1], &n[2]);
    return n;
  };
  return numbers(other) > numbers(version);
}

/// `written_by`: the version that wrote the file, "" if unknown.
[[noreturn]] void bad(const std::string& path, const std::string& what, const std::string& written_by) {
  const std::string advice =
      is_later(written_by)
          ? fmt::format("it was written by voxherd {}, and this is {}: use that version", written_by, version)
          : "is it a complete copy of a voxherd result?";
  throw failure(exit_status::bad_data, fmt::format("{}: {}; {}", path, what, advice));
}

nlohmann::json parse_text(const std::string& text) {
  nlohmann::json value = parse_json(text, "a text of the result");
  if (value.is_discarded()) throw failure(exit_status::bad_data, "a text of the result is no JSON");
  return value;
}

void read_image(hid_t file, image_grid& grid) {
  const hdf5::handle image = hdf5::open_group(file, "image");
  hdf5::read_attribute(image, "size", H5T_STD_U64LE, 3, grid.size.data());
  hdf5::read_attribute(image, "voxel_to_world", H5T_IEEE_F64LE, 16, grid.voxel_to_world.data());
  hdf5::read_attribute(image, "voxel_size_mm", H5T_IEEE_F64LE, 3, grid.voxel_size_mm.data());
  constexpr double max_voxels = 1e15;
  double voxels = 1;
  for (const std::uint64_t extent : grid.size) voxels *= static_cast<double>(extent);
  if (voxels > max_voxels || voxels == 0) {
    throw failure(
        exit_status::bad_data,
        fmt::format("attribute `size` of /image is {}, which is not the size of an image", fmt::join(grid.size, "x")));
  }
}

nlohmann::json read_summary(hid_t file) {
  const hdf5::handle type(H5Tcopy(H5T_C_S1), H5Tclose, "HDF5 string type");
  H5Tset_size(type, summary_bytes);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  std::string text(summary_bytes, '\0');
  const hdf5::handle dataset = hdf5::open_dataset(file, "/journal/summary");
  hdf5::checked(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()), "reading /journal/summary");
  text.resize(text.find_last_not_of('\0') + 1);
  return text.empty() ? nlohmann::json() : parse_text(text);
}

void check_shape(hid_t file, const std::string& path, const std::vector<std::uint64_t>& expected) {
  const hdf5::handle dataset = hdf5::open_dataset(file, path);
  (void)count_values(file, dataset, path);
  const auto found = hdf5::shape_of(dataset);
  if (found == expected) return;
  throw failure(exit_status::bad_data,
                fmt::format("{} has shape {}, expected {}", path, fmt::join(found, "x"), fmt::join(expected, "x")));
}

void check_shapes(hid_t file, const result_layout& layout) {
  for (const output_spec& o : layout.outputs) check_shape(file, dataset_path(o), dataset_shape(o, layout));
}

void check_items(const result_layout& layout) {
  const auto& voxels = layout.item_voxels;
  const std::uint64_t voxel_count = layout.grid.voxel_count();
  const bool increasing = std::adjacent_find(voxels.begin(), voxels.end(), std::greater_equal<>()) == voxels.end();
  const bool has_volumes = has_layout(layout.outputs, output_layout::volume);
  const bool outside = std::any_of(voxels.begin(), voxels.end(),
                                   [&](std::uint64_t v) { return v >= voxel_count && (has_volumes || v != no_voxel); });
  if (outside || (has_volumes && !increasing)) {
    throw failure(exit_status::bad_data, "/items/voxel is not an increasing list of voxels of the image");
  }
  std::uint64_t next = 0;
  for (const batch& b : layout.batches) {
    if (b.first_item != next || b.item_count == 0 || b.item_count > voxels.size() - next) {
      throw failure(exit_status::bad_data,
                    fmt::format("/journal/first_item[{}] = {} is out of order", b.number, b.first_item));
    }
    next += b.item_count;
  }
  if (next != voxels.size()) throw failure(exit_status::bad_data, "/journal/first_item does not cover all items");
}

void check_offsets(const result_layout& layout) {
  if (!has_layout(layout.outputs, output_layout::points)) return;
  const auto& offsets = layout.point_offsets;
  if (offsets.size() != layout.item_voxels.size() + 1 || offsets.front() != 0 ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    throw failure(exit_status::bad_data, fmt::format("{} is not a list of one increasing offset per item and the "
                                                     "number of points",
                                                     offset_path));
  }
}

std::uint64_t components(const output_spec& o) { return o.bytes_per_item() / element_bytes(o.type); }

}  // namespace

result_reader::result_reader(const std::string& path) : state_(std::make_unique<state>()) {
  state& s = *state_;
  s.path = path;
  check_result_place(path);
  check_tables(path);
  s.file = hdf5::open_file(path);
  try {
    std::uint8_t complete = 0;
    s.layout.version = hdf5::read_text_attribute(s.file, "voxherd_version");
    s.layout.analysis = hdf5::read_text_attribute(s.file, "analysis");
    hdf5::read_attribute(s.file, "complete", H5T_STD_U8LE, 1, &complete);
    s.complete = complete == 1;
    s.layout.configuration = parse_text(hdf5::read_text_attribute(s.file, "configuration"));
    s.layout.provenance = parse_text(hdf5::read_text_attribute(s.file, "provenance"));
    read_contents(parse_text(hdf5::read_text_attribute(s.file, "contents")), s.layout);
    read_image(s.file, s.layout.grid);
    s.item_voxels = hdf5::read_all<std::uint64_t>(s.file, "/items/voxel", H5T_STD_U64LE);
    s.layout.item_voxels = s.item_voxels;
    s.layout.batches = make_batches(hdf5::read_all<std::uint64_t>(s.file, "/journal/first_item", H5T_STD_U64LE));
    s.journal = hdf5::read_all<journal_entry>(s.file, "/journal/batches", hdf5::journal_type());
    for (constant& c : s.layout.constants) {
      check_shape(s.file, dataset_path(c), c.shape);
      c.values = hdf5::read_all<double>(s.file, dataset_path(c), H5T_IEEE_F64LE);
    }
    if (has_layout(s.layout.outputs, output_layout::points)) {
      s.layout.point_offsets = hdf5::read_all<std::uint64_t>(s.file, offset_path, H5T_STD_U64LE);
    }
    s.summary = read_summary(s.file);
    check_items(s.layout);
    check_offsets(s.layout);
    check_shapes(s.file, s.layout);
    if (s.journal.size() != s.layout.batches.size())
      throw failure(exit_status::bad_data, "the length of /journal/batches does not match the plan");
  } catch (const hdf5::disk_failure& f) {
    throw failure(exit_status::disk, fmt::format("{}: {}", path, f.what()));
  } catch (const failure& f) {
    check_readable(path);
    bad(path, f.what(), s.layout.version);
  } catch (const nlohmann::json::exception& e) {
    bad(path, e.what(), s.layout.version);
  }
}

result_reader::~result_reader() = default;
result_reader::result_reader(result_reader&&) noexcept = default;

const std::string& result_reader::path() const { return state_->path; }
const std::string& result_reader::version() const { return state_->layout.version; }
const std::string& result_reader::analysis_name() const { return state_->layout.analysis; }
bool result_reader::complete() const { return state_->complete; }
const nlohmann::json& result_reader::configuration() const { return state_->layout.configuration; }
const nlohmann::json& result_reader::provenance() const { return state_->layout.provenance; }
const nlohmann::json& result_reader::summary() const { return state_->summary; }
const image_grid& result_reader::grid() const { return state_->layout.grid; }
const std::vector<std::uint64_t>& result_reader::item_voxels() const { return state_->item_voxels; }
const std::vector<std::uint64_t>& result_reader::point_offsets() const { return state_->layout.point_offsets; }
std::uint64_t result_reader::point_count() const { return voxherd::point_count(state_->layout); }
const std::vector<output_spec>& result_reader::outputs() const { return state_->layout.outputs; }
const std::vector<constant>& result_reader::constants() const { return state_->layout.constants; }

const constant* result_reader::find_constant(const std::string& group, const std::string& name) const {
  for (const constant& c : constants())
    if (c.group == group && c.name == name) return &c;
  return nullptr;
}
const std::vector<batch>& result_reader::batches() const { return state_->layout.batches; }
const std::vector<journal_entry>& result_reader::journal() const { return state_->journal; }

bool result_reader::has(const std::string& output) const {
  return std::any_of(outputs().begin(), outputs().end(), [&](const output_spec& o) { return o.name == output; });
}

const output_spec& result_reader::output(const std::string& name) const {
  std::vector<std::string> names;
  for (const output_spec& o : outputs()) {
    if (o.name == name) return o;
    names.push_back(o.name);
  }
  throw failure(exit_status::bad_data,
                fmt::format("{} has no output `{}`; it has: {}", path(), name, fmt::join(names, ", ")));
}

std::vector<float> result_reader::read_map(const std::string& name) const {
  const output_spec& o = output(name);
  if (o.layout != output_layout::volume) {
    throw failure(exit_status::bad_data, fmt::format("{}: `{}` is not a map", path(), name));
  }
  const auto shape = dataset_shape(o, state_->layout);
  const std::vector<std::uint64_t> start(shape.size(), 0);
  std::vector<float> values(grid().voxel_count() * components(o));
  hdf5::read_block(state_->file, o, H5T_NATIVE_FLOAT, start, shape, values.data());
  return values;
}

const output_spec& result_reader::checked_rows(const std::string& name, output_layout layout, std::uint64_t first,
                                               std::uint64_t count) const {
  const output_spec& o = output(name);
  const std::uint64_t rows = layout == output_layout::points ? point_count() : item_voxels().size();
  if (o.layout != layout || layout == output_layout::volume || first > rows || count > rows - first) {
    throw failure(exit_status::internal_error,
                  fmt::format("rows {} to {} of `{}` do not exist", first, first + count, name));
  }
  return o;
}

std::vector<float> result_reader::read_items(const std::string& name, std::uint64_t first_item,
                                             std::uint64_t count) const {
  const output_spec& o = checked_rows(name, output_layout::items, first_item, count);
  std::vector<float> values(count * components(o));
  hdf5::read_rows(state_->file, o, H5T_NATIVE_FLOAT, first_item, count, values.data());
  return values;
}

std::vector<float> result_reader::read_points(const std::string& name, std::uint64_t first_point,
                                              std::uint64_t count) const {
  const output_spec& o = checked_rows(name, output_layout::points, first_point, count);
  std::vector<float> values(count * components(o));
  hdf5::read_rows(state_->file, o, H5T_NATIVE_FLOAT, first_point, count, values.data());
  return values;
}

void result_reader::read_rows_into(const std::string& name, element_type type, std::uint64_t first, std::uint64_t count,
                                   void* values) const {
  const output_spec& o = checked_rows(name, output(name).layout, first, count);
  if (o.type != type) {
    throw failure(exit_status::internal_error,
                  fmt::format("`{}` has type {}, but {} was requested", name, type_name(o.type), type_name(type)));
  }
  hdf5::read_rows(state_->file, o, hdf5::file_type(type), first, count, values);
}

std::vector<std::byte> result_reader::read_row_bytes(const std::string& name, std::uint64_t first,
                                                     std::uint64_t count) const {
  std::vector<std::byte> bytes(count * output(name).bytes_per_item());
  read_rows_into(name, output(name).type, first, count, bytes.data());
  return bytes;
}

std::optional<std::uint64_t> result_reader::rows_offset(const std::string& name) const {
  const output_spec& o = checked_rows(name, output(name).layout, 0, 0);
  const hdf5::handle dataset = hdf5::open_dataset(state_->file, dataset_path(o));
  return hdf5::contiguous_offset(state_->file, dataset, hdf5::file_type(o.type));
}

std::vector<std::byte> result_reader::read_batch(const std::string& name, const batch& items) const {
  return hdf5::read_batch(state_->file, state_->layout, output(name), items);
}

std::uint64_t result_reader::compute_checksum(const batch& items) const {
  return hdf5::batch_checksum(state_->file, state_->layout, items);
}

void use_hdf5_without_file_locks() {
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0);
  // At the end of the process, or in MPI_Finalize if MPI was started first, HDF5 1.10 closes again the files whose
  // closing has failed, and crashes. All others are closed by then.
  H5dont_atexit();
  H5open();
}

std::string hdf5_library() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace voxherd
