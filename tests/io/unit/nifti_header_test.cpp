#include "tests/io/support/nifti_case.hpp"

namespace voxherd {
namespace {

using testing::bytes;
using testing::crafted_nifti;
using testing::good;
using testing::infinity;
using testing::nan;
using testing::NiftiFile;

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

}  // namespace
}  // namespace voxherd
