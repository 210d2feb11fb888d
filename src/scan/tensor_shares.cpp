#include "src/scan/tensor_shares.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/failure.hpp"
#include "core/pieces.hpp"
#include "kernels/geodesic/quartic_estimator.hpp"
#include "kernels/tensor/tensor_estimator.hpp"
#include "mpi/run/staged_input.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t batch_items = 32768;  // as in a run; enough for a GPU

/// First item of a rank's share; for rank s.size(), the end.
std::uint64_t share_begin(const session& s, std::uint64_t items, int rank) {
  return items * static_cast<std::uint64_t>(rank) / static_cast<std::uint64_t>(s.size());
}

/// This rank's part of the items.
struct item_share {
  std::uint64_t first = 0, count = 0;
};

item_share rank_share(const session& s, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t own = share_begin(s, last - first, s.rank());
  return {first + own, share_begin(s, last - first, s.rank() + 1) - own};
}

/// Fits a share, one batch after another: fit(count, rows, first row of the share). A batch that does not fit in device
/// memory is fitted in pieces.
template <class Solver, class Fit>
void fit_share(dwi_series& dwi, const item_share& share, Solver& solver, Fit fit) {
  std::vector<float> rows(std::min(batch_items, share.count) * dwi.floats_per_item());
  pieces_that_fit pieces;
  for (std::uint64_t at = 0; at < share.count; at += batch_items) {
    const batch part{0, share.first + at, std::min(batch_items, share.count - at)};
    dwi.load(part, rows);
    pieces.run(
        part.item_count,
        [&](std::uint64_t first, std::uint64_t count) {
          fit(count, rows.data() + first * dwi.floats_per_item(), at + first);
        },
        [&] { solver.release_memory(); });
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
    solver = make_voxelwise_solver(d, tensor_estimator(dwi.gradients(), settings));
  });
  return fit_stages(s, dwi, [&](const item_share& share) {
    fitted_tensors own{std::vector<float>(6 * share.count), {}, std::vector<std::uint8_t>(share.count)};
    fit_share(dwi, share, *solver, [&](std::size_t items, const float* rows, std::size_t at) {
      tensor_solver::outputs out;
      out.set<"tensor">(own.tensor.data() + 6 * at);
      out.set<"status">(own.status.data() + at);
      solver->fit(items, rows, out);
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
    solver = make_voxelwise_solver(d, geodesic::quartic_estimator(dwi.gradients(), {}));
  });
  std::vector<float> mixed;
  fitted_tensors all = fit_stages(s, dwi, [&](const item_share& share) {
    fitted_tensors own{std::vector<float>(6 * share.count), std::vector<float>(15 * share.count),
                       std::vector<std::uint8_t>(share.count)};
    const std::size_t before = mixed.size();
    mixed.resize(before + share.count);
    fit_share(dwi, share, *solver, [&](std::size_t items, const float* rows, std::size_t at) {
      geodesic::quartic_solver::outputs out;
      out.set<"tensor">(own.tensor.data() + 6 * at);
      out.set<"quartic">(own.quartic.data() + geodesic::quartic_size * at);
      out.set<"mixed">(mixed.data() + before + at);
      out.set<"status">(own.status.data() + at);
      solver->fit(items, rows, out);
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
