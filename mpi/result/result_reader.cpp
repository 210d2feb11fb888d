#include "mpi/result/result_reader.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <future>

#include "core/checksum.hpp"
#include "core/control_groups.hpp"
#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "core/plan.hpp"
#include "core/step_outputs.hpp"
#include "core/text.hpp"
#include "core/threads.hpp"
#include "mpi/result/checksums.hpp"
#include "mpi/result/dataset_boxes.hpp"
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
  std::vector<hdf5::handle> outputs;  ///< datasets, in the layout's order
  bool has_checked_batches = false;
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
  const char* unfinished = path.ends_with(".part") ? " --overwrite starts again" : "";
  refuse_data("{}: {}; {}{}", path, what, advice, unfinished);
}

nlohmann::json parse_text(const std::string& text) {
  nlohmann::json value = parse_json(text, "a text of the result");
  if (value.is_discarded()) refuse_data("a text of the result is no JSON");
  return value;
}

/// Volumes bound the size by that of the file; other readers make arrays of one number per voxel.
void read_image(hid_t file, bool has_volumes, image_grid& grid) {
  const hdf5::handle image = hdf5::open_group(file, "image");
  hdf5::read_attribute(image, "size", H5T_STD_U64LE, 3, grid.size.data());
  hdf5::read_attribute(image, "voxel_to_world", H5T_IEEE_F64LE, 16, grid.voxel_to_world.data());
  hdf5::read_attribute(image, "voxel_size_mm", H5T_IEEE_F64LE, 3, grid.voxel_size_mm.data());
  const double max_voxels = has_volumes ? 1e15 : 1ULL << 32;
  double voxels = 1;
  for (const std::uint64_t extent : grid.size) voxels *= static_cast<double>(extent);
  if (voxels > max_voxels || voxels == 0) {
    refuse_data("attribute `size` of /image is {}, which is not the size of an image", fmt::join(grid.size, "x"));
  }
  for (const double mm : grid.voxel_size_mm)
    if (!std::isfinite(mm)) refuse_data("attribute `voxel_size_mm` of /image is not a list of finite numbers");
  for (const double element : grid.voxel_to_world)
    if (!std::isfinite(element)) refuse_data("attribute `voxel_to_world` of /image is not a matrix of finite numbers");
}

/// Reads the datasets that are not written in batches, and compares their checksums.
class known_values {
 public:
  known_values(hid_t file, bool is_compared) : file_(file), is_compared_(is_compared) {}

  template <class T>
  std::vector<T> read_list(const std::string& name, hid_t type, bool is_fixed = true) const {
    const hdf5::handle dataset = hdf5::open_dataset(file_, name);
    check_list(file_, dataset, name, type);
    return read<T>(dataset, name, type, is_fixed);
  }

  template <class T>
  std::vector<T> read_shape(const std::string& name, hid_t type, std::span<const std::uint64_t> shape) const {
    const hdf5::handle dataset = hdf5::open_dataset(file_, name);
    check_dataset(file_, dataset, name, type, shape);
    return read<T>(dataset, name, type, true);
  }

 private:
  template <class T>
  std::vector<T> read(hid_t dataset, const std::string& name, hid_t type, bool is_fixed) const {
    std::vector<T> values(hdf5::count_values(file_, dataset, name));
    hdf5::checked(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "reading " + name);
    // Another program may have added it, or written it again.
    if (!is_compared_ || !is_fixed || H5Aexists(dataset, checksum_name) <= 0) return values;
    checksum sum;
    sum.add(std::as_bytes(std::span(values)));
    std::uint64_t expected = 0;
    hdf5::read_attribute(dataset, checksum_name, H5T_STD_U64LE, 1, &expected);
    if (sum.value() != expected)
      refuse_data("{} is damaged: checksum {:016x}, expected {:016x}", name, sum.value(), expected);
    return values;
  }

  hid_t file_;
  bool is_compared_;
};

