#include "tests/scan/support/dwi_series_case.hpp"

namespace voxherd {
namespace {

TEST_F(DwiSeries, EveryRankGetsTheMasksVoxelsInOrder) {
  const auto series = open({"--mask", "mask.nii"});
  std::vector<std::uint64_t> expected;
  for (std::uint64_t v = 0; v < voxel_count; ++v) {
    if (inside(v)) expected.push_back(v);
  }
  EXPECT_EQ(series.item_voxels(), expected);
  EXPECT_EQ(series.measurements(), volumes);
  EXPECT_EQ(series.floats_per_item(), volumes);
  EXPECT_EQ(series.grid().size, (std::array<std::uint64_t, 3>{nx, ny, nz}));
  EXPECT_EQ(series.gradients().b_s_per_mm2[7], 0);
  EXPECT_EQ(series.gradients().b_s_per_mm2[8], 1000);
}

TEST_F(DwiSeries, PlainCompressedAndSwappedFilesGiveTheSameRows) {
  for (const char* dwi : {"dwi.nii", "dwi.nii.gz", "big.nii"}) {
    auto series = open({"--mask", "mask.nii"}, dwi);
    for (const std::uint64_t batch_items : {1, 10, 1000}) {
      const auto rows = load_all(series, batch_items);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < series.item_voxels().size(); ++i) {
        for (std::uint64_t k = 0; k < volumes; ++k) {
          if (rows[i * volumes + k] != signal(series.item_voxels()[i], k)) ++wrong;
        }
      }
      EXPECT_EQ(wrong, 0U) << dwi << ", batches of " << batch_items;
    }
  }
}

TEST_F(DwiSeries, GradientDeviationsFollowTheSignals) {
  for (const char* deviation : {"grad_dev.nii", "grad_dev.nii.gz", "graddev.nii.gz"}) {
    auto series = open({"--mask", "mask.nii", "--grad-dev", deviation}, "dwi.nii.gz");
    ASSERT_EQ(series.floats_per_item(), volumes + 9);
    const auto rows = load_all(series, 50);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < series.item_voxels().size(); ++i) {
      const std::uint64_t v = series.item_voxels()[i];
      if (rows[i * (volumes + 9) + volumes - 1] != signal(v, volumes - 1)) ++wrong;
      for (std::uint64_t d = 0; d < 9; ++d) {
        if (rows[i * (volumes + 9) + volumes + d] != deviation_value(d * voxel_count + v)) ++wrong;
      }
    }
    EXPECT_EQ(wrong, 0U) << deviation;
  }
}

TEST_F(DwiSeries, ColumnsHaveTheValuesOfRows) {
  for (const char* dwi : {"dwi.nii", "dwi.nii.gz", "big.nii"})
    for (const char* deviation : {"grad_dev.nii", "grad_dev.nii.gz", "graddev.nii.gz"}) {
      auto series = open({"--mask", "mask.nii", "--grad-dev", deviation}, dwi);
      for (const std::uint64_t batch_items : {1, 10, 1000})
        EXPECT_EQ(load_all(series, batch_items, input_layout::columns), load_all(series, 1000))
            << dwi << ", batches of " << batch_items;
    }
}

TEST_F(DwiSeries, OnlyKeptVolumesAreLoaded) {
  const std::vector<std::uint32_t> kept{0, 3, 4, 20, 36};
  for (const char* dwi : {"dwi.nii", "dwi.nii.gz"}) {
    auto series = open({"--mask", "mask.nii", "--grad-dev", "grad_dev.nii.gz"}, dwi);
    const auto all = load_all(series, 1000);
    series.keep_volumes(kept);
    ASSERT_EQ(series.floats_per_item(), kept.size() + 9);
    std::vector<float> expected;
    for (std::size_t i = 0; i < series.item_voxels().size(); ++i) {
      for (const std::uint32_t k : kept) expected.push_back(all[i * (volumes + 9) + k]);
      for (std::size_t k = 0; k < 9; ++k) expected.push_back(all[i * (volumes + 9) + volumes + k]);
    }
    for (const input_layout layout : {input_layout::rows, input_layout::columns})
      EXPECT_EQ(load_all(series, 50, layout), expected) << dwi;
  }
}

TEST_F(DwiSeries, WithoutAMaskVoxelsWithAPositiveB0MeanAreTaken) {
  if (world->is_root()) {
    crafted_nifti image;
    std::vector<float> values(4 * 3);
    values = {1, 0, -1, std::numeric_limits<float>::quiet_NaN(), 5, 5, 5, 5, 3, 0, 2, 1};
    image.dimensions({4, 1, 1, 3}).append(values);
    write_file(at("tiny.nii"), image.content());
    write_file(at("bvals"), "0 1000 5\n");
    write_file(at("bvecs"), "0 1 0\n0 0 0\n0 0 0\n");
  }
  world->barrier();
  EXPECT_EQ(open({}, "tiny.nii").item_voxels(), (std::vector<std::uint64_t>{0, 2}));
}

TEST_F(DwiSeries, ErrorsAreTheSameOnEveryRank) {
  expect_refused({"--mask", "empty.nii"}, exit_status::bad_data, {"empty.nii", "0 of 455", "at least one"});
  expect_refused({"--mask", "small.nii"}, exit_status::bad_data, {"small.nii", "13 x 7 x 4", "13 x 7 x 5", "dwi.nii"});
  expect_refused({"--mask", "dwi.nii"}, exit_status::bad_data, {"dwi.nii", "dim[4]", "37", "expected 1"});
  expect_refused({"--mask", "absent.nii"}, exit_status::missing_input, {"absent.nii"});
  expect_refused({"--mask", "mask.nii", "--grad-dev", "percent.nii"}, exit_status::bad_data,
                 {"percent.nii", "the diagonal is about 0 in 0 % of the voxels and about 1 in 0 %"});
  expect_refused({"--grad-dev", "mask.nii"}, exit_status::bad_data, {"mask.nii", "dim[4]", "expected 9"});
  expect_refused({}, exit_status::bad_data, {"mask.nii", "dim[4]", "at least 2"}, "mask.nii");
  expect_refused({}, exit_status::bad_data, {"bvals", "37", "expected 9"}, "grad_dev.nii");
}

