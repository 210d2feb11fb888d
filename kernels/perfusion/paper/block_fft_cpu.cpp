#include "kernels/perfusion/cpu_lanes.hpp"
#include "kernels/perfusion/lane_fit.hpp"
#include "kernels/perfusion/paper/block_fft_fit.hpp"
#include "kernels/perfusion/paper/block_fft_model.hpp"

namespace voxherd::perfusion {

namespace {

/// A thread as a team of one, whose numbers are SIMD registers with one voxel per lane.
template <int Q, int P>
class shaped_lanes final : public block_fft_lanes {
 public:
  shaped_lanes(const curves_view<double>& curves, const block_fft_plan& plan) : model_(curves, plan.view()) {}
  double_lanes cost(const double_lanes (&p)[washout<2>::count], voxel_samples y) override {
    return model_.cost(thread_team{}, memory_, p, y);
  }

 private:
  using model = block_fft_model<double_lanes, Q, P, discretisation_kind::paper>;
  model model_;
  typename model::memory memory_;
};

/// One simplex for all shapes.
struct any_shape {
  block_fft_lanes& lanes;
  double_lanes cost(const double_lanes (&p)[washout<2>::count], voxel_samples y) const { return lanes.cost(p, y); }
};

}  // namespace

std::unique_ptr<block_fft_lanes> make_block_fft_lanes(const curves_view<double>& curves, const block_fft_plan& plan) {
#define VOXHERD_SHAPE(q, p) \
  if (plan.shape() == block_fft_shape{q, p}) return std::make_unique<shaped_lanes<q, p>>(curves, plan);
  VOXHERD_BLOCK_FFT_SHAPES(VOXHERD_SHAPE)
#undef VOXHERD_SHAPE
  return nullptr;  // a plan has one of the shapes
}

void fit_by_block_fft(const curves_view<double>& curves, const block_fft_plan& plan,
                      const fit_limits<double, washout<2>::count>& limits, const fit_arrays& arrays) {
  const auto lanes = make_block_fft_lanes(curves, plan);
  cpu_lanes<double_lanes, washout<2>::count> own(arrays);
  fit_on_lanes(simplex<double_lanes, washout<2>::count>(limits), any_shape{*lanes}, own);
}

}  // namespace voxherd::perfusion
