#include "mpi/result/dataset_checksum.hpp"

#include <algorithm>
#include <vector>

#include "core/checksum.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t bytes_at_once = 16 << 20;

}  // namespace

void write_checksum(hid_t dataset, std::span<const std::byte> bytes) {
  checksum sum;
  sum.add(bytes);
  const std::uint64_t value = sum.value();
  hdf5::write_attribute(dataset, checksum_name, H5T_STD_U64LE, {}, &value);
}

std::uint64_t read_and_checksum(hid_t dataset, const std::string& name) {
  const hdf5::handle type(H5Dget_type(dataset), H5Tclose, "HDF5 type of " + name);
  const hdf5::handle in_file(H5Dget_space(dataset), H5Sclose, "HDF5 dataspace");
  const std::vector<std::uint64_t> shape = hdf5::shape_of(dataset);
  std::uint64_t row_bytes = H5Tget_size(type);
  for (std::size_t i = 1; i < shape.size(); ++i) row_bytes *= shape[i];
  const std::uint64_t rows = shape.empty() ? 1 : shape[0];
  const std::uint64_t rows_at_once = std::max<std::uint64_t>(1, bytes_at_once / std::max<std::uint64_t>(1, row_bytes));
  std::vector<hsize_t> from(shape.size(), 0), count(shape.begin(), shape.end());
  std::vector<std::byte> values;
  checksum sum;
  for (std::uint64_t row = 0; row < rows && row_bytes > 0; row += rows_at_once) {
    const std::uint64_t taken = std::min(rows_at_once, rows - row);
    values.resize(taken * row_bytes);
    if (!shape.empty()) {
      from[0] = row;
      count[0] = taken;
      hdf5::checked(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, from.data(), nullptr, count.data(), nullptr),
                    "selecting in " + name);
    }
    const hdf5::handle in_memory = hdf5::make_space(std::vector<std::uint64_t>(count.begin(), count.end()));
    hdf5::checked(H5Dread(dataset, type, in_memory, in_file, H5P_DEFAULT, values.data()), "reading " + name);
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
