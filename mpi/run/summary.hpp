#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/text.hpp"
#include "mpi/comm/session.hpp"

namespace voxherd {

/// Work and times of one rank. Reading and writing overlap with computing, so the times overlap, too; `waiting` is the
/// time in which the device was idle.
struct rank_account {
  std::uint64_t items = 0, batches = 0;
  double reading_seconds = 0, computing_seconds = 0, waiting_seconds = 0, writing_seconds = 0;
  std::uint64_t peak_host_bytes = 0, peak_device_bytes = 0;
  std::string host, device;
};

/// Peak memory of this process, in bytes.
std::uint64_t peak_host_bytes();

/// The accounts of all ranks as JSON, the same on every rank: `seconds`, `items_per_second`, `ranks` (every rank up to
/// 16; above, min, mean and max), `all`. Collective.
nlohmann::json gather_summary(const session& s, const rank_account& own, double wall_seconds);

/// The summary as a printed table. `item`: what is counted, in the singular.
std::string summary_table(const nlohmann::json& summary, const std::string& item);

/// The warnings that this process logs while it exists, each once; at most the first 100. It belongs to the run's
/// settings, and listens to the log: whoever warns, about a file or a voxel, warns the user and the result by the same
/// call, and no reader of files has to know of runs.
class warning_list {
 public:
  warning_list();
  ~warning_list();
  warning_list(const warning_list&) = delete;
  warning_list& operator=(const warning_list&) = delete;

  nlohmann::json texts() const;  ///< an array

 private:
  class sink;
  std::shared_ptr<sink> sink_;
};

}  // namespace voxherd
