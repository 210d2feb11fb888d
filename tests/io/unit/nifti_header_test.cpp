#include <array>
#include <cmath>

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
}

TEST_F(NiftiFile, BadOffsetsAreRejected) {
  for (const double offset : {0.0, -352.0, 348.0, nan, infinity}) {
    expect_refused(good().vox_offset(offset), {"vox_offset", "352"});
  }
  expect_refused(good().vox_offset(1e6), {"truncated"});
  expect_refused(good(2).vox_offset(352), {"vox_offset", "544"});
}

TEST_F(NiftiFile, ASlopeNeedsAnInterceptAndZeroMeansNone) {
  expect_refused(good().scaling(1, nan), {"scl_inter", "nan"});
  expect_refused(good().scaling(2, infinity), {"scl_inter", "inf"});
  EXPECT_EQ(read_volume(read_nifti_header(put(good().scaling(0, nan).content())))[3], 3);
  EXPECT_EQ(read_volume(read_nifti_header(put(good().scaling(-2, 1).content())))[3], -5);
}

TEST_F(NiftiFile, BadVoxelSizesAreRejected) {
  for (const double size : {nan, infinity})
    expect_refused(good().codes(1, 0).pixdim(2, size), {"pixdim[2]", "above 0, or an sform"});
  EXPECT_NO_THROW(read_nifti_header(put(good().pixdim(4, nan).pixdim(0, 0).content())));
  for (const double size : {1e-40, 1e-7, 2e6, 1e30}) {
    expect_refused(good().codes(0, 0).pixdim(3, size), {"voxel size along axis 3", "expected 1e-06 to 1000000 mm"});
    expect_refused(good().sform({2, 0, 0, 0, 0, size, 0, 0, 0, 0, 2, 0}), {"voxel size along axis 2"});
  }
  expect_refused(good().sform({2, 0, 0, 0, 0, 2, 0, 1e30, 0, 0, 2, 0}), {"offset of y is 1e+30 mm"});
  EXPECT_NO_THROW(read_nifti_header(put(good().sform({1e-5, 0, 0, 0, 0, 1e5, 0, 1e6, 0, 0, 2, 0}).content())));
}

/// A header value that other programs tolerate, and how it is read.
struct tolerated_value {
  const char* name;
  crafted_nifti image;
  const char* warning = "";  ///< words of the only one; "": none
  std::array<double, 3> voxel_mm{2, 2, 2};
};

// Read by nibabel 5.0, MRtrix 3.0.3 and FSL's sources; where these differ, the comment says how.
TEST_F(NiftiFile, ValuesThatOtherProgramsTolerateAreReadAsTheyReadThem) {
  const char* const no_orientation = "the orientation is unknown";
  const std::vector<tolerated_value> values = {
      {"slope nan", good().scaling(nan, nan), "scl_slope is nan; values are read as stored"},  // fMRIPrep 20.2
      {"slope nan, finite intercept", good().scaling(nan, 3), "scl_slope is nan; values are read as stored"},
      {"slope infinite", good().scaling(infinity, 0), "scl_slope is inf; values are read as stored"},
      {"slope 0", good().scaling(0, 3)},
      {"negative size, sform", good().pixdim(2, -2)},  // HCP 7T
      {"size 0, sform", good().pixdim(2, 0), "pixdim[2] is 0; 2 is used"},
      {"size nan, sform", good().pixdim(2, nan), "pixdim[2] is nan; 2 is used"},
      {"size infinite, sform", good().pixdim(2, infinity), "pixdim[2] is inf; 2 is used"},
      {"negative size, qform", good().codes(1, 0).pixdim(3, -2), "pixdim[3] is -2; 2 is used"},
      // MRtrix: 0 mm
      {"size 0, qform", good().codes(1, 0).pixdim(3, 0), "pixdim[3] is 0; 1 is used", {2, 2, 1}},
      {"qfac 0", good().codes(1, 0).pixdim(0, 0)},
      {"qfac nan, sform", good().codes(1, 1).pixdim(0, nan), "the qform is ignored"},
      {"time step nan", good().pixdim(4, nan)},
      {"negative time step", good().pixdim(4, -1)},
      {"dimension of 1", good().dimensions({4, 3, 2, 1, 1, 1, 1})},
      // nibabel: no values
      {"dimension of 0", good().dimensions({4, 3, 2, 0}), "dim[4] is 0, read as 1"},
      {"wrong bitpix", good().bitpix(16), "bitpix is 16, expected 32 for datatype 16 (float32); ignored"},
      {"no bitpix", good().bitpix(0), "bitpix is 0"},
      {"fraction of a byte", good().vox_offset(352.5), "vox_offset is 352.5; 352 is used"},
      {"unknown unit", good().units(0)},
      {"unit without a meaning", good().units(7)},
      {"range of display nan", good().put<float>(124, std::nanf("")).put<float>(128, std::nanf(""))},
      {"negative code of the qform", good().codes(-1, 1)},
      {"no orientation", good().codes(0, 0), no_orientation},
  };
  for (const tolerated_value& v : values) {
    SCOPED_TRACE(v.name);
    const nifti_header h = read_nifti_header(put(v.image.content()));
    EXPECT_EQ(read_volume(h)[3], 3);
    EXPECT_EQ(h.volumes, 1U);
    EXPECT_EQ(h.grid.voxel_size_mm, v.voxel_mm);
    ASSERT_EQ(h.warnings.size(), *v.warning == 0 ? 0U : 1U);
    for (const std::string& text : h.warnings) EXPECT_NE(text.find(v.warning), std::string::npos) << text;
  }
}

// nibabel and FSL read 1 for nan, MRtrix -1, which mirrors the image.
TEST_F(NiftiFile, AnUnknownMirroringIsRejected) {
  expect_refused(good().codes(1, 0).pixdim(0, nan), {"pixdim[0] (qfac)", "or an sform"});
}

TEST_F(NiftiFile, AnExportedHeaderHasTheSizesThatWereUsed) {
  const nifti_header h = read_nifti_header(put(good().pixdim(1, -2).pixdim(2, 0).content()));
  EXPECT_EQ(h.geometry.at("pixdim"), (std::vector<double>{1, 2, 2, 2}));
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
