#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>

#include "core/failure.hpp"
#include "src/scan/column_inflater.hpp"
#include "tests/io/support/crafted_gzip.hpp"

namespace voxherd {
namespace {

using testing::bytes;
using testing::crafted_nifti;
using testing::gzipped;
using testing::scratch_folder;
using testing::write_file;

/// More than one piece per volume.
constexpr std::uint64_t nx = 60, ny = 50, nz = 30, voxel_count = nx * ny * nz;
static_assert(voxel_count > 65536);

/// Runs of different lengths that cross the borders of pieces, and a long gap.
std::vector<std::uint64_t> some_voxels() {
  std::vector<std::uint64_t> voxels;
  for (std::uint64_t v = 3; v < voxel_count - 100; ++v) {
    if (v % 11 < 7 && (v < 20000 || v > 60000)) voxels.push_back(v);
  }
  return voxels;
}

/// Chunks so small that values and volumes span several chunks.
inflating_threads many_chunks(unsigned threads) {
  inflating_threads how;
  how.parallel = {threads, 10000, 40001};
  how.min_file_bytes = 0;
  return how;
}

class InflatedColumns : public ::testing::Test {
 protected:
  template <class T>
  nifti_header make(const std::string& name, int datatype, std::uint64_t volumes, float slope = 0,
                    std::endian order = std::endian::little, bool packed = true) {
    std::mt19937 draw(static_cast<unsigned>(datatype));
    std::vector<T> values(voxel_count * volumes);
    for (T& value : values) value = static_cast<T>(draw() % 60000);
    if constexpr (std::is_floating_point_v<T>) values[5] = std::numeric_limits<T>::quiet_NaN();
    crafted_nifti image(1, order);
    image.dimensions({nx, ny, nz, static_cast<std::int64_t>(volumes)}).datatype(datatype, 8 * sizeof(T));
    image.scaling(slope, slope == 0 ? 0 : -3).append(values);
    write_file(folder_ / name, packed ? gzipped(image.content()) : image.content());
    return read_nifti_header(folder_ / name);
  }

  /// Compares all columns via memory with the same volumes read by nifti_reader.
  void expect_as_read(const std::vector<nifti_header>& files) {
    std::vector<std::vector<float>> volumes;
    for (const nifti_header& h : files) {
      nifti_reader reader(h);
      for (std::uint64_t k = 0; k < h.volumes; ++k)
        reader.read(k, 0, voxel_count, volumes.emplace_back(voxel_count).data());
    }
    expect_as_read(files, volumes, {});
    for (const unsigned threads : {2U, 5U}) expect_as_read(files, volumes, many_chunks(threads));
  }

  void expect_as_read(const std::vector<nifti_header>& files, const std::vector<std::vector<float>>& volumes,
                      const inflating_threads& how) {
    const auto voxels = some_voxels();
    const auto pieces = split_into_pieces(voxels);
    const stored_columns layout(files, voxels.size());
    std::vector<std::byte> memory(layout.bytes());
    const std::atomic<bool> stop{false};
    for (std::size_t i = 0; i < files.size(); ++i)
      inflate_file(files[i], pieces, layout.file_place(i), memory.data(), how, stop);
    const std::uint64_t first = 17, count = voxels.size() - 40;
    std::vector<float> found(count);
    std::uint64_t wrong = 0;
    for (std::uint64_t k = 0; k < volumes.size(); ++k) {
      layout.load(memory.data(), k, first, count, found.data());
      for (std::uint64_t i = 0; i < count; ++i)
        if (std::bit_cast<std::uint32_t>(found[i]) != std::bit_cast<std::uint32_t>(volumes[k][voxels[first + i]]))
          ++wrong;
    }
    EXPECT_EQ(wrong, 0U) << how.parallel.threads << " threads";
  }

