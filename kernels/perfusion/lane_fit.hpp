#pragma once

#include "kernels/perfusion/fit_arrays.hpp"
#include "kernels/perfusion/fit_limits.hpp"
#include "kernels/perfusion/samples.hpp"

namespace voxherd::perfusion {

/// Fits items, one per lane; a lane whose item has ended takes the next one. `Lanes` distributes the items and holds
/// their samples: a warp of a GPU or a thread of a CPU.
template <class Machine, class Model, class Lanes>
VOXHERD_FUNCTION inline void fit_on_lanes(Machine machine, const Model& model, Lanes& lanes) {
  using mask = typename Machine::mask;
  mask active(false), none_left(false);
  while (true) {
    const mask waiting = !active && !none_left;
    if (lanes.enough(waiting, active)) {
      const mask fresh = lanes.take(waiting, none_left);
      machine.begin(fresh, lanes.start());
      active = active || fresh;
    }
    if (!lanes.any(active)) return;
    const mask ended = machine.advance(model, lanes.samples()) && active;
    if (lanes.any(ended)) lanes.keep(ended, machine);
    active = active && !ended;
  }
}

}  // namespace voxherd::perfusion
