#include "mpi/result/dataset_boxes.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include "mpi/result/slice_chunks.hpp"

namespace voxherd::hdf5 {

namespace {

/// The dataspace of a box in a dataset.
handle select_box(hid_t dataset, std::span<const std::uint64_t> start, std::span<const std::uint64_t> count,
                  const std::string& what) {
  const std::vector<hsize_t> from(start.begin(), start.end()), extent(count.begin(), count.end());
  handle in_file(H5Dget_space(dataset), H5Sclose, "HDF5 dataspace");
  if (!from.empty())  // a scalar is selected already
    checked(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, from.data(), nullptr, extent.data(), nullptr),
            "selecting in " + what);
  return in_file;
}

bool is_empty(std::span<const std::uint64_t> count) { return std::find(count.begin(), count.end(), 0u) != count.end(); }

}  // namespace

void write_block(hid_t dataset, hid_t type, std::span<const std::uint64_t> start, std::span<const std::uint64_t> count,
                 const void* values, const std::string& what) {
  if (is_empty(count)) return;
  if (const auto box = find_slice_chunks(dataset, type, start, count); box && box->has_whole_chunks)
    return write_chunks(*box, static_cast<const std::byte*>(values), what);
  const handle in_file = select_box(dataset, start, count, what), in_memory = make_space(count);
  errno = 0;
  if (H5Dwrite(dataset, type, in_memory, in_file, H5P_DEFAULT, values) < 0) fail_write(what);
}

void read_block(hid_t dataset, hid_t type, std::span<const std::uint64_t> start, std::span<const std::uint64_t> count,
                void* values, const std::string& what) {
  if (is_empty(count)) return;
  if (const auto box = find_slice_chunks(dataset, type, start, count);
      box && read_chunks(*box, static_cast<std::byte*>(values)))
    return;
  const handle in_file = select_box(dataset, start, count, what), in_memory = make_space(count);
  checked(H5Dread(dataset, type, in_memory, in_file, H5P_DEFAULT, values), "reading " + what);
}

}  // namespace voxherd::hdf5
