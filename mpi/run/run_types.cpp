#include "mpi/run/run_types.hpp"

namespace voxherd {

const char* kind_name(device_kind kind) {
  return kind == device_kind::cpu ? "cpu" : kind == device_kind::cuda ? "cuda" : "mixed";
}

}  // namespace voxherd
