#include "mpi/result/table_checksum.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "core/checksum.hpp"
#include "core/failure.hpp"
#include "mpi/result/file_names.hpp"

namespace voxherd {

namespace {

constexpr std::string_view block_text =
    "voxherd result 1\nHDF5 begins at byte 4096; before it, a checksum of its tables\n";
static_assert(block_text.starts_with(result_mark));
constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n";

/// Bytes of the file with values of a dataset.
struct byte_range {
  std::uint64_t first = 0, bytes = 0;
  std::uint64_t end() const { return first + bytes; }
};

enum class table_state : std::uint64_t { fixed = 1, changing = 2 };

/// The user block as it is in the file, little endian.
struct user_block {
  std::array<char, 88> text{};
  table_state state = table_state::fixed;
  std::uint64_t file_bytes = 0;
  std::uint64_t table_checksum = 0;  ///< XXH64 of all bytes after the block that are in none of `values`
  std::uint64_t value_ranges = 0;
  std::array<byte_range, 248> values{};  ///< in the order of the file
  std::uint64_t own_checksum = 0;        ///< XXH64 of the block up to here
};
static_assert(sizeof(user_block) == user_block_bytes);

std::uint64_t own_checksum(const user_block& block) {
  checksum sum;
  sum.add(std::as_bytes(std::span(&block, 1)).first(offsetof(user_block, own_checksum)));
  return sum.value();
}

void write_user_block(const disk_file& file, user_block block) {
  std::copy(block_text.begin(), block_text.end(), block.text.begin());
  block.own_checksum = own_checksum(block);
  file.write(0, std::as_bytes(std::span(&block, 1)));
}

/// Why `block` is not that of a result; empty if it is.
std::string find_block_problem(const user_block& block, std::uint64_t file_bytes) {
  const std::string_view text(block.text.data(), block_text.size());
  if (text != block_text) return "is not a readable HDF5 file of voxherd";
  if (block.own_checksum != own_checksum(block) || block.value_ranges > block.values.size())
    return fmt::format("is damaged in its first {} bytes", user_block_bytes);
  if (block.state == table_state::fixed && block.file_bytes != file_bytes)
    return fmt::format("is damaged: it has {} bytes, expected {}", file_bytes, block.file_bytes);
  return "";
}

constexpr auto not_this_version =
    " is an HDF5 file, but not a result of this version of voxherd; read it with the version that wrote it";

constexpr auto not_as_written =
    "{} {}; is it a complete copy of a voxherd result? After a change by another program, `voxherd verify --accept` "
    "stores a new checksum";

user_block read_user_block(const disk_file& file, const std::string& path) {
  user_block block;
  (void)file.read(0, std::as_writable_bytes(std::span(&block, 1)));
  if (std::string_view(block.text.data(), block.text.size()).starts_with(hdf5_signature))
    refuse_data(path + not_this_version);
  const std::string problem = find_block_problem(block, file.bytes());
  if (!problem.empty()) refuse_data(not_as_written, path, problem);
  return block;
}

/// Of all bytes after the user block but the values of datasets.
std::uint64_t table_checksum(const disk_file& file, const user_block& block) {
  constexpr std::uint64_t max_piece = 1 << 20;
  checksum sum;
  std::vector<std::byte> piece;
  std::uint64_t at = user_block_bytes;
  const auto add_until = [&](std::uint64_t end) {
    for (; at < end; at += piece.size()) {
      piece.resize(std::min(max_piece, end - at));
      std::fill(piece.begin(), piece.end(), std::byte{0});
      (void)file.read(at, piece);
      sum.add(piece);
    }
  };
  for (const byte_range& values : std::span(block.values).first(block.value_ranges)) {
    add_until(values.first);
    at = values.end();
  }
  add_until(block.file_bytes);
  return sum.value();
}

/// Where the values of the file's contiguous datasets are. Adjacent ranges are joined; only the largest ones are
/// returned if the user block has no room for all.
std::vector<byte_range> find_values(const std::string& path) {
  const hdf5::handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "opening " + path);
  const hdf5::handle creation(H5Fget_create_plist(file), H5Pclose, "HDF5 properties");
  hsize_t block_bytes = 0;
  hdf5::checked(H5Pget_userblock(creation, &block_bytes), "HDF5 user block");
  if (block_bytes != user_block_bytes) refuse_data(path + not_this_version);
  std::vector<byte_range> all;
  for (const std::string& name : hdf5::dataset_paths(file)) {
    const hdf5::handle dataset = hdf5::open_unread_dataset(file, name);
    const haddr_t first = H5Dget_offset(dataset);
    const hsize_t bytes = H5Dget_storage_size(dataset);
    if (first != HADDR_UNDEF && bytes > 0) all.push_back({first, bytes});
  }
  std::sort(all.begin(), all.end(), [](const byte_range& a, const byte_range& b) { return a.first < b.first; });
  std::vector<byte_range> joined;
  for (const byte_range& range : all) {
    if (!joined.empty() && range.first <= joined.back().end()) {
      joined.back().bytes = std::max(joined.back().end(), range.end()) - joined.back().first;
    } else {
      joined.push_back(range);
    }
  }
  constexpr std::size_t room = std::tuple_size_v<decltype(user_block::values)>;
  if (joined.size() > room) {
    std::sort(joined.begin(), joined.end(), [](const byte_range& a, const byte_range& b) { return a.bytes > b.bytes; });
    joined.resize(room);
    std::sort(joined.begin(), joined.end(), [](const byte_range& a, const byte_range& b) { return a.first < b.first; });
  }
  return joined;
}

/// A killed process may leave tables that are neither the old nor the new ones.
void note_changing_tables(const std::string& path) {
  {
    const disk_file file(path, disk_file::access::write);
    user_block block = read_user_block(file, path);
    block.state = table_state::changing;
    write_user_block(file, block);
  }
  sync_file(path);
}

}  // namespace

void check_tables(const std::string& path) {
  const disk_file file(path);
  user_block block = read_user_block(file, path);
  while (block.state == table_state::fixed && table_checksum(file, block) != block.table_checksum) {
    // Another process may have completed the file meanwhile.
    const user_block now = read_user_block(file, path);
    if (std::memcmp(&now, &block, sizeof now) == 0)
      refuse_data(not_as_written, path, "is damaged: HDF5's tables have changed");
    block = now;
  }
}

std::uint64_t block_checksum(const std::string& path) { return read_user_block(disk_file(path), path).own_checksum; }

void store_table_checksum(const std::string& path) {
  hdf5::prepare();
  const std::vector<byte_range> values = find_values(path);
  const disk_file file(path, disk_file::access::write);
  user_block block;
  block.file_bytes = file.bytes();
  block.value_ranges = values.size();
  std::copy(values.begin(), values.end(), block.values.begin());
  block.table_checksum = table_checksum(file, block);
  write_user_block(file, block);
}

void change_tables(const std::string& path, const std::function<void(hid_t file)>& change) {
  hdf5::prepare();
  note_changing_tables(path);
  hdf5::handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "opening " + path);
  change(file);
  hdf5::checked(file.reset(), "writing " + path);
  store_table_checksum(path);
}

}  // namespace voxherd
