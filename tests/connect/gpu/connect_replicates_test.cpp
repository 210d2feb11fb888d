#include "tests/connect/support/connect_case.hpp"
#include "tests/connect/support/replicates.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/gpu_test.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;

class ReplicatesCuda : public testing::TestWithParam<connect_scheme> {
 protected:
  void SetUp() override { skip_without_gpu(); }
};

TEST_P(ReplicatesCuda, AreLikeThroughTheHost) {
  expect_replicates_like_through_the_host(first_gpu, GetParam().settings());
}

INSTANTIATE_TEST_SUITE_P(All, ReplicatesCuda, testing::ValuesIn(connect_schemes));

}  // namespace
