#include "src/io/nifti/nifti.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "core/failure.hpp"
#include "tests/support/crafted_gzip.hpp"

namespace voxherd {
namespace {

using testing::bytes;
using testing::crafted_nifti;
using testing::gzipped;
using testing::joined;
using testing::member_with_wrong_checksum;
using testing::scratch_folder;
using testing::write_file;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A valid 4 x 3 x 2 float image with values 0..23.
crafted_nifti good(int version = 1, std::endian order = std::endian::little) {
  std::vector<float> values(24);
  std::iota(values.begin(), values.end(), 0.0F);
  return crafted_nifti(version, order).append(values);
}

class NiftiFile : public ::testing::Test {
 protected:
  std::string put(const bytes& content, const std::string& name = "image.nii") {
    write_file(folder_ / name, content);
    return folder_ / name;
  }

  /// Returns the message of reading the file; checks the status and that the message names the file.
  static std::string refusal(const std::string& path, exit_status status) {
    try {
      read_volume(read_nifti_header(path));
    } catch (const failure& f) {
      EXPECT_EQ(f.status, status) << f.what();
      const std::string line = f.what();
      EXPECT_EQ(line.find('\n'), std::string::npos) << line;
      return line;
    }
    ADD_FAILURE() << "read without complaint: " << path;
    return "";
  }

  void expect_refused(const crafted_nifti& image, const std::vector<std::string>& words) {
    const std::string path = put(image.content());
    const std::string line = refusal(path, exit_status::bad_data);
    EXPECT_EQ(line.rfind(path, 0), 0U) << line;
    for (const std::string& word : words) EXPECT_NE(line.find(word), std::string::npos) << word << " in: " << line;
  }

  scratch_folder folder_;
};

struct type_case {
  int version;
  std::endian order;
};

class NiftiTypes : public ::testing::TestWithParam<type_case> {
 protected:
  template <class T>
  void expect_values(int datatype, const std::vector<T>& stored) {
    crafted_nifti image(GetParam().version, GetParam().order);
    image.dimensions({static_cast<std::int64_t>(stored.size()), 1, 1}).datatype(datatype, 8 * sizeof(T)).append(stored);
    write_file(folder_ / "plain.nii", image.content());
    write_file(folder_ / "packed.nii.gz", gzipped(image.content()));
    image.scaling(2, -1);
    write_file(folder_ / "scaled.nii", image.content());
    const auto plain = read_volume(read_nifti_header(folder_ / "plain.nii"));
    const auto packed = read_volume(read_nifti_header(folder_ / "packed.nii.gz"));
    const auto scaled = read_volume(read_nifti_header(folder_ / "scaled.nii"));
    for (std::size_t i = 0; i < stored.size(); ++i) {
      EXPECT_EQ(plain[i], static_cast<float>(stored[i])) << "type " << datatype;
      EXPECT_EQ(packed[i], plain[i]);
      EXPECT_EQ(scaled[i], static_cast<float>(static_cast<double>(stored[i]) * 2 - 1));
    }
  }
  scratch_folder folder_;
};

TEST_P(NiftiTypes, AllRealTypesGiveTheirValues) {
  expect_values<std::uint8_t>(2, {0, 1, 200, 255});
  expect_values<std::int8_t>(256, {-128, -1, 0, 127});
  expect_values<std::int16_t>(4, {-32768, -2, 0, 258, 32767});
  expect_values<std::uint16_t>(512, {0, 258, 65535});
  expect_values<std::int32_t>(8, {-2147483647, -1, 0, 16909060});
  expect_values<std::uint32_t>(768, {0, 16909060, 4294967295U});
  expect_values<std::int64_t>(1024, {-4611686018427387904LL, -1, 0, 72623859790382856LL});
  expect_values<std::uint64_t>(1280, {0, 72623859790382856ULL, 18446744073709551615ULL});
  expect_values<float>(16, {-1.5F, 0, 3.25e30F, std::numeric_limits<float>::denorm_min()});
  expect_values<double>(64, {-1.5, 0, 3.25e30, 0.1});
}

INSTANTIATE_TEST_SUITE_P(VersionsAndByteOrders, NiftiTypes,
                         ::testing::Values(type_case{1, std::endian::little}, type_case{1, std::endian::big},
                                           type_case{2, std::endian::little}, type_case{2, std::endian::big}));

TEST_F(NiftiFile, NanAndInfinitySurviveReading) {
  crafted_nifti image;
  image.dimensions({4, 1, 1}).scaling(2, 1).append<float>(
      {static_cast<float>(nan), static_cast<float>(infinity), 3, -0.0F});
  const auto values = read_volume(read_nifti_header(put(image.content())));
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], std::numeric_limits<float>::infinity());
  EXPECT_EQ(values[2], 7);
}