nlohmann::json read_summary(hid_t file) {
  const hdf5::handle dataset = hdf5::open_dataset(file, summary_path);
  const hdf5::handle type(H5Dget_type(dataset), H5Tclose, "HDF5 type of the summary");
  const bool is_text = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
  if (!is_text || H5Tget_size(type) != summary_bytes || hdf5::count_values(file, dataset, summary_path) != 1)
    refuse_data("{} is not a text of {} bytes", summary_path, summary_bytes);
  std::string text(summary_bytes, '\0');
  hdf5::checked(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()), "reading /journal/summary");
  text.resize(text.find_last_not_of('\0') + 1);
  return text.empty() ? nlohmann::json() : parse_text(text);
}

/// What every reader relies on: `inputs` is an object of objects.
void check_texts(result_layout& layout) {
  const auto expect_object = [](const nlohmann::json& value, const char* name) {
    if (!value.is_object()) refuse_data("attribute `{}` is not a JSON object", name);
  };
  expect_object(layout.configuration, "configuration");
  expect_object(layout.provenance, "provenance");
  nlohmann::json& inputs = layout.provenance["inputs"];
  if (inputs.is_null()) inputs = nlohmann::json::object();
  expect_object(inputs, "provenance");
}

void check_items(const result_layout& layout) {
  const auto& voxels = layout.item_voxels;
  const std::uint64_t voxel_count = layout.grid.voxel_count();
  const bool increasing = std::adjacent_find(voxels.begin(), voxels.end(), std::greater_equal<>()) == voxels.end();
  const bool has_volumes = has_layout(layout.outputs, output_layout::volume);
  const bool outside = std::any_of(voxels.begin(), voxels.end(),
                                   [&](std::uint64_t v) { return v >= voxel_count && (has_volumes || v != no_voxel); });
  if (outside || (has_volumes && !increasing)) {
    refuse_data("/items/voxel is not an increasing list of voxels of the image");
  }
  std::uint64_t next = 0;
  for (const batch& b : layout.batches) {
    if (b.first_item != next || b.item_count == 0 || b.item_count > voxels.size() - next) {
      refuse_data("/journal/first_item[{}] = {} is out of order", b.number, b.first_item);
    }
    next += b.item_count;
  }
  if (next != voxels.size()) refuse_data("/journal/first_item does not cover all items");
}

void check_offsets(const result_layout& layout) {
  if (!has_layout(layout.outputs, output_layout::points)) return;
  const auto& offsets = layout.point_offsets;
  if (offsets.size() != layout.item_voxels.size() + 1 || offsets.front() != 0 ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    refuse_data("{} is not a list of one increasing offset per item and the number of points", offset_path);
  }
}

std::uint64_t components_of(const output_spec& o) { return o.bytes_per_item() / element_bytes(o.type); }

/// Calls read(); what it throws names the file.
template <class Read>
auto read_named(const std::string& path, const std::string& written_by, const Read& read) {
  try {
    return read();
  } catch (const hdf5::disk_failure& f) {
    fail_on_disk("{}: {}", path, f.what());
  } catch (const failure& f) {
    check_readable(path);
    bad(path, f.what(), written_by);
  } catch (const nlohmann::json::exception& e) {
    bad(path, "its JSON has another form than expected: " + json_error_text(e), written_by);
  }
}

}  // namespace

