// Compressed maps are written and read by several threads, with the same bytes as by HDF5 alone.

#include "mpi/result/slice_chunks.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/threads.hpp"
#include "mpi/result/dataset_boxes.hpp"
#include "tests/support/scratch_folder.hpp"

namespace voxherd::hdf5 {
namespace {

using shape = std::vector<std::uint64_t>;

const shape size{13, 20, 30, 3}, no_offset{0, 0, 0, 0};
constexpr std::uint64_t slices_per_chunk = 4, slice_values = 20 * 30 * 3;

class SliceChunks : public ::testing::Test {
 protected:
  SliceChunks() {
    prepare();
    set_compression_threads(4);
    file_ = {H5Fcreate((folder_.path() / "maps.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose,
             "file"};
    for (std::size_t i = 0; i < size[0] * slice_values; ++i)
      values_.push_back(i % 7 == 0 ? static_cast<float>(i) * 0.37f : 0.0f);
  }

  ~SliceChunks() override { set_compression_threads(0); }

  handle new_map(const char* name, bool shuffles = true) const {
    const handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "properties");
    const hsize_t chunk[] = {slices_per_chunk, size[1], size[2], size[3]};
    H5Pset_chunk(properties, 4, chunk);
    if (shuffles) H5Pset_shuffle(properties);
    H5Pset_deflate(properties, 1);
    return {H5Dcreate2(file_, name, H5T_IEEE_F32LE, make_space(size), H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose,
            name};
  }

  /// By HDF5 alone.
  handle written_map(const char* name, bool shuffles = true) const {
    handle map = new_map(name, shuffles);
    checked(H5Dwrite(map, H5T_IEEE_F32LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values_.data()), "writing");
    return map;
  }

  static std::vector<std::byte> stored_chunk(const handle& map, std::uint64_t slice) {
    const hsize_t offset[] = {slice, 0, 0, 0};
    hsize_t bytes = 0;
    checked(H5Dget_chunk_storage_size(map, offset, &bytes), "size of a chunk");
    std::vector<std::byte> chunk(bytes);
    std::uint32_t skipped = 1;
    checked(H5Dread_chunk(map, H5P_DEFAULT, offset, &skipped, chunk.data()), "reading a chunk");
    EXPECT_EQ(skipped, 0u);
    return chunk;
  }

  static void replace_chunk(const handle& map, std::uint64_t slice, std::span<const std::byte> bytes,
                            std::uint32_t skipped) {
    const hsize_t offset[] = {slice, 0, 0, 0};
    checked(H5Dwrite_chunk(map, H5P_DEFAULT, skipped, offset, bytes.size(), bytes.data()), "writing a chunk");
  }

  static std::vector<float> read(const handle& map, std::uint64_t first, std::uint64_t count) {
    std::vector<float> found(count * slice_values, -1);
    read_block(map, H5T_IEEE_F32LE, shape{first, 0, 0, 0}, shape{count, size[1], size[2], size[3]}, found.data(),
               "map");
    return found;
  }

  std::vector<float> expected(std::uint64_t first, std::uint64_t count) const {
    const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(first * slice_values);
    return {begin, begin + static_cast<std::ptrdiff_t>(count * slice_values)};
  }

  voxherd::testing::scratch_folder folder_;
  handle file_;
  std::vector<float> values_;
};

TEST_F(SliceChunks, AreTheSameBytesAsHdf5Writes) {
  const handle ours = new_map("ours"), theirs = written_map("theirs");
  // The last chunk has one slice of four; the box is written in two parts.
  write_block(ours, H5T_IEEE_F32LE, no_offset, shape{8, 20, 30, 3}, values_.data(), "ours");
  write_block(ours, H5T_IEEE_F32LE, shape{8, 0, 0, 0}, shape{5, 20, 30, 3}, &values_[8 * slice_values], "ours");
  checked(H5Dflush(theirs), "flushing");
  for (std::uint64_t slice = 0; slice < size[0]; slice += slices_per_chunk)
    EXPECT_EQ(stored_chunk(ours, slice), stored_chunk(theirs, slice)) << slice;
}

TEST_F(SliceChunks, MayBeListsOfOtherTypesInManyChunks) {
  constexpr hsize_t chunk = 7;
  const shape all{1000}, start{0};
  const auto check = [&](hid_t type, auto zero) {
    std::vector<decltype(zero)> values(all[0]), found(all[0]);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<decltype(zero)>(i * i % 251);
    const handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "properties");
    H5Pset_chunk(properties, 1, &chunk);
    H5Pset_shuffle(properties);
    H5Pset_deflate(properties, 6);
    const auto list = [&](const std::string& name) {
      return handle(H5Dcreate2(file_, name.c_str(), type, make_space(all), H5P_DEFAULT, properties, H5P_DEFAULT),
                    H5Dclose, name);
    };
    const std::string name = std::to_string(H5Tget_size(type));
    const handle ours = list("ours" + name), theirs = list("theirs" + name);
    ASSERT_TRUE(find_slice_chunks(ours, type, start, all));
    write_block(ours, type, start, all, values.data(), "ours");
    checked(H5Dwrite(theirs, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "writing");
    EXPECT_EQ(H5Dget_storage_size(ours), H5Dget_storage_size(theirs));
    read_block(theirs, type, start, all, found.data(), "theirs");
    EXPECT_EQ(found, values);
  };
  check(H5T_STD_U8LE, std::uint8_t{0});
  check(H5T_STD_U16LE, std::uint16_t{0});
  check(H5T_IEEE_F64LE, 0.0);
}

TEST_F(SliceChunks, AreFoundWhereAllAxesButTheFirstAreComplete) {
  const handle map = written_map("map"), other = written_map("other", false);
  const auto find = [](const handle& in, hid_t type, const shape& start, const shape& count) {
    return find_slice_chunks(in, type, start, count);
  };
  const auto box = find(map, H5T_IEEE_F32LE, {4, 0, 0, 0}, {9, 20, 30, 3});
  ASSERT_TRUE(box);
  EXPECT_TRUE(box->has_whole_chunks);
  EXPECT_EQ(box->slice_bytes, slice_values * sizeof(float));
  EXPECT_EQ(box->chunk_slices, slices_per_chunk);
  EXPECT_FALSE(find(map, H5T_IEEE_F32LE, {3, 0, 0, 0}, {9, 20, 30, 3})->has_whole_chunks);
  EXPECT_FALSE(find(map, H5T_IEEE_F32LE, {4, 0, 0, 0}, {4, 20, 30, 3})) << "one chunk";
  EXPECT_FALSE(find(map, H5T_IEEE_F64LE, no_offset, size)) << "another type";
  EXPECT_FALSE(find(map, H5T_IEEE_F32LE, no_offset, {13, 19, 30, 3})) << "a part of the slices";
  EXPECT_FALSE(find(map, H5T_IEEE_F32LE, {9, 0, 0, 0}, {9, 20, 30, 3})) << "outside";
  EXPECT_FALSE(find(other, H5T_IEEE_F32LE, no_offset, size)) << "without shuffle";
}

TEST_F(SliceChunks, AreReadInBoxesThatBeginAndEndAnywhere) {
  const handle map = written_map("map");
  for (const auto& [first, count] :
       std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 13}, {2, 9}, {3, 2}, {7, 6}, {12, 1}, {5, 1}})
    EXPECT_EQ(read(map, first, count), expected(first, count)) << first << " " << count;
}

TEST_F(SliceChunks, AreReadByHdf5WhereTheyAreStoredOtherwise) {
  const handle other = written_map("other", false), empty = new_map("empty"), mixed = written_map("mixed");
  EXPECT_EQ(read(other, 0, 13), expected(0, 13));
  EXPECT_EQ(read(empty, 0, 13), std::vector<float>(13 * slice_values, 0));
  const auto raw = std::as_bytes(std::span(values_)).first(slices_per_chunk * slice_values * sizeof(float));
  replace_chunk(mixed, 4, raw, 3);  // neither shuffled nor compressed
  const std::vector<float> found = read(mixed, 0, 13);
  EXPECT_TRUE(std::equal(found.begin() + 4 * slice_values, found.begin() + 8 * slice_values, values_.begin()));
}

TEST_F(SliceChunks, ThatAreDamagedAreRefused) {
  const handle map = written_map("map");
  std::vector<std::byte> chunk = stored_chunk(map, 4);
  for (std::size_t at = chunk.size() / 3; at < chunk.size() / 2; ++at) chunk[at] ^= std::byte{0x5a};
  replace_chunk(map, 4, chunk, 0);
  EXPECT_EQ(read(map, 0, 4), expected(0, 4));
  EXPECT_THROW(read(map, 0, 13), failure);
}

}  // namespace
}  // namespace voxherd::hdf5