TEST_F(NiftiFile, SformIsTheMatrixInUse) {
  const auto h = read_nifti_header(put(good().content()));
  const std::array<double, 16> expected{2, 0, 0, -10, 0, 2, 0, -20, 0, 0, 2, -30, 0, 0, 0, 1};
  EXPECT_EQ(h.grid.voxel_to_world, expected);
  EXPECT_EQ(h.grid.size, (std::array<std::uint64_t, 3>{4, 3, 2}));
  EXPECT_EQ(h.grid.voxel_size_mm, (std::array<double, 3>{2, 2, 2}));
  EXPECT_TRUE(h.warnings.empty());
}

TEST_F(NiftiFile, QformRotatesByItsQuaternionAndFlipsByQfac) {
  // b = c = d = 1/2 (so a = 1/2) maps x to y, y to z, z to x; qfac -1 negates the third column.
  auto image = good().qform({0.5, 0.5, 0.5}, {7, 8, 9}).pixdim(0, -1).pixdim(1, 2).pixdim(2, 3).pixdim(3, 4);
  const auto h = read_nifti_header(put(image.content()));
  const std::array<double, 16> expected{0, 0, -4, 7, 2, 0, 0, 8, 0, 3, 0, 9, 0, 0, 0, 1};
  for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(h.grid.voxel_to_world[i], expected[i], 1e-12) << i;
}

TEST_F(NiftiFile, WithoutAnyFormTheVoxelSizesAreUsedWithAWarning) {
  auto image = good().codes(0, 0).pixdim(1, 2).pixdim(2, 3).pixdim(3, 4);
  const auto h = read_nifti_header(put(image.content()));
  EXPECT_EQ(h.grid.voxel_to_world[5], 3);
  ASSERT_EQ(h.warnings.size(), 1U);
  EXPECT_NE(h.warnings[0].find("sform_code"), std::string::npos);
}

TEST_F(NiftiFile, MetresAndMicronsBecomeMillimetresWithAWarning) {
  auto image = good().sform({2e-3, 0, 0, 0, 0, 2e-3, 0, 0, 0, 0, 2e-3, 0}).units(1);
  for (std::size_t i = 1; i < 4; ++i) image.pixdim(i, 2e-3);
  const auto h = read_nifti_header(put(image.content()));
  EXPECT_NEAR(h.grid.voxel_to_world[0], 2, 1e-6);
  EXPECT_NEAR(h.grid.voxel_size_mm[2], 2, 1e-6);
  EXPECT_EQ(h.warnings.size(), 1U);
}

TEST_F(NiftiFile, AnyPartOfAnyVolumeIsReadForwardsAndBackwards) {
  std::vector<std::int16_t> values(4 * 3 * 2 * 5);
  std::iota(values.begin(), values.end(), std::int16_t{0});
  crafted_nifti image;
  image.dimensions({4, 3, 2, 5}).datatype(4, 16).append(values);
  for (const auto& path : {put(image.content()), put(gzipped(image.content()), "image.nii.gz")}) {
    nifti_reader reader(read_nifti_header(path));
    std::vector<float> part(7);
    for (const std::uint64_t volume : {1, 4, 0, 3}) {
      reader.read(volume, 11, 7, part.data());
      for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(part[i], static_cast<float>(volume * 24 + 11 + i)) << path;
    }
  }
}

TEST_F(NiftiFile, MembersOfAGzipFileFollowEachOther) {
  const bytes all = good().content();
  bytes packed = gzipped(bytes(all.begin(), all.begin() + 400));
  const bytes rest = gzipped(bytes(all.begin() + 400, all.end()));
  packed.insert(packed.end(), rest.begin(), rest.end());
  EXPECT_EQ(read_volume(read_nifti_header(put(packed, "image.nii.gz")))[23], 23);
}