result_reader::result_reader(const std::string& path, checksums known) : state_(std::make_unique<state>()) {
  state& s = *state_;
  s.path = path;
  check_result_place(path);
  check_tables(path);
  s.file = hdf5::open_file(path);
  read_named(path, s.layout.version, [&] {
    const known_values values(s.file, known == checksums::compared);
    std::uint8_t complete = 0;
    s.layout.version = hdf5::read_text_attribute(s.file, "voxherd_version");
    s.layout.analysis = hdf5::read_text_attribute(s.file, "analysis");
    hdf5::read_attribute(s.file, "complete", H5T_STD_U8LE, 1, &complete);
    s.complete = complete == 1;
    s.layout.configuration = parse_text(hdf5::read_text_attribute(s.file, "configuration"));
    s.layout.provenance = parse_text(hdf5::read_text_attribute(s.file, "provenance"));
    check_texts(s.layout);
    read_contents(parse_text(hdf5::read_text_attribute(s.file, "contents")), s.layout);
    read_image(s.file, has_layout(s.layout.outputs, output_layout::volume), s.layout.grid);
    s.item_voxels = values.read_list<std::uint64_t>("/items/voxel", H5T_STD_U64LE);
    s.layout.item_voxels = s.item_voxels;
    s.layout.batches = make_batches(values.read_list<std::uint64_t>("/journal/first_item", H5T_STD_U64LE));
    s.journal = values.read_list<journal_entry>(journal_path, hdf5::journal_type(), s.complete);
    for (constant& c : s.layout.constants)
      c.values = values.read_shape<double>(dataset_path(c), H5T_IEEE_F64LE, c.shape);
    if (has_layout(s.layout.outputs, output_layout::points))
      s.layout.point_offsets = values.read_list<std::uint64_t>(offset_path, H5T_STD_I64LE);
    s.summary = read_summary(s.file);
    check_items(s.layout);
    check_offsets(s.layout);
    s.outputs = hdf5::open_outputs(s.file, s.layout);
    if (s.journal.size() != s.layout.batches.size())
      refuse_data("the length of /journal/batches does not match the plan");
  });
  note_json_source(path);
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

const std::vector<std::uint64_t>& result_reader::image_voxels() const {
  const std::uint64_t voxels = grid().voxel_count();
  for (std::size_t i = 0; i < item_voxels().size(); ++i)
    if (item_voxels()[i] >= voxels)
      refuse_data(
          "{}: item {} is in no voxel of the image, expected a result of voxels; is it a complete copy of a voxherd "
          "result?",
          path(), i);
  return item_voxels();
}

const std::vector<double>& result_reader::constant_values(const std::string& group, const std::string& name,
                                                          std::uint64_t count) const {
  const constant* found = find_constant(group, name);
  if (found == nullptr)
    refuse_data("{}: is a result of {} and has no /{}/{}; give a result that has it", path(), analysis_name(), group,
                name);
  if (found->values.size() != count)
    refuse_data("{}: /{}/{} has {} values, expected {}; is it a complete copy of a voxherd result?", path(), group,
                name, found->values.size(), count);
  return found->values;
}

std::vector<std::uint64_t> result_reader::constant_indices(const std::string& group, const std::string& name,
                                                           std::uint64_t count, std::uint64_t below,
                                                           index_gaps gaps) const {
  const std::vector<double>& values = constant_values(group, name, count);
  const auto limit = static_cast<double>(below);
  std::vector<std::uint64_t> indices(values.size(), no_voxel);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double v = values[i];
    const bool is_none = v < 0 || v == static_cast<double>(no_voxel);
    if (is_none && gaps == index_gaps::negative_is_none) continue;
    if (!(v >= 0 && v < limit) || v != std::floor(v))
      refuse_data(
          "{}: /{}/{}[{}] is {}, expected a whole number from 0 to {}; is it a complete copy of a voxherd result?",
          path(), group, name, i, v, below == 0 ? 0 : below - 1);
    indices[i] = static_cast<std::uint64_t>(v);
  }
  return indices;
}

std::vector<std::int32_t> result_reader::constant_labels(const std::string& group, const std::string& name) const {
  constexpr std::uint64_t labels = std::uint64_t{1} << 31;
  const constant* found = find_constant(group, name);
  if (found == nullptr) return {};
  const std::vector<std::uint64_t> all = constant_indices(group, name, found->values.size(), labels);
  return {all.begin(), all.end()};
}

bool result_reader::has(const std::string& output) const {
  return std::any_of(outputs().begin(), outputs().end(), [&](const output_spec& o) { return o.name == output; });
}

std::size_t result_reader::find_output(const std::string& name) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < outputs().size(); ++i) {
    if (outputs()[i].name == name) return i;
    names.push_back(outputs()[i].name);
  }
  refuse_data("{} has no output `{}`; it has: {}", path(), name, fmt::join(names, ", "));
}

