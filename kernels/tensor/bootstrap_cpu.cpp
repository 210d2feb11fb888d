#include <algorithm>
#include <vector>

#include "kernels/device/each_cpu.hpp"
#include "kernels/tensor/bootstrap.hpp"
#include "kernels/tensor/bootstrap_fitter.hpp"
#include "kernels/tensor/tensor_fitter.hpp"

namespace voxherd {

namespace {

using lane::double_lanes;

/// Voxels are stored in tiles of a register's width: number n of lane i of tile t at (t * numbers + n) * width + i.
class cpu_bootstrap final : public tensor_bootstrap {
 public:
  cpu_bootstrap(const device& d, const gradient_table& g, const bootstrap_settings& s,
                std::span<const std::uint64_t> voxels, std::span<const float> rows)
      : table_(g),
        refit_(table_.view(), s),
        threads_(d.threads),
        count_(voxels.size()),
        row_floats_(g.size() + (s.tensor.gradient_deviation ? 9 : 0)),
        tiles_((count_ + width - 1) / width),
        voxels_(tiles_ * width),
        residual_(tiles_ * row_floats_ * width),
        parameter_(tiles_ * 7 * width),
        tensor_(6 * count_),
        status_(count_) {
    std::copy(voxels.begin(), voxels.end(), voxels_.begin());
    const bootstrap_keeper keep(table_.view(), s.tensor);
    each_on_cpu(threads_, static_cast<std::uint32_t>(count_), [&](std::size_t i) {
      bootstrap_place to = place(i / width);
      to.residual += i % width;
      to.parameter += i % width;
      keep(signal_row{rows.data() + i * row_floats_, 1}.limited_to(row_floats_), to, tensor_.data() + 6 * i,
           status_.data() + i);
    });
  }

  std::size_t voxels() const override { return count_; }

  void fit(std::uint64_t replicate, float* tensor, std::uint8_t* status) override {
    std::copy(tensor_.begin(), tensor_.end(), tensor);
    std::copy(status_.begin(), status_.end(), status);
    if (replicate == 0) return;
    each_on_cpu(threads_, static_cast<std::uint32_t>(tiles_),
                [&](std::size_t tile) { fit_tile(tile, replicate, tensor, status); });
  }

  void set_image(const bootstrap_image& image) override {
    check_image(image, count_);
    data_.assign(image.data.begin(), image.data.end());
    place_.assign(image.place.begin(), image.place.end());
    std::copy(image.frame.begin(), image.frame.end(), frame_);
    fitted_.resize(6 * count_);
    outcome_.resize(count_);
  }

  std::uint64_t fit_image(std::uint64_t replicate, float* tensors) override {
    fit(replicate, fitted_.data(), outcome_.data());
    std::copy(data_.begin(), data_.end(), tensors);
    std::uint64_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i)
      kept += place_tensor(frame_, &fitted_[6 * i], outcome_[i], tensors + std::size_t{6} * place_[i]) ? 0 : 1;
    return kept;
  }

 private:
  static constexpr std::size_t width = double_lanes::size();

  bootstrap_place place(std::size_t tile) {
    return {residual_.data() + tile * row_floats_ * width, parameter_.data() + tile * 7 * width, width};
  }

  void fit_tile(std::size_t tile, std::uint64_t replicate, float* tensor, std::uint8_t* status) {
    double_lanes fitted[6];
    const auto good = refit_(place(tile), voxels_.data() + tile * width, replicate, fitted);
    const std::size_t first = tile * width, end = std::min(first + width, count_);
    for (std::size_t i = first; i < end; ++i) {
      if (status_[i] != static_cast<std::uint8_t>(voxel_status::fitted)) continue;
      const bool kept = good[i - first];
      if (!kept) status[i] = static_cast<std::uint8_t>(voxel_status::diverged);
      for (std::size_t c = 0; c < 6; ++c) tensor[6 * i + c] = kept ? static_cast<float>(fitted[c][i - first]) : 0.0f;
    }
  }

  tensor_design_table table_;
  bootstrap_refitter<double_lanes> refit_;
  int threads_;
  std::size_t count_, row_floats_, tiles_;
  std::vector<std::uint64_t> voxels_;
  std::vector<float> residual_;
  std::vector<double> parameter_;
  std::vector<float> tensor_;
  std::vector<std::uint8_t> status_;
  // Of set_image().
  std::vector<float> data_, fitted_;
  std::vector<std::uint32_t> place_;
  std::vector<std::uint8_t> outcome_;
  double frame_[9]{};
};

}  // namespace

std::unique_ptr<tensor_bootstrap> make_tensor_bootstrap_cpu(const device& d, const gradient_table& gradients,
                                                            const bootstrap_settings& settings,
                                                            std::span<const std::uint64_t> voxels,
                                                            std::span<const float> rows) {
  return std::make_unique<cpu_bootstrap>(d, gradients, settings, voxels, rows);
}

}  // namespace voxherd
