#include "mpi/result/hdf5_handle.hpp"
#include "mpi/result/journal.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace voxherd::hdf5 {

namespace {

herr_t collect(unsigned, const H5E_error2_t* error, void* words) {
  if (error->desc != nullptr && *error->desc != '\0') {
    static_cast<std::vector<std::string>*>(words)->emplace_back(error->desc);
  }
  return 0;
}

std::vector<std::string> error_words() {
  std::vector<std::string> words;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect, &words);
  return words;
}

/// HDF5 quotes the errno of most failed system calls.
bool is_disk_error(const std::vector<std::string>& words) {
  constexpr std::array<int, 5> reasons{EIO, ESTALE, ENODEV, ENXIO, ETIMEDOUT};
  constexpr std::string_view label = "errno = ";
  for (const std::string& w : words) {
    const auto at = w.find(label);
    if (at == w.npos) continue;
    const int why = std::atoi(w.c_str() + at + label.size());
    if (std::find(reasons.begin(), reasons.end(), why) != reasons.end()) return true;
  }
  return false;
}

std::string innermost_message(const std::vector<std::string>& words) {
  for (const std::string& w : words) {
    if (w.find("NO_SPACE") != w.npos || w.find("No space left") != w.npos) return "No space left on device";
    if (w.find("QUOTA") != w.npos) return "Disk quota exceeded";
    if (w.find("MPI_ERR_ACCESS") != w.npos) return "Permission denied";
    if (w.find("READ_ONLY") != w.npos) return "Read-only file system";
  }
  for (const std::string& w : words) {
    if (const auto at = w.find("error message = '"); at != w.npos) {
      return w.substr(at + 17, w.find('\'', at + 17) - at - 17);
    }
  }
  return words.empty() ? "unknown HDF5 error" : words.front();
}

handle text_type(std::size_t size) {
  handle type(H5Tcopy(H5T_C_S1), H5Tclose, "HDF5 string type");
  H5Tset_size(type, size);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

handle attribute(hid_t object, const std::string& name) {
  return {H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, fmt::format("attribute `{}` is missing", name)};
}

}  // namespace

void prepare() {
  static const bool done = [] {
    H5open();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    H5Lunregister(H5L_TYPE_EXTERNAL);
    H5PLset_loading_state(0);
    return true;
  }();
  static_cast<void>(done);
}

void fail(exit_status status, const std::string& what) {
  const std::vector<std::string> words = error_words();
  const std::string message = fmt::format("{}: {}", what, innermost_message(words));
  if (is_disk_error(words)) throw disk_failure(message);
  throw failure(status, message);
}

void fail_write(const std::string& what) {
  constexpr std::array<int, 9> reasons{ENOSPC, EDQUOT, EIO, EFBIG, EROFS, EACCES, EPERM, ESTALE, ENODEV};
  const int why = errno;
  if (std::find(reasons.begin(), reasons.end(), why) == reasons.end()) fail(exit_status::disk, "writing to " + what);
  fail_on_disk(why, "writing to {}", what);
}

handle open_file(const std::string& path) {
  prepare();
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (id < 0) fail(exit_status::bad_data, path + " is not a readable HDF5 file");
  return {id, H5Fclose, path};
}

handle new_group(hid_t parent, const std::string& name) {
  handle properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose, "HDF5 properties");
  // With times, two files of the same run would differ.
  H5Pset_obj_track_times(properties, false);
  return {H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, properties, H5P_DEFAULT), H5Gclose, "creating group " + name};
}

