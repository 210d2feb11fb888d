#pragma once

#include "core/device.hpp"

namespace voxherd {

/// The devices that tests compute on.
inline constexpr device one_thread{backend::cpu, 1, 0}, two_threads{backend::cpu, 2, 0}, first_gpu{backend::cuda, 1, 0};

}  // namespace voxherd
