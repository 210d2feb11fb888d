#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <limits>

#include "mpi/node_memory.hpp"
#include "mpi/signals.hpp"
#include "mpi/staged_input.hpp"
#include "src/input/dwi.hpp"
#include "src/input/host_memory.hpp"
#include "src/input/voxel_rows.hpp"
#include "tests/crafted_nifti.hpp"

namespace voxherd {
namespace {

using testing::crafted_nifti;
using testing::gzipped;
using testing::scratch_folder;
using testing::write_file;

const session* world = nullptr;

constexpr std::uint64_t nx = 13, ny = 7, nz = 5, volumes = 37, voxel_count = nx * ny * nz;

float signal(std::uint64_t voxel, std::uint64_t k) { return static_cast<float>(voxel * 100 + k) + 1; }

/// About half of the voxels, in runs of uneven length, with a long gap.
bool inside(std::uint64_t voxel) { return voxel % 7 < 4 && (voxel < 100 || voxel > 300); }

/// Inputs that rank 0 makes for all: 37 volumes, 6 of them b=0.
class DwiSeries : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path;
    if (world->is_root()) path = (folder_ = std::make_unique<scratch_folder>())->path().string();
    world->broadcast(path);
    path_ = path;
    if (world->is_root()) make_inputs();
    world->barrier();
  }
  void TearDown() override { world->barrier(); }

  std::string at(const std::string& name) const { return path_ + "/" + name; }

  crafted_nifti series(int version, std::endian order) const {
    crafted_nifti image(version, order);
    std::vector<std::int32_t> values;
    for (std::uint64_t k = 0; k < volumes; ++k) {
      for (std::uint64_t v = 0; v < voxel_count; ++v) values.push_back(static_cast<std::int32_t>(signal(v, k)) - 1);
    }
    image.dimensions({nx, ny, nz, volumes}).datatype(8, 32).scaling(1, 1).append(values);
    return image;
  }

  void make_inputs() {
    write_file(at("dwi.nii"), series(1, std::endian::little).content());
    write_file(at("dwi.nii.gz"), gzipped(series(1, std::endian::little).content()));
    write_file(at("big.nii"), series(2, std::endian::big).content());
    std::string b, x, y, z;
    for (std::uint64_t k = 0; k < volumes; ++k) {
      const double angle = static_cast<double>(k);
      b += k % 7 == 0 ? "0 " : "1000 ";
      x += std::to_string(std::cos(angle)) + " ";
      y += std::to_string(std::sin(angle)) + " ";
      z += "0 ";
    }
    write_file(at("bvals"), b);
    write_file(at("bvecs"), x + "\n" + y + "\n" + z + "\n");
    std::vector<std::uint8_t> mask(voxel_count);
    for (std::uint64_t v = 0; v < voxel_count; ++v) mask[v] = inside(v) ? 1 : 0;
    crafted_nifti image;
    image.dimensions({nx, ny, nz}).datatype(2, 8);
    write_file(at("mask.nii"), crafted_nifti(image).append(mask).content());
    write_file(at("empty.nii"), crafted_nifti(image).append(std::vector<std::uint8_t>(voxel_count)).content());
    write_file(at("small.nii"), crafted_nifti(image).dimensions({nx, ny, nz - 1}).append(mask).content());
    std::vector<float> deviation(9 * voxel_count);
    for (std::size_t i = 0; i < deviation.size(); ++i) deviation[i] = -static_cast<float>(i);
    image.datatype(16, 32).dimensions({nx, ny, nz, 9}).append(deviation);
    write_file(at("grad_dev.nii"), image.content());
    write_file(at("grad_dev.nii.gz"), gzipped(image.content()));
  }

  /// Not waited for.
  dwi_series begin(const std::vector<std::string>& more, const std::string& dwi = "dwi.nii") const {
    std::vector<std::string> line = {"--dwi", at(dwi), "--bvals", at("bvals"), "--bvecs", at("bvecs")};
    for (const std::string& word : more) {
      const bool is_name = word.rfind("--", 0) != 0 && word.rfind("=", 0) != 0;
      line.push_back(is_name ? at(word) : word.substr(word.front() == '=' ? 1 : 0));
    }
    po::options_description options;
    add_dwi_options(options);
    add_host_memory_option(options);
    arguments args;
    po::store(po::command_line_parser(line).options(options).run(), args.values);
    return dwi_series(*world, args);
  }

  dwi_series open(const std::vector<std::string>& more, const std::string& dwi = "dwi.nii") const {
    dwi_series series = begin(more, dwi);
    bring_stage(*world, series.input());
    return series;
  }

  /// Every rank must get the same failure, and its line must hold the words.
  void expect_refused(const std::vector<std::string>& more, exit_status status, const std::vector<std::string>& words,
                      const std::string& dwi = "dwi.nii") const {
    std::string line = "read without complaint";
    try {
      (void)open(more, dwi);
    } catch (const failure& f) {
      line = f.what();
      EXPECT_EQ(f.status, status) << line;
    }
    std::string root_line = line;
    world->broadcast(root_line);
    EXPECT_EQ(line, root_line);
    for (const std::string& word : words) EXPECT_NE(line.find(word), std::string::npos) << word << " in: " << line;
  }

