#include "mpi/result/result_writer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "core/checksum.hpp"
#include "core/plan.hpp"
#include "mpi/comm/communicators.hpp"
#include "mpi/result/batch_rows.hpp"
#include "mpi/result/hdf5_handle.hpp"
#include "mpi/result/result_groups.hpp"
#include "mpi/result/result_polylines.hpp"
#include "mpi/result/voxel_interval.hpp"

namespace voxherd {

namespace {

// Maps are written to the grid in pieces of this size, so that a mask with large gaps needs no more memory.
constexpr std::uint64_t map_part_bytes = 64 << 20;
// Zeros between two voxels of the mask are not written if they take more than this: a call costs about as much.
constexpr std::uint64_t largest_zero_bytes = 32 << 10;

hdf5::handle parallel_access(const session& s) {
  hdf5::handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "HDF5 properties");
  hdf5::checked(H5Pset_fapl_mpio(access, s.handles().world, MPI_INFO_NULL), "HDF5 over MPI-IO");
  H5Pset_alignment(access, 64 << 10, 4096);
  return access;
}

void describe(hid_t dataset, const std::string& unit, const std::string& meaning) {
  hdf5::write_attribute(dataset, "unit", unit);
  hdf5::write_attribute(dataset, "meaning", meaning);
}

hdf5::handle summary_type() {
  hdf5::handle type(H5Tcopy(H5T_C_S1), H5Tclose, "HDF5 string type");
  H5Tset_size(type, summary_bytes);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  return type;
}

void write_all(hid_t dataset, hid_t type, const void* values) {
  hdf5::checked(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "writing the result file");
}

}  // namespace

struct result_writer::state {
  state(const session& s, const std::string& name, const result_layout& wanted)
      : ranks(&s), layout(&wanted), path(name) {}
  void create_datasets();
  void create_constants();
  void write_initial_data();
  void open_datasets();
  void write_map(const batch& items, std::size_t output, std::span<const std::byte> values, checksum& sum);
  void write_rows(const batch& items, std::size_t output, std::span<const std::byte> values, checksum& sum);

  const session* ranks;
  const result_layout* layout;
  std::string path;
  hdf5::handle file, journal_type, journal, summary, first_item, item_voxel, offset;
  std::vector<hdf5::handle> outputs, constants;
  std::vector<std::byte> map_part;
};

result_writer::result_writer(std::unique_ptr<state> s) : state_(std::move(s)) {}
result_writer::~result_writer() = default;
result_writer::result_writer(result_writer&&) noexcept = default;

result_writer result_writer::create(const session& s, const std::string& path, const result_layout& layout) {
  hdf5::prepare();
  auto w = std::make_unique<state>(s, path, layout);
  s.agree([&] {
    const hdf5::handle access = parallel_access(s);
    const hdf5::handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "HDF5 properties");
    H5Pset_obj_track_times(creation, false);
    w->file = {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose, "creating " + path};
    w->create_datasets();
    if (s.is_root()) w->write_initial_data();
    write_polylines(w->file, layout, s.rank(), s.size());
    // After this flush the file's metadata are on disk and do not change: the file of a killed run can be read.
    hdf5::checked(H5Fflush(w->file, H5F_SCOPE_GLOBAL), "flushing " + path);
  });
  return result_writer(std::move(w));
}

result_writer result_writer::reopen(const session& s, const std::string& path, const result_layout& layout) {
  hdf5::prepare();
  auto w = std::make_unique<state>(s, path, layout);
  s.agree([&] {
    const hdf5::handle access = parallel_access(s);
    w->file = {H5Fopen(path.c_str(), H5F_ACC_RDWR, access), H5Fclose, "opening " + path};
    w->open_datasets();
  });
  return result_writer(std::move(w));
}

