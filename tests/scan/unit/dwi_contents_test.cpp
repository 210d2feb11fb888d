#include "src/scan/dwi_contents.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "core/failure.hpp"
#include "tests/io/support/crafted_nifti.hpp"
#include "tests/support/scratch_folder.hpp"

using namespace voxherd;

using voxherd::testing::crafted_nifti;
using voxherd::testing::scratch_folder;
using voxherd::testing::write_file;

/// A series of 12 voxels and 3 volumes, read by this process alone.
class DwiContents : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<std::int32_t> values;
    for (int i = 0; i < 36; ++i) values.push_back(i + 1);
    crafted_nifti series(1, std::endian::little), mask(1, std::endian::little);
    write_file(folder_ / "dwi.nii", series.dimensions({3, 2, 2, 3}).datatype(8, 32).append(values).content());
    std::vector<std::uint8_t> inside(12, 0);
    inside[2] = inside[7] = inside[11] = 1;
    write_file(folder_ / "mask.nii", mask.dimensions({3, 2, 2}).datatype(2, 8).append(inside).content());
    write_file(folder_ / "bvals", "0 1000 2000\n");
    write_file(folder_ / "bvecs", "0 1 0\n0 0 1\n0 0 0\n");
    request_.dwi = folder_ / "dwi.nii";
    request_.mask = folder_ / "mask.nii";
    request_.bvals = folder_ / "bvals";
    request_.bvecs = folder_ / "bvecs";
  }

  exit_status status_of(const dwi_request& request) const {
    dwi_headers headers;
    try {
      (void)read_dwi_contents(request, headers);
    } catch (const failure& f) {
      return f.status;
    }
    return exit_status::complete;
  }

  scratch_folder folder_;
  dwi_request request_;
};

TEST_F(DwiContents, AreVoxelsGradientsAndProvenance) {
  dwi_headers headers;
  const dwi_contents c = read_dwi_contents(request_, headers);
  EXPECT_EQ(c.voxels, (std::vector<std::uint64_t>{2, 7, 11}));
  EXPECT_EQ(c.gradients.b_s_per_mm2, (std::vector<double>{0, 1000, 2000}));
  EXPECT_EQ(c.frame, direction_frame::fsl);
  EXPECT_EQ(headers.image.volumes, 3);
  EXPECT_EQ(c.provenance.at("mask").at("voxels"), 3);
  for (const char* input : {"dwi", "bvals", "bvecs", "mask"})
    EXPECT_TRUE(c.provenance.at(input).contains("fingerprint"));
}

TEST_F(DwiContents, OfAPartAreItsVoxels) {
  request_.parts = 3;
  request_.part = 1;
  dwi_headers headers;
  const dwi_contents c = read_dwi_contents(request_, headers);
  EXPECT_EQ(c.voxels, std::vector<std::uint64_t>{7});
  EXPECT_EQ(c.provenance.at("mask").at("part").at("first_voxel"), 1);
}

TEST_F(DwiContents, AreRefusedWithTheReason) {
  for (std::string dwi_request::*file : {&dwi_request::dwi, &dwi_request::bvals, &dwi_request::bvecs}) {
    dwi_request lacking = request_;
    (lacking.*file).clear();
    EXPECT_EQ(status_of(lacking), exit_status::usage);
    lacking.*file = folder_ / "missing";
    EXPECT_EQ(status_of(lacking), exit_status::missing_input);
  }
  request_.parts = 4;
  request_.part = 3;
  EXPECT_EQ(status_of(request_), exit_status::usage);
  request_.parts = 1;
  request_.part = 0;
  request_.dwi = request_.mask;
  EXPECT_EQ(status_of(request_), exit_status::bad_data);
}