  static std::vector<float> load_all(dwi_series& series, std::uint64_t batch_items) {
    const std::uint64_t items = series.item_voxels().size();
    std::vector<float> rows(items * series.floats_per_item(), -1);
    for (std::uint64_t first = 0; first < items; first += batch_items) {
      const std::uint64_t count = std::min(batch_items, items - first);
      const std::size_t per_item = series.floats_per_item();
      series.load({first / batch_items, first, count}, std::span(rows).subspan(first * per_item, count * per_item));
    }
    return rows;
  }

  std::string path_;
  std::unique_ptr<scratch_folder> folder_;
};

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
  for (const char* deviation : {"grad_dev.nii", "grad_dev.nii.gz"}) {
    auto series = open({"--mask", "mask.nii", "--grad-dev", deviation}, "dwi.nii.gz");
    ASSERT_EQ(series.floats_per_item(), volumes + 9);
    const auto rows = load_all(series, 50);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < series.item_voxels().size(); ++i) {
      const std::uint64_t v = series.item_voxels()[i];
      if (rows[i * (volumes + 9) + volumes - 1] != signal(v, volumes - 1)) ++wrong;
      for (std::uint64_t d = 0; d < 9; ++d) {
        if (rows[i * (volumes + 9) + volumes + d] != -static_cast<float>(d * voxel_count + v)) ++wrong;
      }
    }
    EXPECT_EQ(wrong, 0U) << deviation;
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

TEST_F(DwiSeries, WhatIsWrongIsToldToEveryRankAlike) {
  expect_refused({"--mask", "empty.nii"}, exit_status::bad_data, {"empty.nii", "0 of 455", "at least one"});
  expect_refused({"--mask", "small.nii"}, exit_status::bad_data, {"small.nii", "13 x 7 x 4", "13 x 7 x 5", "dwi.nii"});
  expect_refused({"--mask", "dwi.nii"}, exit_status::bad_data, {"dwi.nii", "dim[4]", "37", "expected 1"});
  expect_refused({"--mask", "absent.nii"}, exit_status::missing_input, {"absent.nii"});
  expect_refused({"--grad-dev", "mask.nii"}, exit_status::bad_data, {"mask.nii", "dim[4]", "expected 9"});
  expect_refused({}, exit_status::bad_data, {"mask.nii", "dim[4]", "at least 2"}, "mask.nii");
  expect_refused({}, exit_status::bad_data, {"bvals", "37", "expected 9"}, "grad_dev.nii");
}