  scratch_folder folder_;
};

TEST_F(InflatedColumns, PiecesContainEveryVoxelOnce) {
  const auto voxels = some_voxels();
  std::vector<std::uint64_t> found;
  for (const volume_piece& piece : split_into_pieces(voxels)) {
    EXPECT_LE(piece.count, 65536U);
    for (const voxel_run& run : piece.runs) {
      EXPECT_EQ(run.first_item, found.size());
      EXPECT_GE(run.first_voxel, piece.first_voxel);
      EXPECT_LE(run.first_voxel + run.count, piece.first_voxel + piece.count);
      for (std::uint64_t i = 0; i < run.count; ++i) found.push_back(run.first_voxel + i);
    }
  }
  EXPECT_EQ(found, voxels);
  EXPECT_TRUE(split_into_pieces({}).empty());
}

TEST_F(InflatedColumns, TypesKeepTheirWidthUpToFloat) {
  const std::uint64_t items = some_voxels().size();
  const auto bytes_of = [&](const nifti_header& h) { return stored_columns({h}, items).bytes() / (items * h.volumes); };
  EXPECT_EQ(bytes_of(make<std::uint8_t>("u8.gz", 2, 3)), 1U);
  EXPECT_EQ(bytes_of(make<std::int16_t>("i16.gz", 4, 3)), 2U);
  EXPECT_EQ(bytes_of(make<float>("f32.gz", 16, 3)), 4U);
  EXPECT_EQ(bytes_of(make<double>("f64.gz", 64, 3)), 4U);
}

TEST_F(InflatedColumns, OneFileOfAnyTypeEqualsTheReader) {
  expect_as_read({make<float>("f32.gz", 16, 35)});
  expect_as_read({make<std::int16_t>("i16.gz", 4, 67, 0.25F)});
  expect_as_read({make<std::int16_t>("big.gz", 4, 3, 0.25F, std::endian::big)});
  expect_as_read({make<std::uint8_t>("u8.gz", 2, 5)});
  expect_as_read({make<double>("f64.gz", 64, 17, 2, std::endian::big)});
}

TEST_F(InflatedColumns, FilesOfSeveralTypesFollowEachOther) {
  expect_as_read({make<std::int16_t>("a.gz", 4, 1, 0.5F), make<std::int16_t>("b.gz", 4, 2, 0.5F),
                  make<std::int16_t>("c.gz", 4, 1, 0.25F), make<float>("d.nii", 16, 18, 0, std::endian::little, false),
                  make<double>("e.gz", 64, 1)});
}

TEST_F(InflatedColumns, DamageAfterTheLastChosenVoxelIsDetected) {
  auto header = make<float>("f32.gz", 16, 2);
  auto packed = testing::read_file(folder_ / "f32.gz");
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);
  write_file(folder_ / "f32.gz", packed);
  const std::vector<std::uint64_t> voxels{1, 2};
  const stored_columns layout({header}, voxels.size());
  std::vector<std::byte> memory(layout.bytes());
  for (const auto& how : {inflating_threads{}, many_chunks(3)}) {
    EXPECT_THROW(inflate_file(header, split_into_pieces(voxels), layout.file_place(0), memory.data(), how, {false}),
                 failure);
  }
}

TEST_F(InflatedColumns, DamageThatMakesTheStreamLongerThanTheImageIsDetected) {
  const auto header = make<float>("f32.gz", 16, 2);
  const auto plain = make<float>("f32.nii", 16, 2, 0, std::endian::little, false);
  bytes longer = testing::read_file(plain.path);
  longer.resize(longer.size() + 16);
  const std::vector<std::uint64_t> voxels{1, 2};
  const stored_columns layout({header}, voxels.size());
  std::vector<std::byte> memory(layout.bytes());
  const auto inflate = [&](const bytes& packed, const inflating_threads& how) {
    write_file(folder_ / "f32.gz", packed);
    return inflate_file(header, split_into_pieces(voxels), layout.file_place(0), memory.data(), how, {false});
  };
  for (const auto& how : {inflating_threads{}, many_chunks(3)}) {
    EXPECT_THROW(inflate(testing::member_with_wrong_checksum(longer), how), failure);
    const bytes_after_image after = inflate(testing::joined({gzipped(longer), bytes(7, 'x')}), how);
    EXPECT_EQ(after.inflated, 16U);
    EXPECT_EQ(after.stored, 7U);
  }
}

TEST_F(InflatedColumns, FileShorterThanItsHeaderStatesIsRejectedByAnyNumberOfThreads) {
  auto header = make<float>("f32.gz", 16, 20);
  header.volumes = 21;
  const auto voxels = some_voxels();
  const stored_columns layout({header}, voxels.size());
  std::vector<std::byte> memory(layout.bytes());
  std::vector<std::string> messages;
  for (const auto& how : {inflating_threads{}, many_chunks(3)}) {
    try {
      inflate_file(header, split_into_pieces(voxels), layout.file_place(0), memory.data(), how, {false});
    } catch (const failure& f) {
      messages.push_back(f.what());
    }
  }
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0], messages[1]);
  EXPECT_NE(messages[0].find("truncated"), std::string::npos) << messages[0];
}

TEST_F(InflatedColumns, StoppingLeavesTheColumnsUntouched) {
  const auto header = make<float>("f32.gz", 16, 5);
  const auto voxels = some_voxels();
  const stored_columns layout({header}, voxels.size());
  const std::vector<std::byte> untouched(layout.bytes(), std::byte{0xa5});
  for (const auto& how : {inflating_threads{}, many_chunks(3)}) {
    std::vector<std::byte> stopped = untouched, complete = untouched;
    inflate_file(header, split_into_pieces(voxels), layout.file_place(0), stopped.data(), how, {true});
    inflate_file(header, split_into_pieces(voxels), layout.file_place(0), complete.data(), how, {false});
    EXPECT_EQ(stopped, untouched);
    EXPECT_NE(complete, untouched);
  }
}

}  // namespace
}  // namespace voxherd
