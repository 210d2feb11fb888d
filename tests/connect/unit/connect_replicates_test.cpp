#include "tests/connect/support/connect_case.hpp"
#include "tests/connect/support/replicates.hpp"
#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;

class Replicates : public testing::TestWithParam<connect_scheme> {};

TEST_P(Replicates, AreLikeThroughTheHost) {
  expect_replicates_like_through_the_host(two_threads, GetParam().settings());
}

INSTANTIATE_TEST_SUITE_P(All, Replicates, testing::ValuesIn(connect_schemes));

TEST(ReplicatesImage, RefusesPlacesOutsideTheImage) {
  const replicate_case c(two_threads);
  const auto fits = c.bootstrap(two_threads);
  std::vector<std::uint32_t> places = c.places();
  places.back() = static_cast<std::uint32_t>(c.image.inside.size());
  EXPECT_THROW(fits->set_image({c.image.tensor, places, c.frame}), std::invalid_argument);
  places.pop_back();
  EXPECT_THROW(fits->set_image({c.image.tensor, places, c.frame}), std::invalid_argument);
}

}  // namespace
