#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "mpi/result/result_reader.hpp"

namespace voxherd {

struct cost {
  double gpu_hours = 0, core_hours = 0;
  double energy_wh = 0;          ///< energy of GPUs; 0 where the driver does not offer it
  double metered_gpu_hours = 0;  ///< for which the GPU's use is known
  double busy_gpu_hours = 0;     ///< part of these hours with a kernel running

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

/// OUT.cost.json: what a subject cost in all runs of `cohort --run-all`, which shares GPUs among subjects and measures
/// their energy. It stays when the result is complete.
std::string cost_path(const std::string& out);

/// Empty if the record is missing or cannot be read.
std::optional<cost> read_cost_record(const std::string& out);

/// Never throws: a record that cannot be written is only a warning.
void write_cost_record(const std::string& out, const cost& spent);

}  // namespace voxherd