TEST_F(NiftiFile, DamageThatMakesTheStreamLongerThanTheImageIsRejected) {
  bytes longer = good().content();
  longer.resize(longer.size() + 9);
  const auto reason = [&](const bytes& packed) { return refusal(put(packed, "image.nii.gz"), exit_status::bad_data); };
  EXPECT_NE(reason(member_with_wrong_checksum(longer)).find("wrong checksum or length"), std::string::npos);
  const bytes second = member_with_wrong_checksum(bytes(9, 'x'));
  EXPECT_NE(reason(joined({gzipped(good().content()), second})).find("damaged"), std::string::npos);
  bytes cut = gzipped(longer);
  cut.resize(cut.size() - 8);
  EXPECT_NE(reason(cut).find("truncated"), std::string::npos);
}

TEST_F(NiftiFile, BytesAfterACompressedImageAreCounted) {
  bytes longer = good().content();
  longer.resize(longer.size() + 9);
  nifti_reader reader(read_nifti_header(put(joined({gzipped(longer), bytes(4, 'x')}), "image.nii.gz")));
  std::vector<float> part(3);
  reader.read(0, 5, 3, part.data());
  EXPECT_EQ(part[2], 7);
  const bytes_after_image after = reader.check_end();
  EXPECT_EQ(after.inflated, 9U);
  EXPECT_EQ(after.stored, 4U);
}

TEST_F(NiftiFile, CompressionIsDetectedFromTheContentNotTheName) {
  EXPECT_EQ(read_volume(read_nifti_header(put(gzipped(good().content()), "packed.nii")))[5], 5);
  EXPECT_EQ(read_volume(read_nifti_header(put(good().content(), "plain.nii.gz")))[5], 5);
}

TEST_F(NiftiFile, OddNamesAreReadAndPrintedOnOneLine) {
  EXPECT_EQ(read_volume(read_nifti_header(put(good().content(), "a b\xc3\xa9\n.nii")))[1], 1);
  refusal(folder_ / "not\nthere.nii", exit_status::missing_input);
  refusal(folder_ / std::string(4096, 'x'), exit_status::missing_input);
}

TEST_F(NiftiFile, UnopenableFilesAreMissingInput) {
  refusal(folder_ / "absent.nii", exit_status::missing_input);
  EXPECT_NE(refusal(folder_.path().string(), exit_status::missing_input).find("directory"), std::string::npos);
  ASSERT_EQ(::symlink((folder_ / "loop.nii").c_str(), (folder_ / "loop.nii").c_str()), 0);
  refusal(folder_ / "loop.nii", exit_status::missing_input);
  ASSERT_EQ(::mkfifo((folder_ / "pipe.nii").c_str(), 0600), 0);
  refusal(folder_ / "pipe.nii", exit_status::missing_input);
}

TEST_F(NiftiFile, AnUnreadableFileIsMissingInput) {
  const auto path = put(good().content());
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  // Root may read every file, so this test drops its privileges.
  const bool root = ::geteuid() == 0;
  constexpr uid_t nobody = 65534;
  if (root) {
    ASSERT_EQ(::seteuid(nobody), 0);
  }
  const std::string line = refusal(path, exit_status::missing_input);
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_NE(line.find("ermission"), std::string::npos) << line;
}

TEST_F(NiftiFile, ShortFilesAreRejected) {
  const bytes all = good().content();
  EXPECT_NE(refusal(put({}), exit_status::bad_data).find("empty"), std::string::npos);
  for (const long length : {1L, 3L, 4L, 347L, 348L, 352L, static_cast<long>(all.size()) - 1}) {
    refusal(put(bytes(all.begin(), all.begin() + length)), exit_status::bad_data);
  }
}

TEST_F(NiftiFile, FilesThatAreNotNiftiAreRejected) {
  EXPECT_NE(refusal(put(bytes(2000, 'a')), exit_status::bad_data).find("sizeof_hdr"), std::string::npos);
  expect_refused(good().put<std::int32_t>(0, 347), {"sizeof_hdr", "347", "348"});
  auto pair = good();
  std::memcpy(pair.content().data() + 344, "ni1", 4);
  expect_refused(pair, {"magic", "ni1", "pair", "convert"});
  auto analyze = good();
  std::memset(analyze.content().data() + 344, 0, 4);
  expect_refused(analyze, {"magic", "ANALYZE", "convert"});
  auto unknown = good();
  std::memcpy(unknown.content().data() + 344, "xyz", 4);
  expect_refused(unknown, {"magic", "n+1"});
  auto text_mode = good(2);
  text_mode.content()[8] = '\n';
  expect_refused(text_mode, {"magic", "text mode"});
  EXPECT_NE(refusal(put(good().content(), "image.hdr"), exit_status::bad_data).find("pair"), std::string::npos);
}