namespace {

/// Links are not followed: a part of the path is looked up only when the ones before it are not links.
void check_links(hid_t parent, const std::string& name, const char* kind) {
  for (std::size_t at = name.find('/', 1);; at = name.find('/', at + 1)) {
    const std::string part = name.substr(0, at);
    H5L_info_t link;
    if (H5Lget_info(parent, part.c_str(), &link, H5P_DEFAULT) < 0)
      fail(exit_status::bad_data, fmt::format("{} `{}` is missing", kind, name));
    if (link.type != H5L_TYPE_HARD)
      refuse_data("`{}` is a soft or external link, expected a {} of the file itself", part,
                  at == name.npos ? kind : "group");
    if (at == name.npos) return;
  }
}

/// Deflate makes nothing smaller than a thousandth; a file may have been compressed with h5repack.
constexpr double max_ratio = 1100;

void check_bytes(hid_t file, double bytes, const std::string& name) {
  hsize_t file_bytes = 0;
  checked(H5Fget_filesize(file, &file_bytes), "reading " + name);
  if (bytes > max_ratio * static_cast<double>(file_bytes))
    refuse_data("{} has {:.3g} bytes, but the file only {}", name, bytes, file_bytes);
}

/// A dataset of which HDF5 has read no values, and whose space it has not computed yet, for which it would open the
/// files of a virtual one.
void check_storage(hid_t dataset, const std::string& name) {
  const handle creation(H5Dget_create_plist(dataset), H5Pclose, "HDF5 properties of " + name);
  const H5D_layout_t layout = H5Pget_layout(creation);
  if (layout == H5D_VIRTUAL || H5Pget_external_count(creation) > 0)
    refuse_data("the values of `{}` are in other files ({}), expected values in the file itself", name,
                layout == H5D_VIRTUAL ? "a virtual dataset" : "external storage");
  for (int i = 0; i < H5Pget_nfilters(creation); ++i) {
    unsigned flags = 0, settings = 0;
    std::size_t values = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, &settings);
    if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32)
      refuse_data(
          "`{}` needs filter {} of HDF5, expected gzip, shuffle or fletcher32; h5repack -f GZIP=4 replaces it, then "
          "voxherd verify --accept",
          name, static_cast<int>(filter));
  }
  if (layout != H5D_CHUNKED) return;
  std::array<hsize_t, H5S_MAX_RANK> chunk{};
  const int rank = H5Pget_chunk(creation, H5S_MAX_RANK, chunk.data());
  const handle type(H5Dget_type(dataset), H5Tclose, "HDF5 type of " + name);
  double bytes = static_cast<double>(H5Tget_size(type));
  for (int i = 0; i < rank; ++i) bytes *= static_cast<double>(chunk[static_cast<std::size_t>(i)]);
  const handle file(H5Iget_file_id(dataset), H5Fclose, "HDF5 file of " + name);
  check_bytes(file, bytes, "a chunk of " + name);
}

}  // namespace

handle open_group(hid_t parent, const std::string& name) {
  check_links(parent, name, "group");
  return {H5Gopen2(parent, name.c_str(), H5P_DEFAULT), H5Gclose, fmt::format("group `{}` is missing", name)};
}

handle open_unread_dataset(hid_t parent, const std::string& name) {
  check_links(parent, name, "dataset");
  return {H5Dopen2(parent, name.c_str(), H5P_DEFAULT), H5Dclose, fmt::format("dataset `{}` is missing", name)};
}

handle open_dataset(hid_t parent, const std::string& name) {
  handle dataset = open_unread_dataset(parent, name);
  check_storage(dataset, name);
  return dataset;
}

namespace {

/// Another program may have stored the values in another order of bytes, which HDF5 converts.
void check_type(hid_t dataset, const std::string& name, hid_t type) {
  const auto in_own_order = [&](hid_t stored) {
    return handle(H5Tget_native_type(stored, H5T_DIR_ASCEND), H5Tclose, "HDF5 type of " + name);
  };
  const handle stored(H5Dget_type(dataset), H5Tclose, "HDF5 type of " + name);
  if (H5Tequal(in_own_order(stored), in_own_order(type)) <= 0)
    refuse_data("{} has values of another type than the file's own description", name);
}

}  // namespace

void check_dataset(hid_t file, hid_t dataset, const std::string& name, hid_t type,
                   std::span<const std::uint64_t> shape) {
  (void)count_values(file, dataset, name);
  const std::vector<std::uint64_t> found = shape_of(dataset);
  if (!std::equal(found.begin(), found.end(), shape.begin(), shape.end()))
    refuse_data("{} has shape {}, expected {}", name, fmt::join(found, "x"), fmt::join(shape, "x"));
  check_type(dataset, name, type);
}

void check_list(hid_t file, hid_t dataset, const std::string& name, hid_t type) {
  (void)count_values(file, dataset, name);
  if (const auto found = shape_of(dataset); found.size() != 1)
    refuse_data("{} has {} axes, expected one", name, found.size());
  check_type(dataset, name, type);
}

std::uint64_t count_values(hid_t file, hid_t dataset, const std::string& name) {
  const handle type(H5Dget_type(dataset), H5Tclose, "HDF5 type of " + name);
  double bytes = static_cast<double>(H5Tget_size(type));
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape_of(dataset)) {
    bytes *= static_cast<double>(extent);
    count *= extent;
  }
  check_bytes(file, bytes, name);
  return count;
}

handle new_dataset(hid_t parent, const std::string& name, hid_t type, std::span<const std::uint64_t> shape) {
  handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "HDF5 properties");
  H5Pset_layout(properties, H5D_CONTIGUOUS);
  H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
  H5Pset_obj_track_times(properties, false);
  const handle space = make_space(shape);
  return {H5Dcreate2(parent, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose,
          "creating dataset " + name};
}

std::vector<std::string> dataset_paths(hid_t file) {
  std::vector<std::string> links, datasets;
  const auto add = [](hid_t, const char* name, const H5L_info_t* link, void* all) {
    if (link->type == H5L_TYPE_HARD) static_cast<std::vector<std::string>*>(all)->emplace_back(name);
    return herr_t{0};
  };
  checked(H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, add, &links), "listing the groups");
  for (const std::string& link : links) {
    const handle object(H5Oopen(file, link.c_str(), H5P_DEFAULT), H5Oclose, "opening /" + link);
    if (H5Iget_type(object) == H5I_DATASET) datasets.push_back("/" + link);
  }
  return datasets;
}

