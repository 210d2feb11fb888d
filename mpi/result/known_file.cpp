#include "mpi/result/known_file.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/threads.hpp"
#include "mpi/result/checksums.hpp"
#include "mpi/result/dataset_boxes.hpp"
#include "mpi/result/file_names.hpp"
#include "mpi/result/hdf5_handle.hpp"
#include "mpi/result/result_writer.hpp"
#include "mpi/result/rows.hpp"
#include "mpi/result/table_checksum.hpp"

namespace voxherd {

namespace {

/// A chunk for each thread that compresses, or fewer where chunks are large.
std::uint64_t slices_at_once(const output_spec& output, const image_grid& grid) {
  constexpr std::uint64_t max_bytes = 16 << 20;  // in memory together, and written between two checks for signals
  const std::uint64_t slices = chunk_slices(output, grid);
  const std::uint64_t chunk_bytes = slices * grid.size[0] * grid.size[1] * output.bytes_per_item();
  const auto threads = static_cast<std::uint64_t>(std::max(1, max_compression_threads()));
  return slices * std::clamp<std::uint64_t>(max_bytes / chunk_bytes, 1, threads);
}

}  // namespace

struct known_file::handles {
  hdf5::handle file, dataset;  // the dataset of the output that is being written
};

known_file::known_file(const std::string& path, const result_layout& layout, std::vector<rows_of_output> outputs)
    : layout_(layout),
      path_(path),
      outputs_(std::move(outputs)),
      handles_(std::make_unique<handles>()),
      sums_(layout.batches.size()) {
  for (const output_spec& o : layout.outputs)
    if (o.layout != output_layout::volume)
      throw failure(exit_status::internal_error, o.name + ": a known output is a volume");
  create_result_file(path, layout, result_storage::compressed);
  handles_->file = {H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "opening " + path};
}

known_file::~known_file() = default;

bool known_file::write_part() {
  if (output_ == outputs_.size()) return false;
  const output_spec& spec = layout_.outputs[output_];
  if (slice_ == 0) {
    rows_ = outputs_[output_]();
    handles_->dataset = hdf5::open_dataset(handles_->file, dataset_path(spec));
    item_ = batch_ = 0;
  }
  const std::uint64_t all = layout_.grid.size[2], slices = std::min(slices_at_once(spec, layout_.grid), all - slice_);
  write_slices(slice_, slices);
  slice_ += slices;
  if (slice_ < all) return true;
  slice_ = 0;
  handles_->dataset.reset();
  rows_ = {};
  return ++output_ < outputs_.size();
}

void known_file::write_slices(std::uint64_t first_slice, std::uint64_t slices) {
  const output_spec& spec = layout_.outputs[output_];
  const auto& [nx, ny, nz] = layout_.grid.size;
  const std::size_t bytes = spec.bytes_per_item();
  const std::uint64_t first = first_slice * nx * ny, end = first + slices * nx * ny;
  part_.assign((end - first) * bytes, std::byte{0});
  const auto& voxels = layout_.item_voxels;
  for (; item_ < voxels.size() && voxels[item_] < end; ++item_)
    std::memcpy(&part_[(voxels[item_] - first) * bytes], &rows_[item_ * bytes], bytes);
  add_to_checksums(first, part_, bytes);
  std::vector<std::uint64_t> start{first_slice, 0, 0}, count{slices, ny, nx};
  start.resize(3 + spec.shape.size(), 0);
  count.insert(count.end(), spec.shape.begin(), spec.shape.end());
  hdf5::write_block(handles_->dataset, hdf5::file_type(spec.type), start, count, part_.data(), path_);
}

void known_file::add_to_checksums(std::uint64_t first_voxel, std::span<const std::byte> values,
                                  std::size_t voxel_bytes) {
  const std::uint64_t end_voxel = first_voxel + values.size() / voxel_bytes;
  for (; batch_ < sums_.size(); ++batch_) {
    const voxel_interval own = batch_interval(layout_.batches[batch_], layout_.item_voxels, layout_.grid.voxel_count());
    const std::uint64_t from = std::max(own.first, first_voxel), to = std::min(own.end, end_voxel);
    if (from < to) sums_[batch_].add(values.subspan((from - first_voxel) * voxel_bytes, (to - from) * voxel_bytes));
    if (own.end > end_voxel) return;
  }
}

void known_file::close() {
  std::vector<journal_entry> journal;
  for (const checksum& sum : sums_) journal.push_back({1, sum.value(), 0, 0});
  const std::uint64_t start[] = {0}, count[] = {journal.size()};
  {
    const hdf5::handle dataset = hdf5::open_dataset(handles_->file, journal_path), type = hdf5::journal_type();
    hdf5::write_block(dataset, type, start, count, journal.data(), path_);
  }
  hdf5::checked(handles_->file.reset(), "closing " + path_);
  store_table_checksum(path_);
  sync_file(path_);
}

}  // namespace voxherd
