// What rank 0 reads of the masks, seeds and the space of a run, and what the other ranks receive of it. Read by this
// process alone, without MPI.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "core/failure.hpp"
#include "mpi/comm/value_bytes.hpp"
#include "src/analyses/track/read_inputs.hpp"
#include "src/analyses/track/tracts.hpp"
#include "src/io/nifti/nifti.hpp"
#include "tests/io/support/crafted_nifti.hpp"
#include "tests/support/scratch_folder.hpp"

namespace voxherd {
namespace {

using testing::crafted_nifti;
using testing::scratch_folder;
using testing::write_file;
namespace mark = track::mark;

/// What the other ranks have of rank 0's value.
template <class T>
T receive(T& value) {
  value_writer sent;
  put_value(sent, value);
  value_reader received(sent.small());
  T copy{};
  put_value(received, copy);
  for (std::size_t i = 0; i < sent.large().size(); ++i)
    std::copy(sent.large()[i].begin(), sent.large()[i].end(), received.large()[i].begin());
  return copy;
}

/// Masks in an image of 6 x 3 x 2 voxels, of which the first 30 have samples.
class TrackContents : public ::testing::Test {
 protected:
  static constexpr std::size_t voxel_count = 36;

  void SetUp() override {
    request_.per_seed = 10;
    request_.seed_image = {mask("seed", {7, 8})};
    samples_.grid = fsl_grid(read_nifti_header(request_.seed_image.front()));
    for (std::uint64_t v = 0; v < 30; ++v) samples_.voxels.push_back(v);
    samples_.fibres = 2;
    samples_.samples = 50;
  }

  /// The first axis is as in FSL's storage, so that voxels have the same numbers in the file and in memory.
  std::string mask(const std::string& name, const std::set<std::size_t>& voxels) const {
    std::vector<std::uint8_t> inside(voxel_count);
    for (const std::size_t v : voxels) inside[v] = 1;
    return image(name, {6, 3, 2}, 2, inside);
  }

  std::string image(const std::string& name, const std::vector<std::int64_t>& size, double mm,
                    const std::vector<std::uint8_t>& values) const {
    crafted_nifti file;
    file.dimensions(size).datatype(2, 8).sform({-mm, 0, 0, 10, 0, mm, 0, -20, 0, 0, mm, -30}).append(values);
    for (std::size_t d = 1; d < 4; ++d) file.pixdim(d, mm);
    const std::string path = folder_ / (name + ".nii");
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    write_file(path, file.content());
    return path;
  }

  /// A triangle across the first axis, in FreeSurfer's text.
  std::string triangle() const {
    std::ofstream(folder_ / "gate.asc") << "#!ascii surface\n3 1\n8 -20 -30 0\n8 -16 -30 0\n8 -20 -28 0\n0 1 2 0\n";
    return folder_ / "gate.asc";
  }

  track_space space() const {
    warp_pair warps;
    return track_space(read_space_contents(request_, samples_.grid, warps));
  }

  track_contents read() const { return read_track_contents(with_mask_files(request_), {}, samples_, space()); }

  exit_status status() const {
    try {
      (void)read();
    } catch (const failure& f) {
      return f.status;
    }
    return exit_status::complete;
  }

  static std::vector<std::uint32_t> voxels_of(const track_draw& draw) {
    std::vector<std::uint32_t> voxels;
    for (const track::seed& seed : draw.seeds) voxels.push_back(seed.index);
    return voxels;
  }

