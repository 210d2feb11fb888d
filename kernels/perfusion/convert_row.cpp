#include "kernels/perfusion/convert_row.hpp"

#include "kernels/perfusion/converter.hpp"

namespace voxherd::perfusion {

std::vector<float> convert_row(const conversion& convert, const time_course& frames, const float* row) {
  std::vector<float> concentration(frames.frames());
  const voxel_converter converter(convert, static_cast<int>(frames.frames()), frames.counts.data());
  if (converter({row, 1}, concentration.data(), 1).status != voxel_status::fitted) return {};
  return concentration;
}

}  // namespace voxherd::perfusion
