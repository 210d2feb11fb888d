#include "src/batch/cohort/child_pool.hpp"

#include <gtest/gtest.h>

namespace voxherd {
namespace {

using names = std::vector<std::string>;

TEST(GpuNames, AreTheEntriesOfTheListUpToTheFirstThatNamesNone) {
  EXPECT_EQ(name_gpus("3,1", 8), (names{"3", "1"}));
  EXPECT_EQ(name_gpus("GPU-8a,MIG-7b", 8), (names{"GPU-8a", "MIG-7b"}));
  EXPECT_EQ(name_gpus("0,-1,1", 8), (names{"0"}));
  EXPECT_EQ(name_gpus("", 8), names{});
  EXPECT_EQ(name_gpus("NoDevFiles", 8), names{});
}

TEST(GpuNames, WithoutAListAreTheNumbersOfAllGpus) { EXPECT_EQ(name_gpus(std::nullopt, 3), (names{"0", "1", "2"})); }

TEST(ComputePlaces, OfGpusShareTheCores) {
  const auto places = make_gpu_places(2, 3, 32);
  ASSERT_EQ(places.size(), 6u);
  std::size_t on_first = 0;
  for (const compute_place& place : places) {
    EXPECT_EQ(place.threads, 5);
    on_first += place.gpu == 0u ? 1 : 0;
  }
  EXPECT_EQ(on_first, 3u);
  EXPECT_EQ(make_gpu_places(8, 2, 4).front().threads, 1);
}

TEST(ComputePlaces, WithoutGpusAreOneForEachEightCoresUnlessTheirCountIsGiven) {
  EXPECT_EQ(make_cpu_places(0, 64).size(), 8u);
  EXPECT_EQ(make_cpu_places(0, 2).size(), 1u);
  const auto places = make_cpu_places(3, 64);
  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(places.front().gpu, std::nullopt);
  EXPECT_EQ(places.front().threads, 21);
}

TEST(ChosenPlace, IsOnTheGpuWithTheFewestSubjects) {
  const std::vector<compute_place> places{{0, 1}, {0, 1}, {1, 1}, {1, 1}};
  EXPECT_EQ(choose_place(places, {false, false, false, false}), 0u);
  EXPECT_EQ(choose_place(places, {true, false, false, false}), 2u);
  EXPECT_EQ(choose_place(places, {true, false, true, false}), 1u);
  EXPECT_EQ(choose_place(places, {false, false, true, true}), 0u);
  EXPECT_EQ(choose_place(places, {true, true, true, true}), std::nullopt);
}

TEST(OpeningFractions, KeepTheSubjectsOfAGpuApart) {
  EXPECT_EQ(opening_fractions(make_gpu_places(2, 2, 8)), (std::vector<double>{0, 0, 0.5, 0.5}));
  EXPECT_EQ(opening_fractions(make_gpu_places(1, 4, 8)), (std::vector<double>{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(opening_fractions(make_cpu_places(3, 8)), (std::vector<double>{0, 0, 0}));
}

}  // namespace
}  // namespace voxherd
