#include "src/scan/voxel_rows.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "src/io/nifti/companion.hpp"
#include "tests/io/support/crafted_nifti.hpp"

namespace voxherd {
namespace {

using testing::crafted_nifti;
using testing::scratch_folder;
using testing::write_file;

/// So many voxels that several threads get items, and so many volumes that they also get parts of the volumes.
constexpr std::uint64_t nx = 60, ny = 50, nz = 12, voxel_count = nx * ny * nz;

/// Runs of different lengths and a gap that is longer than what is read in addition.
std::vector<std::uint64_t> some_voxels() {
  std::vector<std::uint64_t> voxels;
  for (std::uint64_t v = 3; v < voxel_count - 100; ++v)
    if (v % 11 < 7 && (v < 12000 || v > 30000)) voxels.push_back(v);
  return voxels;
}

class VoxelRows : public ::testing::Test {
 protected:
  template <class T>
  nifti_header make(const std::string& name, int datatype, std::uint64_t volumes, float slope = 0,
                    std::endian order = std::endian::little) const {
    std::mt19937 draw(static_cast<unsigned>(datatype));
    std::vector<T> values(voxel_count * volumes);
    for (T& value : values) value = static_cast<T>(draw() % 60000);
    crafted_nifti image(1, order);
    image.dimensions({nx, ny, nz, static_cast<std::int64_t>(volumes)}).datatype(datatype, 8 * sizeof(T));
    image.scaling(slope, slope == 0 ? 0 : -3).append(values);
    write_file(folder_ / name, image.content());
    return read_nifti_header(folder_ / name);
  }

  /// Each volume as nifti_reader reads it.
  static std::vector<std::vector<float>> read_volumes(const std::vector<nifti_header>& files) {
    std::vector<std::vector<float>> volumes;
    for (const nifti_header& h : files) {
      nifti_reader reader(h);
      for (std::uint64_t k = 0; k < h.volumes; ++k)
        reader.read(k, 0, voxel_count, volumes.emplace_back(voxel_count).data());
    }
    return volumes;
  }

  /// Loads some items in both layouts, each with other numbers between them, which must not change.
  void expect_as_read(const std::vector<nifti_header>& files, std::vector<std::uint32_t> kept = {}) const {
    const auto volumes = read_volumes(files);
    for (const int threads : {1, 2, 7}) {
      const auto rows = open_plain_rows(files, voxels_, threads);
      if (!kept.empty()) rows->keep_volumes(kept);
      if (kept.empty())
        for (std::uint32_t k = 0; k < volumes.size(); ++k) kept.push_back(k);
      const std::uint64_t items = voxels_.size();
      for (const auto& [first, count] : {std::pair{std::uint64_t{0}, items}, {17, items - 40}, {items - 1, 1}, {5, 0}})
        for (const input_layout layout : {input_layout::rows, input_layout::columns}) {
          SCOPED_TRACE(::testing::Message() << threads << " threads, items " << first << " to " << first + count);
          expect_loaded(*rows, layout, first, count, volumes, kept);
        }
    }
  }

  void expect_loaded(voxel_rows& rows, input_layout layout, std::uint64_t first, std::uint64_t count,
                     const std::vector<std::vector<float>>& volumes, const std::vector<std::uint32_t>& kept) const {
    const std::size_t width = kept.size() + 4, lead = 3;
    std::vector<float> memory((count + 1) * width, -7);
    const value_places all = value_places::in(layout, memory.data(), count, width);
    rows.load(first, count, all.from(0, lead));
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < count; ++i)
      for (std::size_t k = 0; k < width; ++k) {
        const bool is_loaded = k >= lead && k < lead + kept.size();
        const float expected = is_loaded ? volumes[kept[k - lead]][voxels_[first + i]] : -7;
        if (all.at(i, k) != expected) ++wrong;
      }
    EXPECT_EQ(wrong, 0U);
  }

  const std::vector<std::uint64_t> voxels_ = some_voxels();
  scratch_folder folder_;
};

TEST_F(VoxelRows, PlainFilesOfAnyTypeEqualTheReaderInBothLayouts) {
  expect_as_read({make<float>("f32.nii", 16, 70)});
  expect_as_read({make<std::int16_t>("i16.nii", 4, 35, 0.25F)});
  expect_as_read({make<std::int16_t>("big.nii", 4, 3, 0.25F, std::endian::big)});
  expect_as_read({make<std::uint8_t>("u8.nii", 2, 1)});
  expect_as_read({make<double>("f64.nii", 64, 17, 2, std::endian::big)});
}

TEST_F(VoxelRows, FilesOfSeveralTypesAndOrdersFollowEachOther) {
  auto files = std::vector{make<std::int16_t>("a.nii", 4, 1, 0.5F), make<float>("b.nii", 16, 34),
                           make<std::uint8_t>("c.nii", 2, 2)};
  reorder(files[1], {{0, 1, 2}, {true, false, true}});
  expect_as_read(files);
}

TEST_F(VoxelRows, OnlyKeptVolumesAreLoaded) {
  expect_as_read({make<std::int16_t>("a.nii", 4, 20), make<float>("b.nii", 16, 20)}, {1, 2, 18, 19, 20, 39});
}

}  // namespace
}  // namespace voxherd