const output_spec& result_reader::output(const std::string& name) const { return outputs()[find_output(name)]; }

namespace {

void check_components(const std::string& path, const output_spec& o, std::uint64_t expected) {
  if (expected != 0 && components_of(o) != expected)
    refuse_data("{}: `{}` has {} values per row, expected {}; is it a complete copy of a voxherd result?", path, o.name,
                components_of(o), expected);
}

}  // namespace

void result_reader::require_output(const std::string& name, output_layout layout, std::uint64_t components) const {
  constexpr const char* const kinds[] = {"a map", "samples", "points"};
  const output_spec& o = output(name);
  if (o.layout != layout)
    refuse_data("{}: `{}` is {}, expected {}; is it a complete copy of a voxherd result?", path(), name,
                kinds[static_cast<std::size_t>(o.layout)], kinds[static_cast<std::size_t>(layout)]);
  check_components(path(), o, components);
}

std::vector<float> result_reader::read_map(const std::string& name, std::uint64_t components) const {
  return read_slices(name, 0, grid().size[2], components);
}

std::vector<float> result_reader::read_slices(const std::string& name, std::uint64_t first, std::uint64_t count,
                                              std::uint64_t components) const {
  require_output(name, output_layout::volume, components);
  const std::size_t number = find_output(name);
  const output_spec& o = outputs()[number];
  auto shape = dataset_shape(o, state_->layout);
  std::vector<std::uint64_t> start(shape.size(), 0);
  start[0] = first;
  shape[0] = count;
  std::vector<float> values(grid().size[0] * grid().size[1] * count * components_of(o));
  read_named(path(), version(), [&] {
    hdf5::read_block(state_->outputs[number], H5T_NATIVE_FLOAT, start, shape, values.data(), dataset_path(o));
  });
  return values;
}

/// The output's number.
std::size_t result_reader::checked_rows(const std::string& name, output_layout layout, std::uint64_t first,
                                        std::uint64_t count, std::uint64_t components) const {
  const std::size_t number = find_output(name);
  const output_spec& o = outputs()[number];
  const std::uint64_t rows = o.layout == output_layout::points ? point_count() : item_voxels().size();
  if (o.layout != layout || layout == output_layout::volume || first > rows || count > rows - first)
    refuse_data(
        "{}: `{}` does not have the rows {} to {}, which such a result has; is it a complete copy of a voxherd result?",
        path(), name, first, first + count);
  check_components(path(), o, components);
  return number;
}

std::vector<float> result_reader::read_floats(const std::string& name, output_layout layout, std::uint64_t first,
                                              std::uint64_t count, std::uint64_t components) const {
  const std::size_t number = checked_rows(name, layout, first, count, components);
  const output_spec& o = outputs()[number];
  std::vector<float> values(count * components_of(o));
  read_named(path(), version(),
             [&] { hdf5::read_rows(state_->outputs[number], o, H5T_NATIVE_FLOAT, first, count, values.data()); });
  return values;
}

std::vector<float> result_reader::read_items(const std::string& name, std::uint64_t first_item, std::uint64_t count,
                                             std::uint64_t components) const {
  return read_floats(name, output_layout::items, first_item, count, components);
}

std::vector<float> result_reader::read_points(const std::string& name, std::uint64_t first_point, std::uint64_t count,
                                              std::uint64_t components) const {
  return read_floats(name, output_layout::points, first_point, count, components);
}

void result_reader::read_rows_into(const std::string& name, element_type type, std::uint64_t first, std::uint64_t count,
                                   void* values) const {
  const std::size_t number = checked_rows(name, output(name).layout, first, count, 0);
  const output_spec& o = outputs()[number];
  if (o.type != type)
    refuse_data("{}: `{}` has type {}, expected {}; is it a complete copy of a voxherd result?", path(), name,
                type_name(o.type), type_name(type));
  read_named(path(), version(),
             [&] { hdf5::read_rows(state_->outputs[number], o, hdf5::file_type(type), first, count, values); });
}

