#include "mpi/result/result_writer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "core/checksum.hpp"
#include "core/plan.hpp"
#include "mpi/result/batch_rows.hpp"
#include "mpi/result/result_groups.hpp"
#include "mpi/result/result_polylines.hpp"
#include "mpi/result/voxel_interval.hpp"

namespace voxherd {

namespace {

// Maps are spread over the grid in pieces of this size, so that a mask with wide gaps takes no more memory.
constexpr std::uint64_t map_part_bytes = 64 << 20;
// Zeros outside the mask are not written where more than this lies between two voxels: a call costs about as much.
constexpr std::uint64_t largest_zero_bytes = 32 << 10;

hdf5::handle parallel_access(const session& s) {
  hdf5::handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "HDF5 properties");
  hdf5::checked(H5Pset_fapl_mpio(access, s.world(), MPI_INFO_NULL), "HDF5 over MPI-IO");
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

void write_whole(hid_t dataset, hid_t type, const void* values) {
  hdf5::checked(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "writing the result file");
}

}  // namespace

result_writer result_writer::create(const session& s, const std::string& path, const result_layout& layout) {
  hdf5::prepare();
  result_writer w(s, path, layout);
  s.agree([&] {
    const hdf5::handle access = parallel_access(s);
    const hdf5::handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "HDF5 properties");
    H5Pset_obj_track_times(creation, false);
    w.file_ = {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose, "creating " + path};
    w.create_datasets();
    if (s.is_root()) w.write_known_data();
    write_polylines(w.file_, layout, s.rank(), s.size());
    // After this flush the file's tables are on disk and stay as they are: a killed run can be read.
    hdf5::checked(H5Fflush(w.file_, H5F_SCOPE_GLOBAL), "flushing " + path);
  });
  return w;
}

result_writer result_writer::reopen(const session& s, const std::string& path, const result_layout& layout) {
  hdf5::prepare();
  result_writer w(s, path, layout);
  s.agree([&] {
    const hdf5::handle access = parallel_access(s);
    w.file_ = {H5Fopen(path.c_str(), H5F_ACC_RDWR, access), H5Fclose, "opening " + path};
    w.open_datasets();
  });
  return w;
}

void result_writer::create_datasets() {
  const std::uint64_t items = layout_->item_voxels.size(), batches = layout_->batches.size();
  const std::vector<std::uint64_t> item_shape{items}, batch_shape{batches}, first_shape{batches + 1};
  write_file_attributes(file_, *layout_);
  const hdf5::handle maps = hdf5::new_group(file_, "maps"), samples = hdf5::new_group(file_, "samples"),
                     item_group = hdf5::new_group(file_, "items"), journal = hdf5::new_group(file_, "journal");
  journal_type_ = hdf5::journal_type();
  journal_ = hdf5::new_dataset(journal, "batches", journal_type_, batch_shape);
  describe(journal_, "1", "what each finished batch left: done, XXH64 of its bytes, rank, device time");
  first_item_ = hdf5::new_dataset(journal, "first_item", H5T_STD_U64LE, first_shape);
  describe(first_item_, "1", "first item of each batch; last, the number of items");
  summary_ = hdf5::new_dataset(journal, "summary", summary_type(), {});
  describe(summary_, "1", "times and memory of the run that finished the file, JSON");
  voxel_ = hdf5::new_dataset(item_group, "voxel", H5T_STD_U64LE, item_shape);
  describe(voxel_, "1", "index of each item's voxel in the image, x fastest");
  create_constants();
  if (has_layout(layout_->outputs, output_layout::points)) {
    const hdf5::handle points = hdf5::new_group(file_, "points");
    const std::vector<std::uint64_t> offset_shape{items + 1};
    offset_ = hdf5::new_dataset(file_, offset_path, H5T_STD_I64LE, offset_shape);
    describe(offset_, "1", "item i has the rows from offset[i] to before offset[i + 1] of the others in this group");
  }
  for (const output_spec& o : layout_->outputs) {
    outputs_.push_back(hdf5::new_dataset(file_, dataset_path(o), hdf5::file_type(o.type), dataset_shape(o, *layout_)));
    describe(outputs_.back(), o.unit, o.meaning);
  }
  if (polyline_points(*layout_) != nullptr) {
    create_polylines(file_, *layout_);
  } else {
    write_vtkhdf(file_, *layout_);
  }
}

void result_writer::create_constants() {
  std::set<std::string> groups{"inputs"};
  for (const constant& c : layout_->constants) groups.insert(c.group);
  for (const std::string& group : groups) hdf5::new_group(file_, group);
  for (const constant& c : layout_->constants) {
    constants_.push_back(hdf5::new_dataset(file_, dataset_path(c), H5T_IEEE_F64LE, c.shape));
    describe(constants_.back(), c.unit, c.meaning);
  }
}

