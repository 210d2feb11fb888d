#include "mpi/result/result_writer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "core/checksum.hpp"
#include "core/plan.hpp"
#include "mpi/comm/communicators.hpp"
#include "mpi/comm/launcher.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/checksums.hpp"
#include "mpi/result/dataset_boxes.hpp"
#include "mpi/result/file_names.hpp"
#include "mpi/result/hdf5_handle.hpp"
#include "mpi/result/result_vtk.hpp"
#include "mpi/result/rows.hpp"
#include "mpi/result/table_checksum.hpp"

namespace voxherd {

namespace {

// Maps are written to the grid in pieces of this size, so that a mask with large gaps needs no more memory.
constexpr std::uint64_t map_part_bytes = 64 << 20;
// Zeros between two voxels of the mask are not written if they take more than this: a call costs about as much.
constexpr std::uint64_t largest_zero_bytes = 32 << 10;

/// Several ranks write over MPI-IO, a single one without MPI.
hdf5::handle file_access(const session& s) {
  hdf5::handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "HDF5 properties");
  if (s.size() == 1) {
    // Each write is to reach the file at once and in order, as with MPI-IO: a journal entry after its rows.
    hdf5::checked(H5Pset_sieve_buf_size(access, 0), "HDF5 without a buffer");
    return access;
  }
  hdf5::checked(H5Pset_fapl_mpio(access, s.handles().world, MPI_INFO_NULL), "HDF5 over MPI-IO");
  return access;
}

/// HDF5's first table, which follows the user block. In a file that is opened without MPI-IO HDF5 marks there that it
/// is being written. The mark is taken back: a killed run must leave the tables as they were.
class first_table {
 public:
  explicit first_table(const std::string& path) : path_(path) { (void)disk_file(path).read(user_block_bytes, bytes_); }
  void restore() const { disk_file(path_, disk_file::access::write).write(user_block_bytes, bytes_); }

 private:
  std::string path_;
  std::array<std::byte, 48> bytes_{};  ///< the size of a superblock of version 2 or 3
};

}  // namespace

struct result_writer::state {
  state(const session& s, const std::string& name, const result_layout& wanted)
      : ranks(&s), layout(&wanted), path(name) {}
  void open();
  void open_datasets();
  void write_map(const batch& items, std::size_t output, std::span<const std::byte> values, checksum& sum);
  void write_rows(const batch& items, std::size_t output, std::span<const std::byte> values, checksum& sum);

  const session* ranks;
  const result_layout* layout;
  std::string path;
  std::unique_ptr<short_name> mpi_name;  // outlives the open file; null for one rank
  hdf5::handle file, journal_type, journal;
  std::vector<hdf5::handle> outputs;
  std::vector<std::byte> map_part;
  bool is_resumed = false;
};

result_writer::result_writer(std::unique_ptr<state> s) : state_(std::move(s)) {}
result_writer::~result_writer() = default;
result_writer::result_writer(result_writer&&) noexcept = default;

result_writer result_writer::create(const session& s, const std::string& path, const result_layout& layout) {
  hdf5::prepare();
  s.on_root([&] { create_result_file(path, layout); });
  auto w = std::make_unique<state>(s, path, layout);
  w->open();
  const auto write_rest = [&] {
    write_polylines(w->file, layout, s.rank(), s.size());
    sync_file(path);
  };
  // After a failed write HDF5's collective close hangs, so that no rank may leave by an exception.
  const auto remove_file = [&] {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  };
  s.agree_or_end(write_rest, remove_file);
  return result_writer(std::move(w));
}

result_writer result_writer::reopen(const session& s, const std::string& path, const result_layout& layout) {
  hdf5::prepare();
  auto w = std::make_unique<state>(s, path, layout);
  w->is_resumed = true;
  s.barrier();  // HDF5 locks files that it reads, unless told otherwise: all ranks have closed theirs
  s.on_root([&] { mark_incomplete(path); });
  w->open();
  return result_writer(std::move(w));
}

/// Nothing in the open file changes but the bytes of datasets, which each rank writes on its own.
void result_writer::state::open() {
  // Found here, a problem of one rank is a message; within HDF5's collective call the others would wait for it.
  ranks->agree([&] {
    check_writable(path);
    if (ranks->size() == 1) return;
    check_mpi_folders();
    mpi_name = std::make_unique<short_name>(path);
    if (ranks->node_rank() == 0) mpi_name->remove_stale_semaphore();
  });
  ranks->agree_or_end([&] {
    const hdf5::handle access = file_access(*ranks);
    const first_table before(path);
    file = {H5Fopen((mpi_name ? mpi_name->name() : path).c_str(), H5F_ACC_RDWR, access), H5Fclose, "opening " + path};
    if (ranks->size() == 1) before.restore();
  });
  ranks->agree_or_end([&] { open_datasets(); });
}

void result_writer::state::open_datasets() {
  journal_type = hdf5::journal_type();
  journal = hdf5::open_dataset(file, journal_path);
  hdf5::check_dataset(file, journal, journal_path, journal_type, std::array{std::uint64_t{layout->batches.size()}});
  outputs = hdf5::open_outputs(file, *layout);
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
    std::vector<voxel_interval> filled;
    // In a new file everything else is zero; a damaged batch of a resumed one may have anything there.
    if (is_resumed) filled.push_back(part);
    for (; item < items_end && voxels[item] < part.end; ++item) {
      const std::uint64_t voxel = voxels[item];
      std::memcpy(&map_part[(voxel - part.first) * bytes], &values[(item - items.first_item) * bytes], bytes);
      if (is_resumed) continue;
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

void result_writer::renamed_to(const std::string& path) { state_->path = path; }

void result_writer::finish(const std::string& summary) {
  state& s = *state_;
  s.ranks->agree_or_end([&] { sync_file(s.path); });
  close();
  s.ranks->on_root([&] { mark_complete(s.path, summary); });
}

void result_writer::close() {
  state& s = *state_;
  s.outputs.clear();
  s.journal.reset();
  s.journal_type.reset();
  s.ranks->agree_or_end([&] { hdf5::checked(s.file.reset(), "closing " + s.path); });
}

}  // namespace voxherd
