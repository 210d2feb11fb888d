#include "src/input/tensor_shares.hpp"

#include <algorithm>

#include "kernels/tensor/tensor.hpp"
#include "mpi/failure.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t batch_items = 32768;  // as a run's batches: what a GPU wants at once

/// First item of a rank's share; of one rank more, the end.
std::uint64_t share_begin(const session& s, std::uint64_t items, int rank) {
  return items * static_cast<std::uint64_t>(rank) / static_cast<std::uint64_t>(s.size());
}

/// Room for what the solver gives beside tensor and status.
class unused_outputs {
 public:
  explicit unused_outputs(std::size_t count) : stride_(3 * count), room_(12 * stride_) {}
  tensor_outputs with(float* tensor, std::uint8_t* status) {
    tensor_outputs out{};
    out.tensor = tensor;
    out.status = status;
    std::size_t next = 0;
    for (float** place : {&out.S0, &out.FA, &out.MD, &out.AD, &out.RD, &out.V1, &out.V2, &out.V3, &out.L1, &out.L2,
                          &out.L3, &out.residual})
      *place = room_.data() + stride_ * next++;
    return out;
  }

 private:
  std::size_t stride_;
  std::vector<float> room_;
};

/// Items [first, end).
fitted_tensors fit_share(dwi_series& dwi, const device& d, std::uint64_t first, std::uint64_t end) {
  const std::uint64_t count = end - first;
  fitted_tensors own{std::vector<float>(6 * count), std::vector<std::uint8_t>(count)};
  if (count == 0) return own;
  use_device(d);
  tensor_settings settings;
  settings.gradient_deviation = dwi.has_gradient_deviation();
  const auto solver = make_tensor_solver(d, dwi.gradients(), settings);
  const std::size_t most = std::min(batch_items, count);
  std::vector<float> rows(most * dwi.floats_per_item());
  unused_outputs rest(most);
  for (std::uint64_t at = 0; at < count; at += batch_items) {
    const batch items{0, first + at, std::min(batch_items, count - at)};
    dwi.load(items, rows);
    solver->fit(items.item_count, rows.data(), rest.with(own.tensor.data() + 6 * at, own.status.data() + at));
  }
  return own;
}

}  // namespace

fitted_tensors fit_tensors(const session& s, dwi_series& dwi, const device& d) {
  if (!determines_tensor(dwi.gradients()))
    throw failure(exit_status::bad_data,
                  "--bvecs: the gradients do not determine a tensor (it needs b=0 and at least six directions that are "
                  "not all on one plane or cone); use another series");
  const std::uint64_t items = dwi.item_voxels().size();
  fitted_tensors own;
  s.agree([&] { own = fit_share(dwi, d, share_begin(s, items, s.rank()), share_begin(s, items, s.rank() + 1)); });
  return {s.all_gather(own.tensor), s.all_gather(own.status)};
}

}  // namespace voxherd
