#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/device/cuda_check.cuh"
#include "kernels/device/transpose.cuh"
#include "kernels/tensor/tensor_design.hpp"

namespace voxherd {

namespace {

__global__ void fit_kernel(tensor_fitter fitter, const float* columns, std::size_t count, tensor_outputs out) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) store(fitter(signal_row{columns + i, count}), i, out);
}

/// One float block for all outputs, so that their place on the device is one allocation.
constexpr std::size_t floats_per_voxel = 6 + 1 + 4 + 9 + 3 + 1;

tensor_outputs places_in(float* floats, std::uint8_t* status, std::size_t count) {
  tensor_outputs o{};
  const auto take = [&](std::size_t width) {
    float* const place = floats;
    floats += width * count;
    return place;
  };
  o.tensor = take(6), o.S0 = take(1);
  o.FA = take(1), o.MD = take(1), o.AD = take(1), o.RD = take(1);
  o.V1 = take(3), o.V2 = take(3), o.V3 = take(3);
  o.L1 = take(1), o.L2 = take(1), o.L3 = take(1);
  o.residual = take(1), o.status = status;
  return o;
}

tensor_outputs advanced(const tensor_outputs& o, std::size_t items) {
  return {o.tensor + 6 * items, o.S0 + items,     o.FA + items,       o.MD + items,     o.AD + items,
          o.RD + items,         o.V1 + 3 * items, o.V2 + 3 * items,   o.V3 + 3 * items, o.L1 + items,
          o.L2 + items,         o.L3 + items,     o.residual + items, o.status + items};
}

class cuda_solver final : public tensor_solver {
 public:
  cuda_solver(const gradient_table& g, const tensor_settings& s)
      : settings_(s), row_floats_(g.size() + (s.gradient_deviation ? 9 : 0)) {
    const tensor_design_table table(g);
    q_ = device_buffer<double>(table.q.size());
    VOXHERD_CUDA_CHECK(cudaMemcpy(q_.data(), table.q.data(), table.q.size() * sizeof(double), cudaMemcpyHostToDevice));
    design_ = {q_.data(), g.size(), table.largest_b_s_per_mm2};
  }

  void fit(std::size_t count, const float* rows, const tensor_outputs& out) override {
    for (std::size_t done = 0; done < count;) {
      const std::size_t piece = std::min(count - done, piece_limit_);
      try {
        reserve(piece);
      } catch (const device_out_of_memory&) {
        if (piece == 1) throw;
        release();
        piece_limit_ = piece / 2;
        continue;
      }
      fit_piece(piece, rows + done * row_floats_, advanced(out, done));
      done += piece;
    }
  }

 private:
  void reserve(std::size_t count) {
    rows_.reserve(count * row_floats_);
    columns_.reserve(count * row_floats_);
    floats_.reserve(count * floats_per_voxel);
    status_.reserve(count);
  }

  void release() {
    rows_ = {}, columns_ = {}, floats_ = {};
    status_ = {};
  }

  void fit_piece(std::size_t count, const float* rows, const tensor_outputs& out) {
    static_assert(std::is_trivially_copyable_v<tensor_fitter>);
    constexpr unsigned block = 128;
    VOXHERD_CUDA_CHECK(
        cudaMemcpyAsync(rows_.data(), rows, count * row_floats_ * sizeof(float), cudaMemcpyHostToDevice, stream_));
    launch_transpose(rows_.data(), columns_.data(), count, row_floats_, stream_);
    const tensor_outputs there = places_in(floats_.data(), status_.data(), count);
    fit_kernel<<<static_cast<unsigned>((count + block - 1) / block), block, 0, stream_>>>(
        tensor_fitter(design_, settings_), columns_.data(), count, there);
    VOXHERD_CUDA_CHECK(cudaGetLastError());
    fetch(count, there, out);
    stream_.wait();
  }

  void fetch(std::size_t count, const tensor_outputs& from, const tensor_outputs& to) {
    const auto copy = [&](float* target, const float* source, std::size_t width) {
      VOXHERD_CUDA_CHECK(
          cudaMemcpyAsync(target, source, width * count * sizeof(float), cudaMemcpyDeviceToHost, stream_));
    };
    copy(to.tensor, from.tensor, 6);
    copy(to.V1, from.V1, 3), copy(to.V2, from.V2, 3), copy(to.V3, from.V3, 3);
    copy(to.S0, from.S0, 1), copy(to.residual, from.residual, 1);
    copy(to.FA, from.FA, 1), copy(to.MD, from.MD, 1), copy(to.AD, from.AD, 1), copy(to.RD, from.RD, 1);
    copy(to.L1, from.L1, 1), copy(to.L2, from.L2, 1), copy(to.L3, from.L3, 1);
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to.status, from.status, count, cudaMemcpyDeviceToHost, stream_));
  }

  tensor_settings settings_;
  tensor_design design_{};
  std::size_t row_floats_;
  std::size_t piece_limit_ = std::numeric_limits<std::size_t>::max();
  device_buffer<double> q_;
  device_buffer<float> rows_, columns_, floats_;
  device_buffer<std::uint8_t> status_;
  cuda_stream stream_;
};

}  // namespace

std::unique_ptr<tensor_solver> make_tensor_solver_cuda(const device&, const gradient_table& g,
                                                       const tensor_settings& s) {
  return std::make_unique<cuda_solver>(g, s);
}

}  // namespace voxherd
