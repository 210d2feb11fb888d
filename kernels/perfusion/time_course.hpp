#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "kernels/portable/function.hpp"

namespace voxherd::perfusion {

inline constexpr int max_inputs = 2;  ///< arterial and portal

/// The frames of a dynamic series and the two input curves at them. Before the first frame the inputs rise linearly
/// from 0, one frame earlier. After the last frame they keep its value.
struct time_course {
  std::vector<double> time_s;    ///< increasing
  std::vector<double> arterial;  ///< concentration in blood, mM (or HU)
  std::vector<double> portal;
  std::vector<std::uint8_t> counts;  ///< 1: the frame is fitted; 0: missing or padded, not part of any cost

  static constexpr auto members() {
    using T = time_course;
    return std::tuple(&T::time_s, &T::arterial, &T::portal, &T::counts);
  }

  std::size_t frames() const { return time_s.size(); }
  std::size_t counted() const;
  const std::vector<double>& input(int i) const { return i == 0 ? arterial : portal; }
  /// The distance of even frames; 0 if any frame differs from an even grid by more than 1 % of the distance.
  double spacing_s() const;
};

/// Frames and input curves for every voxel's fit. Scalar: float or double.
template <class Scalar>
struct curves_view {
  /// Curves at frame 0: indices from -2 frames - 2 (zeros) to 2 frames + 1 (the last value) may be read, and 32 after
  /// that, as a CPU reads complete registers.
  const Scalar* arterial;
  const Scalar* portal;
  const Scalar* time_s;        ///< only for uneven frames; else null
  const std::uint8_t* counts;  ///< 1: fitted
  int frames;
  int counted;
  Scalar spacing_s;  ///< 0: uneven

  VOXHERD_FUNCTION const Scalar* input(int i) const { return i == 0 ? arterial : portal; }
};

/// The numbers of a curves_view, in host memory.
template <class Scalar>
class curves_table {
 public:
  explicit curves_table(const time_course& t);
  curves_view<Scalar> view() const { return view_of(values_.data(), counts_.data()); }
  /// The same numbers in another memory, copied there in the order of values() and counts().
  curves_view<Scalar> view_of(const Scalar* values, const std::uint8_t* counts) const;
  const std::vector<Scalar>& values() const { return values_; }
  const std::vector<std::uint8_t>& counts() const { return counts_; }

  /// How many of the numbers are read: the times only of uneven frames.
  std::size_t read_values() const { return values_.size() - (spacing_s_ > 0 ? counts_.size() : 0); }

  static std::size_t padded(std::size_t frames) { return 5 * frames + 4 + 32; }

 private:
  std::vector<Scalar> values_;  ///< arterial, portal (padded), times
  std::vector<std::uint8_t> counts_;
  int counted_;
  double spacing_s_;
};

}  // namespace voxherd::perfusion
