#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "core/run_request.hpp"

namespace voxherd {

class warning_list;

/// The user's request, and what its analysis adds.
struct run_settings : run_request {
  std::string out_option = "--out";   ///< that names `out`, for messages
  bool is_trace_implied = false;      ///< the name of the trace is not the user's: TRACE.STEP
  nlohmann::json configuration = {};  ///< options that change the result; stored, and compared on --resume
  nlohmann::json provenance = {};     ///< version, command line, inputs with checksums, image header
  std::string export_words = {};      ///< after `voxherd export OUT --to` in the last line; "" to choose by content
  /// Called on all ranks when the result is complete, before the last line is logged. Empty: nothing more to report.
  std::function<void()> report_result = {};
  /// Called on rank 0 at the end of the work with the inputs of `provenance`: throws failure if one has changed since
  /// it was read. Empty: nothing is checked.
  std::function<void(const nlohmann::json& inputs)> check_inputs = {};
  std::shared_ptr<warning_list> warnings = {};  ///< logged since the settings were made; null: not noted
};

enum class step_kind {
  only,          ///< the command makes one run
  intermediate,  ///< its file (OUT.scores) is removed at the end; if it exists at the start, a stopped command left it
  kept,          ///< its file is a result, too
  last,          ///< writes OUT, whose lock the command holds from its first step on
};

/// The place of a run in its command.
struct step_context {
  step_kind kind = step_kind::only;
  std::string label = {};      ///< in progress lines and above the table; "" for the name of the analysis
  std::string item = "voxel";  ///< what is counted, in the singular
  bool is_later = false;       ///< a step before this one has been run
  std::vector<std::string> also_written = {};  ///< files of earlier steps that the command keeps
  nlohmann::json also_in_summary = {};  ///< object; its keys go into the summary (times of earlier steps), below 32 kB

  bool is_intermediate() const { return kind == step_kind::intermediate; }
  bool is_end() const { return kind == step_kind::only || kind == step_kind::last; }
};

/// What a run computes on; mixed: ranks with and without a GPU. CPU and GPU results differ in rounding, so only a file
/// of a mixed run contains both.
enum class device_kind { cpu, cuda, mixed };
const char* kind_name(device_kind kind);  ///< "cpu", "cuda" or "mixed"

/// Device interface used by the run.
struct device_hooks {
  device_kind kind = device_kind::cpu;                              ///< the same on all ranks
  device_record record;                                             ///< stored in the result's provenance
  std::size_t free_bytes = 0;                                       ///< memory for batches; 0 if the device is the host
  std::function<void()> enter_thread;                               ///< called first by each device thread
  std::function<std::shared_ptr<std::byte>(std::size_t)> allocate;  ///< host memory that copies fast to the device
  std::function<std::size_t()> peak_bytes;                          ///< peak device memory so far
};

/// Receives the outputs of a batch, as in batch_runner::run().
using batch_receiver = std::function<void(const batch&, std::span<const std::span<const std::byte>> outputs)>;

}  // namespace voxherd
