#pragma once

#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis.hpp"
#include "core/failure.hpp"
#include "core/main_memory.hpp"

namespace voxherd::hdf5 {

/// Turns off the error messages of HDF5, its links to other files, and the loading of filters from other libraries.
/// Call before any other function of HDF5.
void prepare();

/// The operating system could not read or write: the content of the file is not to blame.
struct disk_failure : failure {
  explicit disk_failure(const std::string& message) : failure(exit_status::disk, message) {}
};

/// Throws failure with `what` and the innermost error of HDF5, MPI-IO or the operating system; disk_failure if the
/// disk failed.
[[noreturn]] void fail(exit_status status, const std::string& what);

/// After a write that failed, with the reason that is still in errno: Open MPI does not report it.
[[noreturn]] void fail_write(const std::string& what);

/// Returns a non-negative result; otherwise fails with status disk.
template <class Result>
Result checked(Result result, const std::string& what) {
  if (result < 0) fail(exit_status::disk, what);
  return result;
}

/// An identifier of HDF5 with its closing function.
class handle {
 public:
  handle() = default;
  handle(hid_t id, herr_t (*close)(hid_t), const std::string& what) : id_(checked(id, what)), close_(close) {}
  ~handle() { reset(); }
  handle(handle&& o) noexcept : id_(std::exchange(o.id_, H5I_INVALID_HID)), close_(o.close_) {}
  handle& operator=(handle&& o) noexcept {
    std::swap(id_, o.id_);
    std::swap(close_, o.close_);
    return *this;
  }

  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): for calls of HDF5
  herr_t reset() { return id_ < 0 ? 0 : close_(std::exchange(id_, H5I_INVALID_HID)); }

 private:
  hid_t id_ = H5I_INVALID_HID;
  herr_t (*close_)(hid_t) = nullptr;
};

/// For reading. Throws failure (bad_data).
handle open_file(const std::string& path);

handle new_group(hid_t parent, const std::string& name);

/// An object of the file itself, for reading or writing. Throws failure (bad_data): there is none, a part of its path
/// is a soft or external link, or the dataset's values are in other files (external or virtual), or in a form that
/// needs a filter other than those of h5repack -f GZIP, SHUF and FLET. A file from elsewhere could make a program read,
/// or overwrite, any file of its user otherwise.
handle open_group(hid_t parent, const std::string& name);
handle open_dataset(hid_t parent, const std::string& name);
/// A dataset whose values are not read: other programs may have added it.
handle open_unread_dataset(hid_t parent, const std::string& name);

/// Throws failure (bad_data) if the dataset has another shape, or values of another type, or more than fit into the
/// file.
void check_dataset(hid_t file, hid_t dataset, const std::string& name, hid_t type,
                   std::span<const std::uint64_t> shape);
/// The same with any length along one axis.
void check_list(hid_t file, hid_t dataset, const std::string& name, hid_t type);

/// A contiguous dataset of its full size, allocated at once and not filled.
handle new_dataset(hid_t parent, const std::string& name, hid_t type, std::span<const std::uint64_t> shape);

/// Of all datasets of the file itself, sorted; of one with several names, all.
std::vector<std::string> dataset_paths(hid_t file);

handle make_space(std::span<const std::uint64_t> shape);
std::vector<std::uint64_t> shape_of(hid_t dataset);

/// The byte of the file at which a dataset's values begin, if all of them are there in this type, one after another.
/// None if they are chunked, compressed, of another type or in another file.
std::optional<std::uint64_t> contiguous_offset(hid_t file, hid_t dataset, hid_t type);

inline constexpr std::size_t max_text_bytes = 64 << 20;

/// The number of values of a dataset. Throws failure (bad_data) if the file cannot contain that many.
std::uint64_t count_values(hid_t file, hid_t dataset, const std::string& name);

/// All values of a dataset. Throws failure (bad_data, disk).
template <class T>
std::vector<T> read_all(hid_t file, const std::string& name, hid_t type) {
  const handle dataset = open_dataset(file, name);
  const std::uint64_t count = count_values(file, dataset, name);
  require_memory(static_cast<double>(count) * sizeof(T), name);
  std::vector<T> values(count);
  checked(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "reading " + name);
  return values;
}

/// A UTF-8 text of fixed length.
void write_attribute(hid_t object, const std::string& name, const std::string& text);
void write_attribute(hid_t object, const std::string& name, hid_t type, std::span<const std::uint64_t> shape,
                     const void* values);
/// Throws failure (bad_data) for more than max_text_bytes.
std::string read_text_attribute(hid_t object, const std::string& name);
void read_attribute(hid_t object, const std::string& name, hid_t type, std::size_t count, void* values);

/// The type in the file, little endian; also the one in memory on every machine this program runs on.
hid_t file_type(element_type type);
/// Four unsigned 64-bit members: done, checksum, rank, microseconds.
handle journal_type();

}  // namespace voxherd::hdf5