void result_writer::state::create_datasets() {
  const std::uint64_t items = layout->item_voxels.size(), batches = layout->batches.size();
  const std::vector<std::uint64_t> item_shape{items}, batch_shape{batches}, first_shape{batches + 1};
  write_file_attributes(file, *layout);
  const hdf5::handle maps = hdf5::new_group(file, "maps"), samples = hdf5::new_group(file, "samples"),
                     item_group = hdf5::new_group(file, "items"), journal_group = hdf5::new_group(file, "journal");
  journal_type = hdf5::journal_type();
  journal = hdf5::new_dataset(journal_group, "batches", journal_type, batch_shape);
  describe(journal, "1", "what each finished batch left: done, XXH64 of its bytes, rank, device time");
  first_item = hdf5::new_dataset(journal_group, "first_item", H5T_STD_U64LE, first_shape);
  describe(first_item, "1", "first item of each batch; last, the number of items");
  summary = hdf5::new_dataset(journal_group, "summary", summary_type(), {});
  describe(summary, "1", "times and memory of the run that finished the file, JSON");
  item_voxel = hdf5::new_dataset(item_group, "voxel", H5T_STD_U64LE, item_shape);
  describe(item_voxel, "1", "index of each item's voxel in the image, x fastest");
  create_constants();
  if (has_layout(layout->outputs, output_layout::points)) {
    const hdf5::handle points = hdf5::new_group(file, "points");
    const std::vector<std::uint64_t> offset_shape{items + 1};
    offset = hdf5::new_dataset(file, offset_path, H5T_STD_I64LE, offset_shape);
    describe(offset, "1", "item i has the rows from offset[i] to before offset[i + 1] of the others in this group");
  }
  for (const output_spec& o : layout->outputs) {
    outputs.push_back(hdf5::new_dataset(file, dataset_path(o), hdf5::file_type(o.type), dataset_shape(o, *layout)));
    describe(outputs.back(), o.unit, o.meaning);
  }
  if (polyline_points(*layout) != nullptr) {
    create_polylines(file, *layout);
  } else {
    write_vtkhdf(file, *layout);
  }
}

void result_writer::state::create_constants() {
  std::set<std::string> groups{"inputs"};
  for (const constant& c : layout->constants) groups.insert(c.group);
  for (const std::string& group : groups) hdf5::new_group(file, group);
  for (const constant& c : layout->constants) {
    constants.push_back(hdf5::new_dataset(file, dataset_path(c), H5T_IEEE_F64LE, c.shape));
    describe(constants.back(), c.unit, c.meaning);
  }
}

void result_writer::state::write_initial_data() {
  const std::vector<journal_entry> nothing_done(layout->batches.size());
  const std::string no_summary(summary_bytes, '\0');
  write_all(journal, journal_type, nothing_done.data());
  write_all(summary, summary_type(), no_summary.data());
  write_all(first_item, H5T_STD_U64LE, first_items_of(layout->batches).data());
  write_all(item_voxel, H5T_STD_U64LE, layout->item_voxels.data());
  if (offset >= 0) write_all(offset, H5T_STD_U64LE, layout->point_offsets.data());
  for (std::size_t c = 0; c < constants.size(); ++c) {
    write_all(constants[c], H5T_IEEE_F64LE, layout->constants[c].values.data());
  }
}

void result_writer::state::open_datasets() {
  journal_type = hdf5::journal_type();
  journal = hdf5::open_dataset(file, "/journal/batches");
  summary = hdf5::open_dataset(file, "/journal/summary");
  for (const output_spec& o : layout->outputs) outputs.push_back(hdf5::open_dataset(file, dataset_path(o)));
}

void result_writer::write(const batch& items, std::span<const std::span<const std::byte>> outputs, std::uint64_t rank,
                          std::uint64_t microseconds) {
  state& s = *state_;
  checksum sum;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (s.layout->outputs[i].layout == output_layout::volume) {
      s.write_map(items, i, outputs[i], sum);
    } else {
      s.write_rows(items, i, outputs[i], sum);
    }
  }
  const journal_entry entry{1, sum.value(), rank, microseconds};
  const std::uint64_t start[] = {items.number}, count[] = {1};
  hdf5::write_block(s.journal, s.journal_type, start, count, &entry, s.path);
}