  scratch_folder folder_;
  track_request request_;
  sample_contents samples_;
};

TEST_F(TrackContents, OfAPlainRunAreItsDrawAndTheMarksOfItsMasks) {
  request_.excludes = {mask("avoid", {10})};
  request_.includes = {mask("left", {9}), mask("right", {9, 12})};
  const track_contents all = read();
  ASSERT_EQ(all.drawn.draws.size(), 1u);
  const track_draw& draw = all.drawn.draws.front();
  EXPECT_EQ(voxels_of(draw), (std::vector<std::uint32_t>{7, 8}));
  EXPECT_EQ(draw.include_names, (std::vector<std::string>{"left.nii", "right.nii"}));
  EXPECT_TRUE(draw.how.exclude);
  EXPECT_EQ(draw.how.includes, 2u);
  EXPECT_EQ(draw.how.samples, 50);
  EXPECT_EQ(draw.plan.streamlines(), 20u);
  EXPECT_TRUE(draw.marked.empty());
  const auto marks = [&](std::size_t v) { return all.places.voxels[v].marks; };
  EXPECT_EQ(marks(8), mark::inside);
  EXPECT_EQ(marks(9), mark::inside | 3u << mark::first_include);
  EXPECT_EQ(marks(10), mark::inside | mark::exclude);
  EXPECT_EQ(marks(12), mark::inside | 2u << mark::first_include);
  EXPECT_EQ(marks(30), 0u);
  EXPECT_EQ(all.places.mask_voxels, 30u);
  EXPECT_EQ(all.provenance.at("seed-image").at("voxels"), 2);
  EXPECT_EQ(all.provenance.at("include 2").at("voxels"), 2);
  EXPECT_EQ(all.configuration.at("samples-per-seed"), 10);
}

TEST_F(TrackContents, HaveTheTargetsOfEachPlace) {
  request_.targets = {mask("one", {9, 10}), mask("two", {10})};
  const track_masks masks = read().masks;
  EXPECT_EQ(masks.target_names, (std::vector<std::string>{"one", "two"}));
  ASSERT_GT(masks.target_begin.size(), 11u);  // places of voxels with samples have the voxels' numbers
  EXPECT_EQ(masks.target_begin[9], 0u);
  EXPECT_EQ(masks.target_begin[10], 1u);
  EXPECT_EQ(masks.target_begin[11], 3u);
  EXPECT_EQ(masks.targets, (std::vector<std::uint32_t>{0, 0, 1}));
}

TEST_F(TrackContents, NumberTheRegionsOfSeveralMasks) {
  request_.connectome = {mask("a", {3}), mask("b", {20, 21})};
  request_.seed_image.clear();
  const track_contents seeds_in_regions = read();
  EXPECT_EQ(seeds_in_regions.drawn.labels, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(seeds_in_regions.places.voxels[21].marks, mark::inside | 2u << mark::region);
  EXPECT_TRUE(seeds_in_regions.masks.regions.empty());
  request_.seed_image = {mask("seed", {7, 8})};
  const track_contents counted = read();
  EXPECT_TRUE(counted.drawn.labels.empty());
  EXPECT_EQ(counted.masks.regions.labels, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(counted.masks.regions.column[21], 1);
  EXPECT_EQ(counted.places.voxels[21].marks, mark::inside);
}

TEST_F(TrackContents, AreRefusedWithTheReason) {
  request_.seed_image = {mask("seed", {33})};  // without samples
  EXPECT_EQ(status(), exit_status::bad_data);
  request_.seed_image = {folder_ / "missing.nii"};
  EXPECT_EQ(status(), exit_status::missing_input);
  request_.seed_image = {mask("seed", {7})};
  request_.start_fibre = 3;
  EXPECT_EQ(status(), exit_status::usage);
}

TEST_F(TrackContents, OfTractsAreTheMasksOfEachDraw) {
  (void)mask("tracts/af/seed", {1});
  (void)mask("tracts/af/target", {4, 5});
  (void)mask("tracts/af/exclude", {20});
  (void)mask("tracts/cst/seed", {2, 3});
  std::ofstream(folder_ / "tracts/af/invert").close();
  request_.seed_image.clear();
  request_.tracts = folder_ / "tracts";
  request_.tract_samples = 7;
  const tract_plan plan = plan_tracts(request_);
  const track_contents all = read_tract_contents(plan, samples_, space());
  ASSERT_EQ(all.drawn.tracts.size(), 2u);
  EXPECT_EQ(all.drawn.tracts[1].name, "cst");
  ASSERT_EQ(all.drawn.draws.size(), 3u);
  const track_draw &there = all.drawn.draws[0], &back = all.drawn.draws[1], &other = all.drawn.draws[2];
  EXPECT_EQ(voxels_of(there), std::vector<std::uint32_t>{1});
  EXPECT_EQ(there.marked, (std::vector<std::uint32_t>{4, 5, 20}));
  EXPECT_EQ(there.marks,
            (std::vector<std::uint32_t>{1u << mark::first_include, 1u << mark::first_include, mark::exclude}));
  EXPECT_EQ(voxels_of(back), (std::vector<std::uint32_t>{4, 5}));
  EXPECT_EQ(back.marked, (std::vector<std::uint32_t>{1, 20}));
  EXPECT_EQ(other.tract, 1u);
  EXPECT_TRUE(other.marked.empty());
  for (const track::voxel_info& v : all.places.voxels) EXPECT_EQ(v.marks & ~mark::inside, 0u);
  EXPECT_EQ(all.provenance.at("tracts").at("af").at("voxels"),
            nlohmann::json({{"seed-image", 1}, {"include", 2}, {"exclude", 1}}));
  EXPECT_EQ(all.configuration.at("tracts"), nlohmann::json({{"af", 7}, {"cst", 7}}));
}

TEST_F(TrackContents, OfASeparateSpaceAreOfItsImage) {
  EXPECT_FALSE(space().is_separate);
  EXPECT_TRUE(space().provenance.empty());
  request_.reference = image("reference", {3, 2, 1}, 4, std::vector<std::uint8_t>(6, 1));
  const track_space coarse = space();
  EXPECT_TRUE(coarse.is_separate);
  EXPECT_FALSE(coarse.is_warp());
  EXPECT_EQ(coarse.grid.voxel_count(), 6u);
  EXPECT_TRUE(coarse.provenance.at("seedref").contains("fingerprint"));
  const track_places places = read().places;
  EXPECT_EQ(places.voxels.size(), 6u);
  EXPECT_EQ(places.sample_voxels.size(), voxel_count);
  EXPECT_EQ(places.mask_voxels, 30u);
}

TEST_F(TrackContents, ReachTheOtherRanks) {
  request_.includes = {triangle(), mask("left", {9})};
  request_.targets = {mask("one", {9, 10})};
  request_.closest_vertex = true;
  track_contents all = read();
  const track_contents received = receive(all);
  const track::surface_input mesh = all.masks.surfaces.input(), same = received.masks.surfaces.input();
  ASSERT_EQ(mesh.triangles.size(), 1u);
  EXPECT_FALSE(mesh.cell_triangles.empty());
  EXPECT_EQ(same.triangles.size(), 1u);
  EXPECT_EQ(same.cell_triangles.size(), mesh.cell_triangles.size());
  EXPECT_TRUE(std::equal(same.vertices.begin(), same.vertices.end(), mesh.vertices.begin(), mesh.vertices.end()));
  EXPECT_TRUE(std::equal(same.cubes.begin(), same.cubes.end(), mesh.cubes.begin(), mesh.cubes.end()));
  EXPECT_EQ(same.uses.front().marks, 1u << mark::first_include);
  EXPECT_EQ(same.corner_reach[0], mesh.corner_reach[0]);
  EXPECT_TRUE(same.one_corner);
  EXPECT_EQ(received.masks.surfaces.find(folder_ / "gate.asc"), 0u);
  EXPECT_EQ(received.masks.targets, all.masks.targets);
  EXPECT_EQ(received.places.place_voxels, all.places.place_voxels);
  EXPECT_EQ(received.places.voxels[9].marks, all.places.voxels[9].marks);
  EXPECT_EQ(voxels_of(received.drawn.draws.front()), voxels_of(all.drawn.draws.front()));
  EXPECT_EQ(received.drawn.draws.front().how.includes, 2u);
  EXPECT_EQ(received.provenance, all.provenance);
  EXPECT_EQ(received.configuration, all.configuration);
}

}  // namespace
}  // namespace voxherd
