#include "src/analyses/common/run_options.hpp"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdlib>
#include <set>

#include "core/escape.hpp"
#include "core/program_build.hpp"
#include "core/text.hpp"
#include "core/utf8.hpp"
#include "mpi/result/named_output.hpp"
#include "mpi/run/signals.hpp"
#include "mpi/run/summary.hpp"
#include "src/io/noted_inputs.hpp"

namespace voxherd {

namespace {

nlohmann::json start_provenance(const session& s, const std::string& command_line) {
  nlohmann::json p{{"version", version}, {"command_line", valid_utf8(command_line)}, {"ranks", s.size()}};
  if (!program_build().empty()) p["build"] = program_build();
  p["start_time"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                                fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  const auto hosts = s.gather(s.host());
  p["hosts"] = std::set<std::string>(hosts.begin(), hosts.end());
  for (const char* name : {"SLURM_JOB_ID", "SLURM_RESTART_COUNT", "SLURM_ARRAY_TASK_ID"}) {
    if (const char* value = std::getenv(name)) p["slurm"][name] = value;
  }
  return p;
}

/// A result is an HDF5 file, also if its name promises another format.
void check_ending(const std::string& out) {
  for (const char* ending : {".nii", ".nii.gz", ".tck", ".trk", ".trx", ".csv"})
    if (out.ends_with(ending))
      refuse_usage(
          "--out {}: a result is an HDF5 file, expected a name such as result.h5; voxherd export writes {} files from "
          "it",
          out, ending);
}

}  // namespace

const option_table<run_request>& run_options() {
  using T = run_request;
  using choice = backend_choice;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Output", {
      {"out", &T::out, text_kind::file, {.text = "result file (HDF5); FILE.part until it is complete", .required = true}},
      {"overwrite", &T::overwrite, {"replace the result file if it exists"}},
      {"resume", &T::resume, {"continue a stopped run from FILE.part"}},
      {"json", &T::json, text_kind::file, {.text = "write the times of ranks and stages to FILE (JSON)", .paper = true}},
      {"trace", &T::trace, text_kind::file, {.text = "write a per-batch timeline to FILE (CSV)", .paper = true}}})
    .group("Running", {
      {"backend", &T::backend, {{"auto", choice::automatic}, {"cpu", choice::cpu}, {"cuda", choice::cuda},
                                {"mixed", choice::mixed}},
       {"devices that compute; auto: GPUs if there are any; mixed: GPUs, and CPU cores for the other ranks"}},
      {"threads", &T::threads, range{0, 4096}, {"CPU threads per rank; 0: the cores that this rank may use"}},
      {"share-gpu", &T::share_gpu, {.text = "let several ranks use one GPU"}},
      {"partition", &T::partition, {{"slices", partition_kind::slices}, {"voxels", partition_kind::voxels}},
       {.text = "division of the work into batches: complete slices, or voxels", .paper = true}},
      {"schedule", &T::schedule, {{"dynamic", schedule_kind::dynamic}, {"static", schedule_kind::in_advance},
                                  {"blocks", schedule_kind::blocks}},
       {.text = "assignment of batches to ranks; dynamic: on request; static: in turn; blocks: consecutive batches", .paper = true}},
      {"batch", &T::batch_items, range{0, 10000000}, {.text = "voxels per batch; 0: from the device's memory", .paper = true}},
      {"host-memory", &T::host_memory_gb, range{0.000001, 1000000},
       {.text = "memory of a node for compressed images; if they need more, they are read in several passes",
        .unit = "GB", .paper = true}},
      {"stall-minutes", &T::stall_minutes, range{0, 100000},
       {.text = "longest time without a finished batch, after which the run stops with status 75 and prints what each rank does; 0: none",
        .unit = "min", .paper = true}},
      {"dry-run", &T::dry_run, {"check everything, print memory, disk space and time, and compute nothing"}},
      {"quiet", &T::quiet, {"print only warnings and errors"}},
      {"verbose", &T::verbose, {.text = "print more: the times of each rank, how inputs are read"}},
      {"config", text_kind::file, {"read options from FILE, one `name = value` per line"}}})
    .check([](const T&, const given_options& given) {
      if (given.has("quiet")) option::refuse_given(given, "verbose", "with --quiet");
    });
  // clang-format on
  return table;
}

run_settings make_run_settings(const session& s, const run_request& request) {
  if (request.dry_run) stop_signals::release();  // it has nothing to save
  check_ending(request.out);
  run_settings settings{request};
  settings.out = s.from_root([&] { return follow_links(request.out); });
  if (s.is_root() && (settings.quiet || settings.verbose))
    spdlog::set_level(settings.quiet ? spdlog::level::warn : spdlog::level::debug);
  settings.check_inputs = check_inputs;
  settings.warnings = std::make_shared<warning_list>();
  settings.configuration = nlohmann::json::object();
  settings.provenance = start_provenance(s, request.command_line);
  return settings;
}

}  // namespace voxherd
