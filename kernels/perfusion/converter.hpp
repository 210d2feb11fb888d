#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "kernels/perfusion/conversion.hpp"
#include "kernels/perfusion/signal_model.hpp"
#include "kernels/perfusion/t1_fitter.hpp"
#include "kernels/portable/function.hpp"
#include "kernels/portable/output_arrays.hpp"
#include "kernels/portable/voxel_status.hpp"

namespace voxherd::perfusion {

/// Results of a voxel's conversion other than the concentrations.
struct converted {
  voxel_status status = voxel_status::fitted;
  double t1_s = 0;    ///< before the agent; 0 if none is used
  double S0 = 0;      ///< 0 for concentrations
  int saturated = 0;  ///< fitted samples limited to voxel_signal_model::max_saturation
};

/// Converts one voxel's signals to concentrations: a row of frames and extras (`conversion`) to one float per frame.
/// Frames that are not fitted are not read (they may be NaN) and not part of S0; their concentration is 0. All are 0
/// if the status is not `fitted`.
///
/// A sample brighter than any concentration can explain is limited to 0.95 of the largest signal and the voxel is kept:
/// the residual shows in the fit. If this concerns more than half of the frames, the voxel is `saturated`.
///
/// In double: at TR << T1, S / S0 - 1 and 1 - E are small differences.
class voxel_converter {
 public:
  /// `counts`: one per frame; the caller owns the memory.
  voxel_converter(const conversion& convert, int frames, const std::uint8_t* counts)
      : convert_(convert),
        echo_(convert.repetition_s, convert.flip_rad),
        t1_fitter_(convert),
        needs_t1_(convert.needs_t1()),
        frames_(frames),
        counts_(counts) {}

  /// Frame i's concentration to out[i * out_stride].
  VOXHERD_FUNCTION converted operator()(signal_row row, float* out, int out_stride) const {
    converted result;
    result.status = examine(row);
    if (result.status == voxel_status::fitted) result.status = read_baseline(row, result);
    if (result.status == voxel_status::fitted) result.status = convert_frames(row, out, out_stride, result);
    if (result.status == voxel_status::fitted) return result;
    for (int i = 0; i < frames_; ++i) out[i * out_stride] = 0;
    converted failed;
    failed.status = result.status;
    return failed;
  }

 private:
  VOXHERD_FUNCTION static double frame(signal_row row, int i) { return row[static_cast<std::size_t>(i)]; }

  VOXHERD_FUNCTION voxel_status examine(signal_row row) const {
    double smallest = DBL_MAX, largest = -DBL_MAX;
    bool finite = true;
    for (int i = 0; i < frames_; ++i) {
      if (counts_[i] == 0) continue;
      const double s = frame(row, i);
      finite = finite && std::fabs(s) <= FLT_MAX;
      smallest = s < smallest ? s : smallest;
      largest = s > largest ? s : largest;
    }
    if (!finite) return voxel_status::not_finite;
    if (smallest < largest) return voxel_status::fitted;
    return largest == 0 ? voxel_status::all_zero : voxel_status::constant;
  }

  VOXHERD_FUNCTION voxel_status read_baseline(signal_row row, converted& result) const {
    if (convert_.signal == signal_kind::concentration) return voxel_status::fitted;
    double sum = 0;
    int counted = 0;
    for (int i = convert_.baseline_begin; i < convert_.baseline_end; ++i) {
      if (counts_[i] == 0) continue;
      sum += frame(row, i);
      ++counted;
    }
    if (counted == 0) return voxel_status::no_baseline;
    result.S0 = sum / counted;
    if (!needs_t1_) return voxel_status::fitted;
    if (!(result.S0 > 0)) return voxel_status::no_baseline;
    return read_t1(row, result.t1_s);
  }

  VOXHERD_FUNCTION voxel_status read_t1(signal_row row, double& t1_s) const {
    t1_s = convert_.t1_s;
    if (convert_.t1 == t1_source::map) t1_s = frame(row, frames_);
    if (convert_.t1 == t1_source::flip_angles) {
      for (int i = 0; i < convert_.flip_angles; ++i)
        if (!(std::fabs(frame(row, frames_ + i)) <= FLT_MAX)) return voxel_status::not_finite;
      t1_s = t1_fitter_(signal_row{row.first + static_cast<std::size_t>(frames_) * row.stride, row.stride}).t1_s;
    }
    return is_usable_t1(t1_s) ? voxel_status::fitted : voxel_status::no_t1;
  }

  VOXHERD_FUNCTION voxel_status convert_frames(signal_row row, float* out, int out_stride, converted& result) const {
    const voxel_signal_model model(convert_, echo_, {result.S0, result.t1_s});
    int counted = 0;
    bool finite = true;
    for (int i = 0; i < frames_; ++i) {
      if (counts_[i] == 0) {
        out[i * out_stride] = 0;
        continue;
      }
      const auto c = model.concentration(frame(row, i));
      out[i * out_stride] = static_cast<float>(c.value);
      finite = finite && std::fabs(c.value) <= FLT_MAX;
      result.saturated += c.clamped ? 1 : 0;
      ++counted;
    }
    // Finite signals divided by a baseline close to zero.
    if (!finite) return voxel_status::no_baseline;
    return 2 * result.saturated > counted ? voxel_status::saturated : voxel_status::fitted;
  }

  conversion convert_;
  spoiled_echo echo_;
  t1_fitter t1_fitter_;
  bool needs_t1_;
  int frames_;
  const std::uint8_t* counts_;
};

}  // namespace voxherd::perfusion
