#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "kernels/portable/symmetric_eigen3.hpp"
#include "kernels/tensor_field/field.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/tensor_file.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::tensor_field;

const std::string peer = std::string(VOXHERD_DATA) + "/philips_32dir_b1000/ref_mrtrix3/";

/// The tensors of a brain fitted by MRtrix3, in MRtrix3's mask.
class GeodesicFieldOfABrain : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(peer + "dt_wls_iter2.nii.gz")) GTEST_SKIP() << "no " << peer;
    tensor_volume v = read_tensor_file(peer + "dt_wls_iter2.nii.gz", tensor_origin::mrtrix);
    const auto mask = read_volume(read_nifti_header(peer + "brain_mask.nii.gz"));
    image_.size = v.grid.size;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) image_.axes_mm[3 * i + j] = v.grid.voxel_to_world[4 * i + j];
    image_.tensor = v.tensor;
    for (std::size_t i = 0; i < mask.size(); ++i) image_.inside.push_back(mask[i] > 0 && v.inside[i]);
  }

  eigen_system3<double> eigen(const float* t) const {
    return symmetric_eigen3<double>(t[0], t[1], t[2], t[3], t[4], t[5]);
  }

  const device two_threads_{backend::cpu, 2, 0};
  tensor_image image_;
};

TEST_F(GeodesicFieldOfABrain, HasTheAnisotropyOfMrtrix) {
  const auto expected = read_volume(read_nifti_header(peer + "fa.nii.gz"));
  const preparation how;

  const auto f = make_field(two_threads_, image_, {}, how, field_kind::tensor, false);

  const auto facts = host_facts(*f);
  std::size_t sound = 0, not_positive = 0;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (!image_.inside[i]) continue;
    const auto e = eigen(&image_.tensor[6 * i]);
    not_positive += e.value[2] <= 0;
    if (e.value[2] < 1.0001 * how.min_eigenvalue * e.value[0]) continue;  // raised: the anisotropy differs
    ++sound;
    ASSERT_NEAR(facts[i].FA, expected[i], 1e-6) << "voxel " << i;
  }
  EXPECT_EQ(f->repaired, not_positive);
  EXPECT_GT(not_positive, 1000u);
  EXPECT_GT(sound, 100000u);
}

TEST_F(GeodesicFieldOfABrain, IsPositiveDefiniteUnderEveryMetric) {
  for (const auto metric : {metric_kind::inverse, metric_kind::adjugate, metric_kind::power, metric_kind::jeong})
    for (const double smoothing : {0.0, 0.7}) {
      const auto f = make_field(two_threads_, image_, {}, {metric, 3, smoothing, 0.01}, field_kind::tensor, false);

      const auto values = host_values(*f);
      for (std::size_t i = 0; i < image_.inside.size(); ++i)
        ASSERT_GT(eigen(&values[8 * i]).value[2], 0) << "metric " << int(metric) << " voxel " << i;
    }
}

}  // namespace
