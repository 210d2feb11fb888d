#include "src/input/tensor_shares.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "kernels/geodesic/finsler_fit.hpp"
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

/// Fits this rank's share of the items, a batch at a time: fit(count, rows, first row of the share).
template <class Fit>
void fit_share(const session& s, dwi_series& dwi, Fit fit) {
  const std::uint64_t items = dwi.item_voxels().size();
  const std::uint64_t first = share_begin(s, items, s.rank()), count = share_begin(s, items, s.rank() + 1) - first;
  std::vector<float> rows(std::min(batch_items, count) * dwi.floats_per_item());
  for (std::uint64_t at = 0; at < count; at += batch_items) {
    const batch part{0, first + at, std::min(batch_items, count - at)};
    dwi.load(part, rows);
    fit(part.item_count, rows.data(), at);
  }
}

std::size_t share_size(const session& s, const dwi_series& dwi) {
  const std::uint64_t items = dwi.item_voxels().size();
  return share_begin(s, items, s.rank() + 1) - share_begin(s, items, s.rank());
}

fitted_tensors tensors_of_share(const session& s, dwi_series& dwi, const device& d) {
  const std::size_t count = share_size(s, dwi);
  fitted_tensors own{std::vector<float>(6 * count), {}, std::vector<std::uint8_t>(count)};
  use_device(d);
  tensor_settings settings;
  settings.gradient_deviation = dwi.has_gradient_deviation();
  const auto solver = make_tensor_solver(d, dwi.gradients(), settings);
  unused_outputs rest(std::min<std::size_t>(batch_items, count));
  fit_share(s, dwi, [&](std::size_t items, const float* rows, std::size_t at) {
    solver->fit(items, rows, rest.with(own.tensor.data() + 6 * at, own.status.data() + at));
  });
  return own;
}

fitted_tensors norms_of_share(const session& s, dwi_series& dwi, const device& d, std::vector<float>& mixed) {
  const std::size_t count = share_size(s, dwi);
  fitted_tensors own{std::vector<float>(6 * count), std::vector<float>(15 * count), std::vector<std::uint8_t>(count)};
  mixed.resize(count);
  use_device(d);
  const auto solver = geodesic::make_quartic_solver(d, dwi.gradients(), {});
  fit_share(s, dwi, [&](std::size_t items, const float* rows, std::size_t at) {
    solver->fit(items, rows,
                {own.tensor.data() + 6 * at, own.quartic.data() + 15 * at, mixed.data() + at, own.status.data() + at});
  });
  return own;
}

}  // namespace

fitted_tensors fit_tensors(const session& s, dwi_series& dwi, const device& d) {
  if (!determines_tensor(dwi.gradients()))
    throw failure(exit_status::bad_data,
                  "--bvecs: the gradients do not determine a tensor (it needs b=0 and at least six directions that are "
                  "not all on one plane or cone); use another series");
  fitted_tensors own;
  s.agree([&] { own = tensors_of_share(s, dwi, d); });
  return {s.all_gather(own.tensor), {}, s.all_gather(own.status)};
}

fitted_tensors fit_norms(const session& s, dwi_series& dwi, const device& d) {
  if (dwi.has_gradient_deviation())
    throw failure(exit_status::usage, "--grad-dev: --form finsler4 does not know it yet; leave it out");
  if (!geodesic::determines_quartic(dwi.gradients(), {}))
    throw failure(
        exit_status::bad_data,
        "--bvecs: the gradients do not determine a fourth-order norm (it needs b=0 and at least 15 directions "
        "of the largest b); use another series, or --form hamiltonian");
  fitted_tensors own;
  std::vector<float> mixed;
  s.agree([&] { own = norms_of_share(s, dwi, d, mixed); });
  mixed = s.all_gather(mixed);
  const auto repaired = std::count_if(mixed.begin(), mixed.end(), [](float part) { return part > 0; });
  spdlog::info("fourth-order norms: {} of {} voxels were made convex by a part of their tensor's norm", repaired,
               mixed.size());
  return {s.all_gather(own.tensor), s.all_gather(own.quartic), s.all_gather(own.status)};
}

}  // namespace voxherd