TEST_F(NiftiFile, BadDimensionsAreRejectedInBothVersions) {
  for (const int version : {1, 2}) {
    for (const int count : {0, 8, -1, 200, -100}) {
      expect_refused(good(version).dim(0, count), {"dim[0]", std::to_string(count), "1 to 7"});
    }
    expect_refused(good(version).dim(2, 0), {"dim[2]", "0", "at least 1"});
    expect_refused(good(version).dim(3, -5), {"dim[3]", "-5", "at least 1"});
    expect_refused(good(version).dimensions({4, 3, 2, 1, 3}), {"dim[5]", "3", "four dimensions"});
    expect_refused(good(version).dimensions({32767, 32767, 32767, 32767}), {"dim"});
  }
  const std::int64_t huge = std::int64_t{1} << 40;
  expect_refused(good(2).dimensions({huge, huge, huge, huge}), {"dim", "fits"});
  expect_refused(good().dimensions({1650, 1650, 1650}), {"truncated"});
}

TEST_F(NiftiFile, DimensionsBeyondTheCountAreIgnored) {
  const auto h = read_nifti_header(put(good().dim(5, 0).dim(6, -3).content()));
  EXPECT_EQ(h.volumes, 1U);
}

TEST_F(NiftiFile, TypesThatAreNotRealAreRejectedByName) {
  expect_refused(good().datatype(128, 24), {"datatype", "128", "RGB24"});
  expect_refused(good().datatype(32, 64), {"datatype", "complex64"});
  expect_refused(good().datatype(1536, 128), {"datatype", "float128"});
  expect_refused(good().datatype(1, 1), {"datatype", "binary"});
  expect_refused(good().datatype(7777, 8), {"datatype", "7777"});
  expect_refused(good().bitpix(16), {"bitpix", "16", "32", "float32"});
}

TEST_F(NiftiFile, BadOffsetsAreRejected) {
  for (const double offset : {0.0, -352.0, 348.0, 352.7, nan, infinity}) {
    expect_refused(good().vox_offset(offset), {"vox_offset", "352"});
  }
  expect_refused(good().vox_offset(1e6), {"truncated"});
  expect_refused(good(2).vox_offset(352), {"vox_offset", "544"});
}

TEST_F(NiftiFile, ScalingMustBeFiniteAndZeroMeansNone) {
  expect_refused(good().scaling(nan, 0), {"scl_slope", "nan"});
  expect_refused(good().scaling(infinity, 0), {"scl_slope", "inf"});
  expect_refused(good().scaling(1, nan), {"scl_inter", "nan"});
  EXPECT_EQ(read_volume(read_nifti_header(put(good().scaling(0, nan).content())))[3], 3);
  EXPECT_EQ(read_volume(read_nifti_header(put(good().scaling(-2, 1).content())))[3], -5);
}

TEST_F(NiftiFile, BadVoxelSizesAreRejected) {
  for (const double size : {0.0, -2.0, nan, infinity}) expect_refused(good().pixdim(2, size), {"pixdim[2]", "above 0"});
  EXPECT_NO_THROW(read_nifti_header(put(good().pixdim(4, nan).pixdim(0, 0).content())));
  for (const double size : {1e-40, 1e-7, 2e6, 1e30}) {
    expect_refused(good().codes(0, 0).pixdim(3, size), {"voxel size along axis 3", "expected 1e-06 to 1000000 mm"});
    expect_refused(good().sform({2, 0, 0, 0, 0, size, 0, 0, 0, 0, 2, 0}), {"voxel size along axis 2"});
  }
  expect_refused(good().sform({2, 0, 0, 0, 0, 2, 0, 1e30, 0, 0, 2, 0}), {"offset of y is 1e+30 mm"});
  EXPECT_NO_THROW(read_nifti_header(put(good().sform({1e-5, 0, 0, 0, 0, 1e5, 0, 1e6, 0, 0, 2, 0}).content())));
}

TEST_F(NiftiFile, InvalidMatricesAreRejected) {
  expect_refused(good().sform({2, 0, 0, 0, 0, nan, 0, 0, 0, 0, 2, 0}), {"sform", "finite"});
  expect_refused(good().sform({2, 2, 0, 0, 2, 2, 0, 0, 0, 0, 2, 0}), {"sform", "singular"});
  expect_refused(good().sform({}), {"sform", "singular"});
  expect_refused(good().qform({nan, 0, 0}, {0, 0, 0}), {"quatern", "nan"});
  expect_refused(good().qform({1, 1, 0}, {0, 0, 0}), {"quatern", "rotation"});
  expect_refused(good().qform({0, 0, 0}, {infinity, 0, 0}), {"finite offset"});
}

