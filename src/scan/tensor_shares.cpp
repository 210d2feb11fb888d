#include "src/scan/tensor_shares.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/failure.hpp"
#include "kernels/geodesic/finsler_fit.hpp"
#include "kernels/tensor/tensor.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t batch_items = 32768;  // as in a run; enough for a GPU

/// First item of a rank's share; for rank s.size(), the end.
std::uint64_t share_begin(const session& s, std::uint64_t items, int rank) {
  return items * static_cast<std::uint64_t>(rank) / static_cast<std::uint64_t>(s.size());
}

/// Buffers for the solver's other outputs, which are not used.
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

/// This rank's part of the items.
struct item_share {
  std::uint64_t first = 0, count = 0;
};

item_share rank_share(const session& s, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t own = share_begin(s, last - first, s.rank());
  return {first + own, share_begin(s, last - first, s.rank() + 1) - own};
}

/// Fits a share batch by batch: fit(count, rows, first row of the share).
template <class Fit>
void fit_share(dwi_series& dwi, const item_share& share, Fit fit) {
  std::vector<float> rows(std::min(batch_items, share.count) * dwi.floats_per_item());
  for (std::uint64_t at = 0; at < share.count; at += batch_items) {
    const batch part{0, share.first + at, std::min(batch_items, share.count - at)};
    dwi.load(part, rows);
    fit(part.item_count, rows.data(), at);
  }
}

template <class T>
void append(std::vector<T>& all, std::vector<T> more) {
  if (all.empty()) {
    all = std::move(more);
  } else {
    all.insert(all.end(), more.begin(), more.end());
  }
}

/// Fits the shares of all ranks, stage by stage of the input; own(share) fits this rank's.
template <class Own>
fitted_tensors fit_stages(const session& s, dwi_series& dwi, Own own) {
  fitted_tensors all;
  for_each_stage(s, dwi, dwi.item_voxels().size(), [&](std::uint64_t first, std::uint64_t last) {
    fitted_tensors part;
    s.agree([&] { part = own(rank_share(s, first, last)); });
    append(all.tensor, s.all_gather(part.tensor));
    append(all.quartic, s.all_gather(part.quartic));
    append(all.status, s.all_gather(part.status));
  });
  return all;
}

}  // namespace

fitted_tensors fit_tensors(const session& s, dwi_series& dwi, const device& d) {
  if (!determines_tensor(dwi.gradients()))
    throw failure(exit_status::bad_data,
                  "--bvecs: the gradients do not determine a tensor (it needs b=0 and at least six directions that are "
                  "not all in one plane or on one cone); use another series");
  std::unique_ptr<tensor_solver> solver;  // created while a compressed series is inflated
  s.agree([&] {
    use_device(d);
    tensor_settings settings;
    settings.gradient_deviation = dwi.has_gradient_deviation();
    solver = make_tensor_solver(d, dwi.gradients(), settings);
  });
  return fit_stages(s, dwi, [&](const item_share& share) {
    fitted_tensors own{std::vector<float>(6 * share.count), {}, std::vector<std::uint8_t>(share.count)};
    unused_outputs rest(std::min(batch_items, share.count));
    fit_share(dwi, share, [&](std::size_t items, const float* rows, std::size_t at) {
      solver->fit(items, rows, rest.with(own.tensor.data() + 6 * at, own.status.data() + at));
    });
    return own;
  });
}

fitted_tensors fit_norms(const session& s, dwi_series& dwi, const device& d) {
  if (dwi.has_gradient_deviation())
    throw failure(exit_status::usage, "--grad-dev: not supported with --form finsler4; leave it out");
  if (!geodesic::determines_quartic(dwi.gradients(), {}))
    throw failure(
        exit_status::bad_data,
        "--bvecs: the gradients do not determine a fourth-order norm (it needs b=0 and at least 15 directions "
        "of the largest b); use another series, or --form hamiltonian");
  std::unique_ptr<geodesic::quartic_solver> solver;
  s.agree([&] {
    use_device(d);
    solver = geodesic::make_quartic_solver(d, dwi.gradients(), {});
  });
  std::vector<float> mixed;
  fitted_tensors all = fit_stages(s, dwi, [&](const item_share& share) {
    fitted_tensors own{std::vector<float>(6 * share.count), std::vector<float>(15 * share.count),
                       std::vector<std::uint8_t>(share.count)};
    const std::size_t before = mixed.size();
    mixed.resize(before + share.count);
    fit_share(dwi, share, [&](std::size_t items, const float* rows, std::size_t at) {
      solver->fit(items, rows,
                  {own.tensor.data() + 6 * at, own.quartic.data() + 15 * at, mixed.data() + before + at,
                   own.status.data() + at});
    });
    return own;
  });
  mixed = s.all_gather(mixed);
  const auto repaired = std::count_if(mixed.begin(), mixed.end(), [](float part) { return part > 0; });
  spdlog::info("fourth-order norms: {} of {} voxels were made convex by adding part of their tensor's norm", repaired,
               mixed.size());
  return all;
}

}  // namespace voxherd
