#pragma once

namespace voxherd::perfusion {

/// One CPU thread as the team of block_fft_model.hpp: does all work itself. The same interface as cuda_voxel_team.
struct thread_team {
  /// Calls work(i) for i in [0, count), divided among the team.
  template <class Work>
  void share(int count, const Work& work) const {
    for (int i = 0; i < count; ++i) work(i);
  }
  /// Sum over the team's threads; all of them get it.
  template <class Number>
  Number sum(const Number& value) const {
    return value;
  }
  /// Orders what threads wrote to shared memory before what others read from it.
  void sync() const {}
};

}  // namespace voxherd::perfusion
