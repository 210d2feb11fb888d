#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/device/cuda_check.cuh"
#include "kernels/device/transpose.cuh"
#include "kernels/geodesic/finsler_design.hpp"

namespace voxherd::geodesic {

namespace {

__global__ void fit_kernel(const quartic_fitter* fitter, const float* columns, std::size_t count, quartic_outputs out) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) store((*fitter)(signal_row{columns + i, count}), i, out);
}

class cuda_solver final : public quartic_solver {
 public:
  cuda_solver(const quartic_design_table& table, const quartic_settings& s)
      : measurements_(table.view().tensor.measurements),
        q_(table.tensor.q.size()),
        to_odf_(table.to_odf.size()),
        fitter_(1) {
    static_assert(std::is_trivially_copyable_v<quartic_fitter>);
    quartic_design design = table.view();
    send(q_, design.tensor.q);
    send(to_odf_, design.to_odf);
    design.tensor.q = q_.data();
    design.to_odf = to_odf_.data();
    const quartic_fitter fitter(design, table.projector, s);
    send(fitter_, &fitter);
  }

  void fit(std::size_t count, const float* rows, const quartic_outputs& out) override {
    for (std::size_t done = 0; done < count;) {
      const std::size_t piece = std::min(count - done, piece_limit_);
      try {
        reserve(piece);
      } catch (const device_out_of_memory&) {
        if (piece == 1) throw;
        rows_ = {}, columns_ = {}, floats_ = {};
        status_ = {};
        piece_limit_ = piece / 2;
        continue;
      }
      fit_piece(piece, rows + done * measurements_,
                {out.tensor + 6 * done, out.quartic + quartic_size * done, out.mixed + done, out.status + done});
      done += piece;
    }
  }

 private:
  static constexpr std::size_t floats_per_voxel = 6 + quartic_size + 1;

  template <class T>
  static void send(const device_buffer<T>& to, const T* from) {
    VOXHERD_CUDA_CHECK(cudaMemcpy(to.data(), from, to.size() * sizeof(T), cudaMemcpyHostToDevice));
  }

  void reserve(std::size_t count) {
    rows_.reserve(count * measurements_);
    columns_.reserve(count * measurements_);
    floats_.reserve(count * floats_per_voxel);
    status_.reserve(count);
  }

  void fit_piece(std::size_t count, const float* rows, const quartic_outputs& out) {
    constexpr unsigned block = 128;
    VOXHERD_CUDA_CHECK(
        cudaMemcpyAsync(rows_.data(), rows, count * measurements_ * sizeof(float), cudaMemcpyHostToDevice, stream_));
    launch_transpose(rows_.data(), columns_.data(), count, measurements_, stream_);
    float* const floats = floats_.data();
    const quartic_outputs there{floats, floats + 6 * count, floats + (6 + quartic_size) * count, status_.data()};
    fit_kernel<<<static_cast<unsigned>((count + block - 1) / block), block, 0, stream_>>>(
        fitter_.data(), columns_.data(), count, there);
    VOXHERD_CUDA_CHECK(cudaGetLastError());
    const auto fetch = [&](auto* to, const auto* from, std::size_t width) {
      VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to, from, width * count * sizeof(*to), cudaMemcpyDeviceToHost, stream_));
    };
    fetch(out.tensor, there.tensor, 6);
    fetch(out.quartic, there.quartic, quartic_size);
    fetch(out.mixed, there.mixed, 1);
    fetch(out.status, there.status, 1);
    stream_.wait();
  }

  std::size_t measurements_;
  std::size_t piece_limit_ = std::numeric_limits<std::size_t>::max();
  device_buffer<double> q_, to_odf_;
  device_buffer<quartic_fitter> fitter_;
  device_buffer<float> rows_, columns_, floats_;
  device_buffer<std::uint8_t> status_;
  cuda_stream stream_;
};

}  // namespace

std::unique_ptr<quartic_solver> make_quartic_solver_cuda(const quartic_design_table& table, const quartic_settings& s) {
  return std::make_unique<cuda_solver>(table, s);
}

}  // namespace voxherd::geodesic
