#include <algorithm>
#include <array>
#include <set>

#include "core/json_text.hpp"
#include "core/plan.hpp"
#include "mpi/result/checksums.hpp"
#include "mpi/result/dataset_boxes.hpp"
#include "mpi/result/file_names.hpp"
#include "mpi/result/hdf5_handle.hpp"
#include "mpi/result/result_reader.hpp"
#include "mpi/result/result_vtk.hpp"
#include "mpi/result/result_writer.hpp"
#include "mpi/result/table_checksum.hpp"

namespace voxherd {

namespace {

constexpr const char* items_path = "/items/voxel";
constexpr std::array<std::uint64_t, 1> vector_shape{3};
constexpr std::array<std::uint64_t, 2> matrix_shape{4, 4};

hdf5::handle summary_type() {
  hdf5::handle type(H5Tcopy(H5T_C_S1), H5Tclose, "HDF5 string type");
  H5Tset_size(type, summary_bytes);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  return type;
}

/// A dataset whose content is known when the file is created.
struct known_dataset {
  std::string path;
  hid_t type;
  std::vector<std::uint64_t> shape;
  std::span<const std::byte> bytes;
  std::string unit, meaning;
};

template <class T>
std::span<const std::byte> bytes_of(const T& values) {
  return std::as_bytes(std::span(values));
}

/// What the known datasets of a file refer to, beside its layout.
struct first_content {
  explicit first_content(const result_layout& layout)
      : journal(layout.batches.size()), first_items(first_items_of(layout.batches)) {}
  hdf5::handle journal_type = hdf5::journal_type(), summary_type = voxherd::summary_type();
  std::vector<journal_entry> journal;  // nothing is done
  std::vector<std::uint64_t> first_items;
  std::string summary = std::string(summary_bytes, '\0');
};

std::vector<known_dataset> known_datasets(const result_layout& layout, const first_content& first) {
  const std::uint64_t items = layout.item_voxels.size(), batches = layout.batches.size();
  std::vector<known_dataset> all{{journal_path,
                                  first.journal_type,
                                  {batches},
                                  bytes_of(first.journal),
                                  "1",
                                  "what each finished batch left: done, XXH64 of its bytes, rank, device time"},
                                 {"/journal/first_item",
                                  H5T_STD_U64LE,
                                  {batches + 1},
                                  bytes_of(first.first_items),
                                  "1",
                                  "first item of each batch; last, the number of items"},
                                 {summary_path,
                                  first.summary_type,
                                  {},
                                  bytes_of(first.summary),
                                  "1",
                                  "times and memory of the run that finished the file, JSON"},
                                 {items_path,
                                  H5T_STD_U64LE,
                                  {items},
                                  bytes_of(layout.item_voxels),
                                  "1",
                                  "index of each item's voxel in the image, x fastest"}};
  for (const constant& c : layout.constants) {
    all.push_back({dataset_path(c), H5T_IEEE_F64LE, c.shape, bytes_of(c.values), c.unit, c.meaning});
  }
  if (has_layout(layout.outputs, output_layout::points)) {
    all.push_back({offset_path,
                   H5T_STD_I64LE,
                   {items + 1},
                   bytes_of(layout.point_offsets),
                   "1",
                   "item i has the rows from offset[i] to before offset[i + 1] of the others in this group"});
  }
  return all;
}

/// `chunk`: its shape.
hdf5::handle new_compressed_dataset(hid_t file, const std::string& path, hid_t type,
                                    std::span<const std::uint64_t> shape, std::span<const std::uint64_t> chunk) {
  constexpr unsigned level = 1;  // of deflate; higher ones take longer and save little
  const std::vector<hsize_t> extents(chunk.begin(), chunk.end());
  const hdf5::handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "HDF5 properties");
  H5Pset_chunk(properties, static_cast<int>(extents.size()), extents.data());
  H5Pset_shuffle(properties);
  H5Pset_deflate(properties, level);
  H5Pset_obj_track_times(properties, false);
  const hdf5::handle space = hdf5::make_space(shape);
  return {H5Dcreate2(file, path.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose,
          "creating dataset " + path};
}

/// `chunk`: the shape of the chunks of a compressed dataset; empty for a plain one.
hdf5::handle new_described(hid_t file, const std::string& path, hid_t type, std::span<const std::uint64_t> shape,
                           const std::string& unit, const std::string& meaning,
                           std::span<const std::uint64_t> chunk = {}) {
  hdf5::handle dataset = chunk.empty() ? hdf5::new_dataset(file, path, type, shape)
                                       : new_compressed_dataset(file, path, type, shape, chunk);
  hdf5::write_attribute(dataset, "unit", unit);
  hdf5::write_attribute(dataset, "meaning", meaning);
  return dataset;
}

void create_groups(hid_t file, const result_layout& layout) {
  std::set<std::string> groups{"maps", "samples", "items", "journal", "inputs"};
  for (const constant& c : layout.constants) groups.insert(c.group);
  if (has_layout(layout.outputs, output_layout::points)) groups.insert("points");
  for (const std::string& group : groups) hdf5::new_group(file, group);
}

/// The shape of a volume's chunks: some slices.
std::vector<std::uint64_t> volume_chunk(const output_spec& output, const result_layout& layout) {
  std::vector<std::uint64_t> chunk = dataset_shape(output, layout);
  chunk[0] = chunk_slices(output, layout.grid);
  return chunk;
}

/// The list of the items' voxels may be larger than all maps of it.
std::vector<std::uint64_t> items_chunk(const known_dataset& d) {
  constexpr std::uint64_t max_items = 1 << 16;
  if (d.path != items_path || d.shape[0] == 0) return {};
  return {std::min(d.shape[0], max_items)};
}

void create_datasets(hid_t file, const result_layout& layout, const std::vector<known_dataset>& known,
                     result_storage storage) {
  const bool compresses = storage == result_storage::compressed;
  for (const known_dataset& d : known) {
    const std::vector<std::uint64_t> chunk = compresses ? items_chunk(d) : std::vector<std::uint64_t>();
    write_checksum(new_described(file, d.path, d.type, d.shape, d.unit, d.meaning, chunk), d.bytes);
  }
  for (const output_spec& o : layout.outputs) {
    const std::vector<std::uint64_t> chunk = compresses ? volume_chunk(o, layout) : std::vector<std::uint64_t>();
    new_described(file, dataset_path(o), hdf5::file_type(o.type), dataset_shape(o, layout), o.unit, o.meaning, chunk);
  }
}

/// Attributes of / (version, analysis, configuration, ...) and of /image.
void write_file_attributes(hid_t file, const result_layout& layout) {
  const std::uint8_t complete = 0;
  hdf5::write_attribute(file, "voxherd_version", layout.version);
  hdf5::write_attribute(file, "analysis", layout.analysis);
  hdf5::write_attribute(file, "complete", H5T_STD_U8LE, {}, &complete);
  hdf5::write_attribute(file, "configuration", dump_json(layout.configuration));
  hdf5::write_attribute(file, "provenance", dump_json(layout.provenance));
  hdf5::write_attribute(file, "contents", dump_json(describe_contents(layout)));
  const std::uint64_t texts = text_checksum(file);
  hdf5::write_attribute(file, text_checksum_name, H5T_STD_U64LE, {}, &texts);
  const hdf5::handle image = hdf5::new_group(file, "image");
  hdf5::write_attribute(image, "size", H5T_STD_U64LE, vector_shape, layout.grid.size.data());
  hdf5::write_attribute(image, "voxel_to_world", H5T_IEEE_F64LE, matrix_shape, layout.grid.voxel_to_world.data());
  hdf5::write_attribute(image, "voxel_size_mm", H5T_IEEE_F64LE, vector_shape, layout.grid.voxel_size_mm.data());
}

void create_tables(const std::string& path, const result_layout& layout, const std::vector<known_dataset>& known,
                   result_storage storage) {
  const hdf5::handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "HDF5 properties");
  H5Pset_alignment(access, 64 << 10, 4096);
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
  const hdf5::handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "HDF5 properties");
  H5Pset_obj_track_times(creation, false);
  H5Pset_userblock(creation, user_block_bytes);
  H5Pset_attr_phase_change(creation, 64, 0);  // keeps the attributes of / in one block
  hdf5::handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose, "creating " + path);
  write_file_attributes(file, layout);
  create_groups(file, layout);
  create_datasets(file, layout, known, storage);
  create_vtkhdf(file, layout);
  hdf5::checked(file.reset(), "creating " + path);
}

