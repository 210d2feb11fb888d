#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace voxherd {

/// Where one subject computes at a time: on a GPU, which several places may share, or on CPU cores.
struct compute_place {
  std::optional<std::size_t> gpu;  ///< index among the GPUs of this process; none: on CPU cores
  int threads = 1;                 ///< its share of the cores
};

/// The GPUs of this process as entries of CUDA_VISIBLE_DEVICES. `listed`: its value; without it, GPUs 0 to count - 1.
/// As in CUDA, a list ends before the first entry that names no GPU.
std::vector<std::string> name_gpus(const std::optional<std::string>& listed, int count);

/// `per_gpu` places on each GPU, which share the cores equally.
std::vector<compute_place> make_gpu_places(std::size_t gpus, std::size_t per_gpu, int cores);

/// Places on CPU cores. `count` 0: one for each 8 cores, so that one place reads or writes while others compute and
/// memory lasts.
std::vector<compute_place> make_cpu_places(std::size_t count, int cores);

/// For each place, how much of the first subject on its GPU must be done before it is used for the first time: for
/// places 0, 1, 2 of 3 on a GPU nothing, a third, two thirds. Equal subjects that start together also end together, and
/// the GPU would wait for all of them at each end; so they stay apart.
std::vector<double> opening_fractions(const std::vector<compute_place>& places);

/// The next place to use: a free one on the GPU with the fewest subjects. None if all are taken.
std::optional<std::size_t> choose_place(const std::vector<compute_place>& places, const std::vector<bool>& taken);

}  // namespace voxherd
