#include "kernels/perfusion/time_course.hpp"

#include <algorithm>
#include <cmath>

namespace voxherd::perfusion {

std::size_t time_course::counted() const {
  return counts.size() - static_cast<std::size_t>(std::count(counts.begin(), counts.end(), 0));
}

double time_course::spacing_s() const {
  if (frames() < 2) return 0;
  const double spacing = (time_s.back() - time_s.front()) / static_cast<double>(frames() - 1);
  for (std::size_t i = 0; i < frames(); ++i) {
    const double even = time_s.front() + spacing * static_cast<double>(i);
    if (std::fabs(time_s[i] - even) > 0.01 * spacing) return 0;
  }
  return spacing;
}

}  // namespace voxherd::perfusion