void result_writer::write_known(std::uint64_t batch_number, std::span<const std::span<const std::byte>> values) {
  const result_layout& layout = *state_->layout;
  const batch& b = layout.batches[batch_number];
  std::vector<std::span<const std::byte>> rows;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const row_range range = batch_rows(b, layout.outputs[i].layout, layout.point_offsets);
    const std::size_t bytes = layout.outputs[i].bytes_per_item();
    rows.push_back(values[i].subspan(range.first * bytes, range.count * bytes));
  }
  write(b, rows, static_cast<std::uint64_t>(state_->ranks->rank()), 0);
}

void result_writer::state::write_map(const batch& items, std::size_t output, std::span<const std::byte> values,
                                     checksum& sum) {
  const output_spec& spec = layout->outputs[output];
  const std::size_t bytes = spec.bytes_per_item();
  const auto& voxels = layout->item_voxels;
  const voxel_interval all = batch_interval(items, voxels, layout->grid.voxel_count());
  const std::uint64_t part_voxels = std::max<std::uint64_t>(1, map_part_bytes / bytes);
  std::uint64_t item = items.first_item;
  const std::uint64_t items_end = items.first_item + items.item_count;
  std::vector<std::uint64_t> start(3 + spec.shape.size(), 0), count(3, 1);
  count.insert(count.end(), spec.shape.begin(), spec.shape.end());
  for (std::uint64_t first = all.first; first < all.end; first += part_voxels) {
    const voxel_interval part{first, std::min(all.end, first + part_voxels)};
    map_part.assign((part.end - part.first) * bytes, std::byte{0});
    std::vector<voxel_interval> filled;  // everything else is zero since the creation of the file
    for (; item < items_end && voxels[item] < part.end; ++item) {
      const std::uint64_t voxel = voxels[item];
      std::memcpy(&map_part[(voxel - part.first) * bytes], &values[(item - items.first_item) * bytes], bytes);
      if (filled.empty() || (voxel - filled.back().end) * bytes > largest_zero_bytes) filled.push_back({voxel, voxel});
      filled.back().end = voxel + 1;
    }
    sum.add(map_part);
    for (const voxel_interval& written : filled) {
      const std::byte* from = &map_part[(written.first - part.first) * bytes];
      for (const grid_box& box : cut_into_boxes(written, layout->grid.size)) {
        std::copy(box.start.begin(), box.start.end(), start.begin());
        std::copy(box.count.begin(), box.count.end(), count.begin());
        hdf5::write_block(outputs[output], hdf5::file_type(spec.type), start, count, from, path);
        from += box.count[0] * box.count[1] * box.count[2] * bytes;
      }
    }
  }
}

void result_writer::state::write_rows(const batch& items, std::size_t output, std::span<const std::byte> values,
                                      checksum& sum) {
  const output_spec& spec = layout->outputs[output];
  const row_range range = batch_rows(items, spec.layout, layout->point_offsets);
  const auto rows = values.first(range.count * spec.bytes_per_item());
  std::vector<std::uint64_t> start(1 + spec.shape.size(), 0), count{range.count};
  start[0] = range.first;
  count.insert(count.end(), spec.shape.begin(), spec.shape.end());
  sum.add(rows);
  hdf5::write_block(outputs[output], hdf5::file_type(spec.type), start, count, rows.data(), path);
}

void result_writer::finish(const std::string& summary) {
  state& s = *state_;
  s.ranks->agree([&] {
    if (s.ranks->is_root()) {
      std::string padded = summary;
      padded.resize(summary_bytes, '\0');
      write_all(s.summary, summary_type(), padded.data());
    }
    const std::uint8_t complete = 1;
    const hdf5::handle a(H5Aopen(s.file, "complete", H5P_DEFAULT), H5Aclose, "attribute `complete`");
    hdf5::checked(H5Awrite(a, H5T_STD_U8LE, &complete), "writing attribute `complete`");
    hdf5::checked(H5Fflush(s.file, H5F_SCOPE_GLOBAL), "flushing " + s.path);
  });
  close();
}

void result_writer::close() {
  state& s = *state_;
  s.constants.clear();
  s.outputs.clear();
  for (hdf5::handle* h : {&s.journal, &s.summary, &s.first_item, &s.item_voxel, &s.offset, &s.journal_type}) h->reset();
  s.ranks->agree([&] { hdf5::checked(s.file.reset(), "closing " + s.path); });
}

}  // namespace voxherd