handle make_space(std::span<const std::uint64_t> shape) {
  if (shape.empty()) return {H5Screate(H5S_SCALAR), H5Sclose, "HDF5 dataspace"};
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  return {H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose, "HDF5 dataspace"};
}

std::vector<std::uint64_t> shape_of(hid_t dataset) {
  const handle space(H5Dget_space(dataset), H5Sclose, "HDF5 dataspace");
  std::vector<hsize_t> extents(static_cast<std::size_t>(checked(H5Sget_simple_extent_ndims(space), "HDF5 dataspace")));
  H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  return {extents.begin(), extents.end()};
}

std::optional<std::uint64_t> contiguous_offset(hid_t file, hid_t dataset, hid_t type) {
  const handle own_type(H5Dget_type(dataset), H5Tclose, "HDF5 type");
  if (H5Tequal(own_type, type) <= 0) return {};
  const haddr_t begin = H5Dget_offset(dataset);
  if (begin == HADDR_UNDEF) return {};
  std::uint64_t bytes = H5Tget_size(type);
  for (const std::uint64_t extent : shape_of(dataset)) bytes *= extent;
  hsize_t file_bytes = 0;
  checked(H5Fget_filesize(file, &file_bytes), "HDF5 file size");
  if (H5Dget_storage_size(dataset) != bytes || bytes > file_bytes || begin > file_bytes - bytes) return {};
  return begin;
}

void write_attribute(hid_t object, const std::string& name, const std::string& text) {
  // The bytes of a variable-length text would be in HDF5's heap. No type is empty.
  const std::string value = text.empty() ? std::string(1, '\0') : text;
  write_attribute(object, name, text_type(value.size()), {}, value.data());
}

void write_attribute(hid_t object, const std::string& name, hid_t type, std::span<const std::uint64_t> shape,
                     const void* values) {
  const handle space = make_space(shape);
  const handle a(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                 "creating attribute " + name);
  checked(H5Awrite(a, type, values), "writing attribute " + name);
}

std::string read_text_attribute(hid_t object, const std::string& name) {
  const handle a = attribute(object, name);
  const handle space(H5Aget_space(a), H5Sclose, "HDF5 dataspace");
  const handle stored(H5Aget_type(a), H5Tclose, "HDF5 type of attribute " + name);
  if (H5Tget_class(stored) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1 ||
      H5Tis_variable_str(stored) > 0) {
    refuse_data("attribute `{}` is not a text of fixed length", name);
  }
  const std::size_t size = H5Tget_size(stored);
  if (size == 0 || size > max_text_bytes) {
    refuse_data("attribute `{}` has {} bytes, expected at most {}", name, size, max_text_bytes);
  }
  std::string text(size, '\0');
  checked(H5Aread(a, stored, text.data()), "reading attribute " + name);
  text.resize(std::min(text.find('\0'), size));
  return text;
}

void read_attribute(hid_t object, const std::string& name, hid_t type, std::size_t count, void* values) {
  const handle a = attribute(object, name);
  const handle space(H5Aget_space(a), H5Sclose, "HDF5 dataspace");
  if (H5Sget_simple_extent_npoints(space) != static_cast<hssize_t>(count)) {
    refuse_data("attribute `{}` has {} values, expected {}", name, H5Sget_simple_extent_npoints(space), count);
  }
  checked(H5Aread(a, type, values), "reading attribute " + name);
}

hid_t file_type(element_type type) {
  switch (type) {
    case element_type::uint8:
      return H5T_STD_U8LE;
    case element_type::int32:
      return H5T_STD_I32LE;
    case element_type::uint32:
      return H5T_STD_U32LE;
    case element_type::uint64:
      return H5T_STD_U64LE;
    case element_type::float32:
      return H5T_IEEE_F32LE;
    case element_type::float64:
      return H5T_IEEE_F64LE;
  }
  return H5I_INVALID_HID;
}

handle journal_type() {
  handle type(H5Tcreate(H5T_COMPOUND, sizeof(journal_entry)), H5Tclose, "HDF5 journal type");
  H5Tinsert(type, "done", offsetof(journal_entry, done), H5T_STD_U64LE);
  H5Tinsert(type, "checksum", offsetof(journal_entry, checksum), H5T_STD_U64LE);
  H5Tinsert(type, "rank", offsetof(journal_entry, rank), H5T_STD_U64LE);
  H5Tinsert(type, "microseconds", offsetof(journal_entry, microseconds), H5T_STD_U64LE);
  return type;
}

}  // namespace voxherd::hdf5