TEST_F(DwiSeries, DamagedCompressedSeriesFailsOnEveryRankBeforeAnyWork) {
  if (world->is_root()) {
    auto packed = testing::read_file(at("dwi.nii.gz"));
    packed.resize(packed.size() - 9);
    write_file(at("cut.nii.gz"), packed);
    packed = testing::read_file(at("dwi.nii.gz"));
    packed[packed.size() - 6] ^= 1;
    write_file(at("crc.nii.gz"), packed);
  }
  world->barrier();
  expect_refused({"--mask", "mask.nii"}, exit_status::bad_data, {"cut.nii.gz", "truncated"}, "cut.nii.gz");
  expect_refused({"--mask", "mask.nii"}, exit_status::bad_data, {"crc.nii.gz", "damaged"}, "crc.nii.gz");
}

TEST_F(DwiSeries, BackgroundInflationIsWaitedFor) {
  auto at_once = open({"--mask", "mask.nii", "--grad-dev", "grad_dev.nii.gz"}, "dwi.nii.gz");
  auto series = begin({"--mask", "mask.nii", "--grad-dev", "grad_dev.nii.gz"}, "dwi.nii.gz");
  EXPECT_THROW(load_all(series, 1000), failure);
  EXPECT_TRUE(await_stage(*world, series));
  EXPECT_EQ(load_all(series, 10), load_all(at_once, 1000));
  auto plain = begin({"--mask", "mask.nii"}, "dwi.nii");
  EXPECT_TRUE(await_stage(*world, plain));
  EXPECT_EQ(load_all(plain, 10).size(), plain.item_voxels().size() * volumes);
  (void)begin({"--mask", "mask.nii"}, "dwi.nii.gz");  // nobody waits for it, but it ends
}

TEST_F(DwiSeries, DamageFoundInTheBackgroundFailsOnEveryRank) {
  write_series_with_wrong_checksum();
  auto series = begin({"--mask", "mask.nii"}, "crc.nii.gz");
  std::string line;
  try {
    (void)await_stage(*world, series);
    ADD_FAILURE() << "read without complaint";
  } catch (const failure& f) {
    line = f.what();
    EXPECT_EQ(f.status, exit_status::bad_data);
  }
  EXPECT_NE(line.find("crc.nii.gz"), std::string::npos) << line;
  EXPECT_NE(line.find("damaged"), std::string::npos) << line;
}

TEST_F(DwiSeries, AMissingOptionIsAUsageFailure) {
  try {
    dwi_series series(*world, dwi_request{}, 1);
    ADD_FAILURE() << "accepted";
  } catch (const failure& f) {
    EXPECT_EQ(f.status, exit_status::usage);
    EXPECT_NE(std::string(f.what()).find("--dwi"), std::string::npos);
  }
}

TEST_F(DwiSeries, ProvenanceNamesTheFilesAndTheirFingerprints) {
  const auto p = open({"--mask", "mask.nii", "--grad-dev", "grad_dev.nii"}).provenance();
  for (const char* file : {"dwi", "bvals", "bvecs", "mask", "grad_dev"}) {
    EXPECT_EQ(p.at(file).at("fingerprint").get<std::string>().size(), 16U) << file;
  }
  EXPECT_EQ(p.at("grad_dev").at("form"), "L (HCP, FSL)");
  const auto other = open({"--mask", "mask.nii", "--grad-dev", "graddev.nii.gz"}).provenance();
  EXPECT_EQ(other.at("grad_dev").at("form"), "I + L (QSIPrep, TORTOISE)");
  EXPECT_EQ(p.at("dwi").at("path"), at("dwi.nii"));
  EXPECT_EQ(p.at("dwi").at("bytes"), 352 + 4 * voxel_count * volumes);
  EXPECT_EQ(p.at("image").at("sform_code"), 1);
}

TEST_F(DwiSeries, ConstantsContainTheGradientTable) {
  const auto series = open({"--mask", "mask.nii"});
  const auto constants = series.constants();
  ASSERT_EQ(constants.size(), 2U);
  EXPECT_EQ(constants[0].shape, (std::vector<std::uint64_t>{volumes}));
  EXPECT_EQ(constants[1].shape, (std::vector<std::uint64_t>{3, volumes}));
  EXPECT_EQ(constants[1].values[volumes + 5], series.gradients().y[5]);
}

TEST(NodeMemory, IsZeroAndSeenByEveryRankOfTheNode) {
  const node_memory memory(*world, 100000, "test");
  ASSERT_EQ(memory.bytes().size(), 100000U);
  EXPECT_EQ(memory.bytes()[99999], std::byte{0});
  world->barrier();
  if (world->node_rank() == 0) memory.bytes()[99999] = std::byte{7};
  world->barrier();
  EXPECT_EQ(memory.bytes()[99999], std::byte{7});
}

TEST(NodeMemory, MoreThanThereIsIsToldToEveryRank) {
  try {
    const node_memory memory(*world, std::size_t{1} << 50, "test");
    ADD_FAILURE() << "a pebibyte was had";
  } catch (const failure& f) {
    EXPECT_EQ(f.status, exit_status::disk);
    EXPECT_EQ(std::string(f.what()).find("test: "), 0U) << f.what();
  }
}

}  // namespace
}  // namespace voxherd