void write_all(hid_t file, const std::string& dataset, hid_t type, const void* values) {
  const hdf5::handle opened = hdf5::open_dataset(file, dataset);
  const std::vector<std::uint64_t> count = hdf5::shape_of(opened), start(count.size(), 0);
  hdf5::write_block(opened, type, start, count, values, dataset);
}

void write_known_data(const std::string& path, const std::vector<known_dataset>& known) {
  hdf5::handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "opening " + path);
  for (const known_dataset& d : known) write_all(file, d.path, d.type, d.bytes.data());
  hdf5::checked(file.reset(), "writing " + path);
}

void write_complete(hid_t file, std::uint8_t complete) {
  const hdf5::handle a(H5Aopen(file, "complete", H5P_DEFAULT), H5Aclose, "attribute `complete`");
  hdf5::checked(H5Awrite(a, H5T_STD_U8LE, &complete), "writing attribute `complete`");
}

}  // namespace

std::uint64_t chunk_slices(const output_spec& output, const image_grid& grid) {
  constexpr std::uint64_t chunk_bytes = 256 << 10;  // fits in HDF5's cache for a dataset
  const std::uint64_t slice_bytes = grid.size[0] * grid.size[1] * output.bytes_per_item();
  return std::clamp<std::uint64_t>(chunk_bytes / slice_bytes, 1, grid.size[2]);
}

void create_result_file(const std::string& path, const result_layout& layout, result_storage storage) {
  hdf5::prepare();
  check_names(layout);
  const first_content first(layout);
  const std::vector<known_dataset> known = known_datasets(layout, first);
  create_tables(path, layout, known, storage);
  reserve_file(path);
  write_known_data(path, known);
  store_table_checksum(path);
  // From here on the tables do not change until the end: the file of a killed run can be read.
  sync_file(path);
}

void mark_complete(const std::string& path, const std::string& summary) {
  std::string padded = summary;
  padded.resize(summary_bytes, '\0');
  change_tables(path, [&](hid_t file) {
    write_all(file, summary_path, summary_type(), padded.data());
    for (const char* dataset : {journal_path, summary_path})
      update_checksum(hdf5::open_dataset(file, dataset), dataset);
    // A killed process must not leave a complete file with other checksums.
    hdf5::checked(H5Fflush(file, H5F_SCOPE_GLOBAL), "flushing " + path);
    write_complete(file, 1);
  });
  sync_file(path);
}

void mark_incomplete(const std::string& path) {
  change_tables(path, [](hid_t file) { write_complete(file, 0); });
}

}  // namespace voxherd