TEST_F(NiftiFile, OddMatricesGiveAWarning) {
  auto sheared = good().sform({2, 1, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0});
  EXPECT_NE(read_nifti_header(put(sheared.content())).warnings.at(0).find("shear"), std::string::npos);
  auto apart = good().qform({0, 0, 0}, {0, 0, 0}).codes(1, 1);
  EXPECT_NE(read_nifti_header(put(apart.content())).warnings.at(0).find("apart"), std::string::npos);
}

TEST_F(NiftiFile, TrailingBytesAndBrokenExtensionsGiveAWarning) {
  EXPECT_NE(read_nifti_header(put(good().append<char>({1, 2, 3}).content())).warnings.at(0).find("3 bytes"),
            std::string::npos);
  for (const std::int32_t size : {-16, 0, 1 << 30}) {
    crafted_nifti image;
    image.vox_offset(368).append<std::int32_t>({size, 4, 0, 0}).append(std::vector<float>(24, 7)).put<char>(348, 1);
    const auto h = read_nifti_header(put(image.content()));
    ASSERT_EQ(h.warnings.size(), 1U);
    EXPECT_NE(h.warnings[0].find("extension"), std::string::npos);
    EXPECT_EQ(read_volume(h)[0], 7);
  }
}

TEST_F(NiftiFile, DamagedGzipIsRejected) {
  std::vector<float> noise(24);
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<float>(std::sin(static_cast<double>(i * i)));
  const bytes packed = gzipped(crafted_nifti().append(noise).content());
  const bytes cut(packed.begin(), packed.end() - 20);
  EXPECT_NE(refusal(put(cut, "a.nii.gz"), exit_status::bad_data).find("truncated"), std::string::npos);
  bytes crc = packed;
  crc[crc.size() - 6] ^= 1;
  EXPECT_NE(refusal(put(crc, "a.nii.gz"), exit_status::bad_data).find("damaged"), std::string::npos);
  bytes flipped = packed;
  flipped[flipped.size() / 2] ^= 0x10;
  refusal(put(flipped, "a.nii.gz"), exit_status::bad_data);
  const bytes all = good().content();
  const bytes short_data = gzipped(bytes(all.begin(), all.end() - 4));
  EXPECT_NE(refusal(put(short_data, "a.nii.gz"), exit_status::bad_data).find("truncated"), std::string::npos);
}

TEST_F(NiftiFile, HeaderTooLargeForItsGzipFileIsRejectedBeforeAnyAllocation) {
  auto bomb = good().dimensions({30000, 30000, 30000});
  EXPECT_NE(refusal(put(gzipped(bomb.content()), "a.nii.gz"), exit_status::bad_data).find("compressed bytes"),
            std::string::npos);
}

TEST_F(NiftiFile, RandomDamageIsReadOrRejected) {
  std::mt19937 random(20120814);
  int refused = 0;
  constexpr int trials = 4000;
  for (int trial = 0; trial < trials; ++trial) {
    bytes content = good(1 + trial % 2, trial % 3 == 0 ? std::endian::big : std::endian::little).content();
    for (unsigned i = 0, changes = 1 + random() % 4; i < changes; ++i) {
      content[random() % (i == 0 ? 360 : content.size())] = static_cast<char>(random() % 4 == 0 ? 0xff : random());
    }
    if (trial % 5 == 0) content.resize(random() % content.size());
    const auto path = put(trial % 7 == 0 ? gzipped(content) : content);
    try {
      EXPECT_LE(read_volume(read_nifti_header(path)).size(), 24U * 1024U);
    } catch (const failure&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, trials / 4);
  EXPECT_LT(refused, trials);
}

TEST_F(NiftiFile, FileTruncatedWhileReadIsADiskFailure) {
  const auto path = put(good().content());
  nifti_reader reader(read_nifti_header(path));
  std::filesystem::resize_file(path, 360);
  std::vector<float> values(24);
  try {
    reader.read(0, 0, 24, values.data());
    ADD_FAILURE() << "read without complaint";
  } catch (const failure& f) {
    EXPECT_EQ(f.status, exit_status::disk);
  }
}

}  // namespace
}  // namespace voxherd
