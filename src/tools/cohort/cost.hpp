#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "mpi/result/result_reader.hpp"

namespace voxherd {

struct cost {
  double gpu_hours = 0, core_hours = 0;
  double energy_wh = 0;          ///< of GPUs; 0 where the driver does not offer it
  double metered_gpu_hours = 0;  ///< for which the GPU's use is known
  double busy_gpu_hours = 0;     ///< of these, with a kernel running

  cost& operator+=(const cost& more);
  bool operator==(const cost&) const = default;
};
cost operator*(cost c, double factor);

/// "1.2 GPU hours (96.1 % busy), 0 CPU core hours, 640 Wh"; what is unknown is left out.
std::string cost_text(const cost& c);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(cost, gpu_hours, core_hours, energy_wh, metered_gpu_hours, busy_gpu_hours)

/// The cost of a result. Complete: wall time of its run times GPUs or CPU threads, including earlier steps; for a
/// resumed run, earlier batches are assumed to have taken as long as the later ones. Unfinished: device time of its
/// finished batches.
cost read_cost(const result_reader& result);

}  // namespace voxherd