void result_writer::write_known_data() {
  const std::vector<journal_entry> nothing_done(layout_->batches.size());
  const std::string no_summary(summary_bytes, '\0');
  write_whole(journal_, journal_type_, nothing_done.data());
  write_whole(summary_, summary_type(), no_summary.data());
  write_whole(first_item_, H5T_STD_U64LE, first_items_of(layout_->batches).data());
  write_whole(voxel_, H5T_STD_U64LE, layout_->item_voxels.data());
  if (offset_ >= 0) write_whole(offset_, H5T_STD_U64LE, layout_->point_offsets.data());
  for (std::size_t c = 0; c < constants_.size(); ++c) {
    write_whole(constants_[c], H5T_IEEE_F64LE, layout_->constants[c].values.data());
  }
}

void result_writer::open_datasets() {
  journal_type_ = hdf5::journal_type();
  journal_ = hdf5::open_dataset(file_, "/journal/batches");
  summary_ = hdf5::open_dataset(file_, "/journal/summary");
  for (const output_spec& o : layout_->outputs) outputs_.push_back(hdf5::open_dataset(file_, dataset_path(o)));
}

void result_writer::write(const batch& items, std::span<const std::span<const std::byte>> outputs, std::uint64_t rank,
                          std::uint64_t microseconds) {
  checksum sum;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (layout_->outputs[i].layout == output_layout::volume) {
      write_map(items, i, outputs[i], sum);
    } else {
      write_rows(items, i, outputs[i], sum);
    }
  }
  const journal_entry entry{1, sum.value(), rank, microseconds};
  const std::uint64_t start[] = {items.number}, count[] = {1};
  hdf5::write_block(journal_, journal_type_, start, count, &entry, path_);
}

void result_writer::write_map(const batch& items, std::size_t output, std::span<const std::byte> values,
                              checksum& sum) {
  const output_spec& spec = layout_->outputs[output];
  const std::size_t bytes = spec.bytes_per_item();
  const auto& voxels = layout_->item_voxels;
  const voxel_interval all = interval_of(items, voxels, layout_->grid.voxel_count());
  const std::uint64_t part_voxels = std::max<std::uint64_t>(1, map_part_bytes / bytes);
  std::uint64_t item = items.first_item;
  const std::uint64_t items_end = items.first_item + items.item_count;
  std::vector<std::uint64_t> start(3 + spec.shape.size(), 0), count(3, 1);
  count.insert(count.end(), spec.shape.begin(), spec.shape.end());
  for (std::uint64_t first = all.first; first < all.end; first += part_voxels) {
    const voxel_interval part{first, std::min(all.end, first + part_voxels)};
    map_part_.assign((part.end - part.first) * bytes, std::byte{0});
    std::vector<voxel_interval> filled;  // what is between is zero in the file from its creation on
    for (; item < items_end && voxels[item] < part.end; ++item) {
      const std::uint64_t voxel = voxels[item];
      std::memcpy(&map_part_[(voxel - part.first) * bytes], &values[(item - items.first_item) * bytes], bytes);
      if (filled.empty() || (voxel - filled.back().end) * bytes > largest_zero_bytes) filled.push_back({voxel, voxel});
      filled.back().end = voxel + 1;
    }
    sum.add(map_part_);
    for (const voxel_interval& written : filled) {
      const std::byte* from = &map_part_[(written.first - part.first) * bytes];
      for (const grid_box& box : boxes_of(written, layout_->grid.size)) {
        std::copy(box.start.begin(), box.start.end(), start.begin());
        std::copy(box.count.begin(), box.count.end(), count.begin());
        hdf5::write_block(outputs_[output], hdf5::file_type(spec.type), start, count, from, path_);
        from += box.count[0] * box.count[1] * box.count[2] * bytes;
      }
    }
  }
}

void result_writer::write_rows(const batch& items, std::size_t output, std::span<const std::byte> values,
                               checksum& sum) {
  const output_spec& spec = layout_->outputs[output];
  const row_range range = rows_of(items, spec.layout, layout_->point_offsets);
  const auto rows = values.first(range.count * spec.bytes_per_item());
  std::vector<std::uint64_t> start(1 + spec.shape.size(), 0), count{range.count};
  start[0] = range.first;
  count.insert(count.end(), spec.shape.begin(), spec.shape.end());
  sum.add(rows);
  hdf5::write_block(outputs_[output], hdf5::file_type(spec.type), start, count, rows.data(), path_);
}

void result_writer::finish(const std::string& summary) {
  session_->agree([&] {
    if (session_->is_root()) {
      std::string padded = summary;
      padded.resize(summary_bytes, '\0');
      write_whole(summary_, summary_type(), padded.data());
    }
    const std::uint8_t complete = 1;
    const hdf5::handle a(H5Aopen(file_, "complete", H5P_DEFAULT), H5Aclose, "attribute `complete`");
    hdf5::checked(H5Awrite(a, H5T_STD_U8LE, &complete), "writing attribute `complete`");
    hdf5::checked(H5Fflush(file_, H5F_SCOPE_GLOBAL), "flushing " + path_);
  });
  close();
}

void result_writer::close() {
  constants_.clear();
  outputs_.clear();
  for (hdf5::handle* h : {&journal_, &summary_, &first_item_, &voxel_, &offset_, &journal_type_}) h->reset();
  session_->agree([&] { hdf5::checked(file_.reset(), "closing " + path_); });
}

}  // namespace voxherd
