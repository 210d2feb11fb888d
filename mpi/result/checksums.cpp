#include "mpi/result/checksums.hpp"

#include <algorithm>
#include <vector>

#include "core/checksum.hpp"
#include "mpi/result/dataset_boxes.hpp"
#include "mpi/result/rows.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t bytes_at_once = 16 << 20;

constexpr const char* text_names[] = {"voxherd_version", "analysis", "configuration", "provenance", "contents"};

}  // namespace

void write_checksum(hid_t dataset, std::span<const std::byte> bytes) {
  checksum sum;
  sum.add(bytes);
  const std::uint64_t value = sum.value();
  hdf5::write_attribute(dataset, checksum_name, H5T_STD_U64LE, {}, &value);
}

std::uint64_t read_and_checksum(hid_t dataset, const std::string& name) {
  const hdf5::handle type(H5Dget_type(dataset), H5Tclose, "HDF5 type of " + name);
  const std::vector<std::uint64_t> shape = hdf5::shape_of(dataset);
  std::uint64_t row_bytes = H5Tget_size(type);
  for (std::size_t i = 1; i < shape.size(); ++i) row_bytes *= shape[i];
  const std::uint64_t rows = shape.empty() ? 1 : shape[0];
  const std::uint64_t rows_at_once = std::max<std::uint64_t>(1, bytes_at_once / std::max<std::uint64_t>(1, row_bytes));
  std::vector<std::uint64_t> from(shape.size(), 0), count = shape;
  std::vector<std::byte> values;
  checksum sum;
  for (std::uint64_t row = 0; row < rows && row_bytes > 0; row += rows_at_once) {
    const std::uint64_t taken = std::min(rows_at_once, rows - row);
    values.resize(taken * row_bytes);
    if (!shape.empty()) {
      from[0] = row;
      count[0] = taken;
    }
    hdf5::read_block(dataset, type, from, count, values.data(), name);
    sum.add(values);
  }
  return sum.value();
}

void update_checksum(hid_t dataset, const std::string& name) {
  const std::uint64_t value = read_and_checksum(dataset, name);
  const hdf5::handle a(H5Aopen(dataset, checksum_name, H5P_DEFAULT), H5Aclose, "attribute `checksum`");
  hdf5::checked(H5Awrite(a, H5T_STD_U64LE, &value), "writing the checksum of " + name);
}

std::uint64_t text_checksum(hid_t file) {
  checksum sum;
  for (const char* name : text_names) {
    const std::string text = hdf5::read_text_attribute(file, name);
    sum.add(std::as_bytes(std::span(text)));
  }
  return sum.value();
}

}  // namespace voxherd

namespace voxherd::hdf5 {

std::vector<handle> open_outputs(hid_t file, const result_layout& layout) {
  std::vector<handle> datasets;
  for (const output_spec& o : layout.outputs) {
    const std::string path = dataset_path(o);
    check_dataset(file, datasets.emplace_back(open_dataset(file, path)), path, file_type(o.type),
                  dataset_shape(o, layout));
  }
  return datasets;
}

void read_rows(hid_t dataset, const output_spec& o, hid_t type, std::uint64_t first, std::uint64_t rows, void* values) {
  std::vector<std::uint64_t> start(1 + o.shape.size(), 0), count{rows};
  start[0] = first;
  count.insert(count.end(), o.shape.begin(), o.shape.end());
  read_block(dataset, type, start, count, values, dataset_path(o));
}

std::vector<std::byte> read_batch(hid_t dataset, const result_layout& layout, const output_spec& o,
                                  const batch& items) {
  if (o.layout != output_layout::volume) {
    const row_range rows = batch_rows(items, o.layout, layout.point_offsets);
    std::vector<std::byte> bytes(rows.count * o.bytes_per_item());
    read_rows(dataset, o, file_type(o.type), rows.first, rows.count, bytes.data());
    return bytes;
  }
  const voxel_interval interval = batch_interval(items, layout.item_voxels, layout.grid.voxel_count());
  std::vector<std::byte> bytes((interval.end - interval.first) * o.bytes_per_item());
  std::byte* to = bytes.data();
  for (const grid_box& box : cut_into_boxes(interval, layout.grid.size)) {
    std::vector<std::uint64_t> start(box.start.begin(), box.start.end()), count(box.count.begin(), box.count.end());
    start.resize(3 + o.shape.size(), 0);
    count.insert(count.end(), o.shape.begin(), o.shape.end());
    read_block(dataset, file_type(o.type), start, count, to, dataset_path(o));
    to += box.count[0] * box.count[1] * box.count[2] * o.bytes_per_item();
  }
  return bytes;
}

batch_checker::batch_checker(const std::string& path, hid_t file, std::span<const handle> outputs,
                             const result_layout& layout)
    : outputs_(outputs), layout_(layout) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto offset = contiguous_offset(file, outputs[i], file_type(layout.outputs[i].type));
    if (!offset) {
      offsets_.clear();
      return;
    }
    offsets_.push_back(*offset);
  }
  if (is_plain()) file_ = std::make_unique<disk_file>(path);
}

std::uint64_t batch_checker::compute(const batch& items) const {
  checksum sum;
  if (!is_plain()) {
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      sum.add(read_batch(outputs_[i], layout_, layout_.outputs[i], items));
    return sum.value();
  }
  constexpr std::uint64_t piece_bytes = 1 << 20;  // stays in a core's cache
  std::vector<std::byte> piece;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const output_spec& o = layout_.outputs[i];
    row_range rows;
    if (o.layout == output_layout::volume) {
      const voxel_interval part = batch_interval(items, layout_.item_voxels, layout_.grid.voxel_count());
      rows = {part.first, part.end - part.first};
    } else {
      rows = batch_rows(items, o.layout, layout_.point_offsets);
    }
    std::uint64_t at = offsets_[i] + rows.first * o.bytes_per_item(), left = rows.count * o.bytes_per_item();
    for (; left > 0; at += piece.size(), left -= piece.size()) {
      piece.resize(std::min(piece_bytes, left));
      if (file_->read(at, piece) < piece.size()) refuse_data("{} ends too early", dataset_path(o));
      sum.add(piece);
    }
  }
  return sum.value();
}

}  // namespace voxherd::hdf5
