#pragma once

namespace voxherd {

/// From now on choose_device() takes this GPU, by its number among those that this process sees, whatever the rank.
/// Process state, as what is visible: for `voxherd doctor`, which tests each.
void take_only_gpu(int ordinal);

}  // namespace voxherd