std::vector<std::uint32_t> result_reader::read_indices(const std::string& name, std::uint64_t first,
                                                       std::uint64_t count, std::uint64_t below) const {
  check_components(path(), output(name), 1);
  std::vector<std::uint32_t> indices = read_rows<std::uint32_t>(name, first, count);
  const auto wrong = std::find_if(indices.begin(), indices.end(), [&](std::uint32_t i) { return i >= below; });
  if (wrong != indices.end())
    refuse_data("{}: `{}` of row {} is {}, expected a number below {}; is it a complete copy of a voxherd result?",
                path(), name, first + static_cast<std::uint64_t>(wrong - indices.begin()), *wrong, below);
  return indices;
}

std::vector<std::byte> result_reader::read_row_bytes(const std::string& name, std::uint64_t first,
                                                     std::uint64_t count) const {
  (void)checked_rows(name, output(name).layout, first, count, 0);
  std::vector<std::byte> bytes(count * output(name).bytes_per_item());
  read_rows_into(name, output(name).type, first, count, bytes.data());
  return bytes;
}

std::optional<std::uint64_t> result_reader::rows_offset(const std::string& name) const {
  const std::size_t number = checked_rows(name, output(name).layout, 0, 0, 0);
  return hdf5::contiguous_offset(state_->file, state_->outputs[number], hdf5::file_type(outputs()[number].type));
}

std::vector<std::byte> result_reader::read_batch(const std::string& name, const batch& items) const {
  const std::size_t number = find_output(name);
  return read_named(path(), version(), [&] {
    return hdf5::read_batch(state_->outputs[number], state_->layout, outputs()[number], items);
  });
}

std::uint64_t result_reader::compute_checksum(const batch& items) const {
  return read_named(path(), version(), [&] {
    return hdf5::batch_checker(path(), state_->file, state_->outputs, state_->layout).compute(items);
  });
}

void result_reader::check_batches() const {
  if (state_->has_checked_batches) return;
  const hdf5::batch_checker checker(path(), state_->file, state_->outputs, state_->layout);
  std::atomic<std::size_t> next{0};
  const std::function<void()> work = [&] {
    for (std::size_t b = next++; b < batches().size(); b = next++) {
      if (journal()[b].done != 1) continue;
      const std::uint64_t found = read_named(path(), version(), [&] { return checker.compute(batches()[b]); });
      if (found == journal()[b].checksum) continue;
      next = batches().size();
      refuse_data("{} is damaged: {}; copy it again, or compute it again; `voxherd verify {}` lists all damage", path(),
                  describe_damage(batches()[b], found, journal()[b].checksum), path());
    }
  };
  constexpr int max_threads = 16;  // more do not read faster from the system's page cache
  const int threads = checker.is_plain() ? std::min({max_threads, usable_cores(), max_team_threads()}) : 1;
  std::vector<std::future<void>> others =
      start_helpers(static_cast<std::size_t>(std::clamp(threads - 1, 0, static_cast<int>(batches().size()))), work);
  work();
  for (std::future<void>& other : others) other.get();
  state_->has_checked_batches = true;
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

std::vector<std::byte> read_item_rows(const result_reader& reader, const output_spec& output, const batch& items) {
  std::vector<std::byte> stored = reader.read_batch(output.name, items);
  if (output.layout != output_layout::volume) return stored;
  const std::size_t bytes = output.bytes_per_item();
  const auto& voxels = reader.item_voxels();
  // A batch's part of a map starts at its first voxel, for the first batch at voxel 0.
  const std::uint64_t first = items.first_item == 0 ? 0 : voxels[items.first_item];
  std::vector<std::byte> rows(items.item_count * bytes);
  for (std::uint64_t i = 0; i < items.item_count; ++i)
    std::memcpy(&rows[i * bytes], &stored[(voxels[items.first_item + i] - first) * bytes], bytes);
  return rows;
}

}  // namespace voxherd