TEST_F(DwiSeries, ADamagedCompressedSeriesIsToldToEveryRankBeforeAnyWork) {
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

TEST_F(DwiSeries, WhatIsInflatedMeanwhileIsWaitedFor) {
  auto at_once = open({"--mask", "mask.nii", "--grad-dev", "grad_dev.nii.gz"}, "dwi.nii.gz");
  auto series = begin({"--mask", "mask.nii", "--grad-dev", "grad_dev.nii.gz"}, "dwi.nii.gz");
  EXPECT_THROW(load_all(series, 1000), failure);
  EXPECT_TRUE(await_stage(*world, series.input()));
  EXPECT_EQ(load_all(series, 10), load_all(at_once, 1000));
  auto plain = begin({"--mask", "mask.nii"}, "dwi.nii");
  EXPECT_TRUE(await_stage(*world, plain.input()));
  EXPECT_EQ(load_all(plain, 10).size(), plain.item_voxels().size() * volumes);
  (void)begin({"--mask", "mask.nii"}, "dwi.nii.gz");  // nobody waits: it ends all the same
}

TEST_F(DwiSeries, DamageThatIsFoundMeanwhileIsToldToEveryRank) {
  if (world->is_root()) {
    auto packed = testing::read_file(at("dwi.nii.gz"));
    packed[packed.size() - 6] ^= 1;
    write_file(at("crc.nii.gz"), packed);
  }
  world->barrier();
  auto series = begin({"--mask", "mask.nii"}, "crc.nii.gz");
  std::string line;
  try {
    (void)await_stage(*world, series.input());
    ADD_FAILURE() << "read without complaint";
  } catch (const failure& f) {
    line = f.what();
    EXPECT_EQ(f.status, exit_status::bad_data);
  }
  EXPECT_NE(line.find("crc.nii.gz"), std::string::npos) << line;
  EXPECT_NE(line.find("damaged"), std::string::npos) << line;
}

/// A limit that gives both files, 37 + 9 floats and 384 bytes of buffers a voxel, room for 30 voxels twice.
const std::vector<std::string> with_room_for_30{"--mask",          "mask.nii",      "--grad-dev",
                                                "grad_dev.nii.gz", "--host-memory", "=0.00002260"};

TEST_F(DwiSeries, MoreThanTheLimitComesInStagesOfTheSameRows) {
  auto whole = open({"--mask", "mask.nii", "--grad-dev", "grad_dev.nii.gz"}, "dwi.nii.gz");
  EXPECT_EQ(whole.input().most_items(), staged_input::all_items);
  EXPECT_EQ(whole.input().later_bytes(), 0U);
  const auto expected = load_all(whole, 1000);
  auto series = begin(with_room_for_30, "dwi.nii.gz");
  ASSERT_EQ(series.input().most_items(), 30U);
  EXPECT_GE(series.input().later_bytes(), 30U * 46 * 4);
  EXPECT_LE(series.input().later_bytes(), 30U * 46 * 4 + 2 * 64);
  const std::uint64_t items = series.item_voxels().size();
  const std::size_t width = series.floats_per_item();
  for (int turn = 0; turn < 2; ++turn) {  // the second time it begins again from the front
    std::vector<float> found(items * width, -1);
    std::uint64_t stages = 0;
    for_each_stage(*world, series.input(), items, [&](std::uint64_t first, std::uint64_t last) {
      ++stages;
      for (; first < last; first += 7) {
        const std::uint64_t count = std::min<std::uint64_t>(7, last - first);
        series.load({0, first, count}, std::span(found).subspan(first * width, count * width));
      }
    });
    EXPECT_EQ(stages, (items + 29) / 30);
    EXPECT_GE(stages, 3U);
    EXPECT_EQ(found, expected);
  }
}

TEST_F(DwiSeries, AStageThatIsBegunElsewhereReplacesTheFirstOne) {
  auto whole = open({"--mask", "mask.nii", "--grad-dev", "grad_dev.nii.gz"}, "dwi.nii.gz");
  auto series = begin(with_room_for_30, "dwi.nii.gz");
  series.input().begin(101, 128);
  ASSERT_TRUE(await_stage(*world, series.input()));
  const std::size_t width = series.floats_per_item();
  std::vector<float> found(27 * width), expected(27 * width), one(width);
  series.load({0, 101, 27}, found);
  whole.load({0, 101, 27}, expected);
  EXPECT_EQ(found, expected);
  EXPECT_THROW(series.load({0, 3, 1}, one), failure);
  series.input().begin(110, 128);  // is there
  EXPECT_TRUE(series.input().there());
  EXPECT_THROW(series.input().begin(0, 31), failure);
  world->barrier();
}

TEST_F(DwiSeries, DamageIsToldToEveryRankInStagesToo) {
  if (world->is_root()) {
    auto packed = testing::read_file(at("dwi.nii.gz"));
    packed[packed.size() - 6] ^= 1;
    write_file(at("crc.nii.gz"), packed);
  }
  world->barrier();
  expect_refused(with_room_for_30, exit_status::bad_data, {"crc.nii.gz", "damaged"}, "crc.nii.gz");
}

TEST_F(DwiSeries, ASignalToOneRankEndsTheWaitOnAll) {
  /// Never there.
  class slow_input : public staged_input {
    void begin(std::uint64_t, std::uint64_t) override {}
    bool there() override { return false; }
  } slow;
  for (int told = 0; told < world->size(); ++told) {
    const stop_signals signals;
    if (world->rank() == told) raise(SIGTERM);
    const auto start = std::chrono::steady_clock::now();
    if (told % 2 == 0) {
      EXPECT_FALSE(await_stage(*world, slow));
    } else {
      try {
        bring_stage(*world, slow);
        ADD_FAILURE() << "it is never there";
      } catch (const failure& f) {
        EXPECT_EQ(f.status, exit_status::resume_me);
      }
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
    world->barrier();
  }
}

TEST_F(DwiSeries, AMissingOptionIsAUsageFailure) {
  arguments args;
  try {
    dwi_series series(*world, args);
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
  EXPECT_EQ(p.at("dwi").at("path"), at("dwi.nii"));
  EXPECT_EQ(p.at("dwi").at("bytes"), 352 + 4 * voxel_count * volumes);
  EXPECT_EQ(p.at("image").at("sform_code"), 1);
}

TEST_F(DwiSeries, ConstantsHoldTheGradientTable) {
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

/// On ranks other than 0: nothing but failures.
class failures_only : public ::testing::EmptyTestEventListener {
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", world->rank(), result.file_name(), result.line_number(),
                 result.message());
  }
};

}  // namespace
}  // namespace voxherd

int main(int argc, char** argv) {
  voxherd::session s(&argc, &argv);
  voxherd::world = &s;
  ::testing::InitGoogleTest(&argc, argv);
  if (!s.is_root()) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new voxherd::failures_only);
  }
  const int failed = RUN_ALL_TESTS();
  int any_failed = 0;
  MPI_Allreduce(&failed, &any_failed, 1, MPI_INT, MPI_MAX, s.world());
  return any_failed;
}
