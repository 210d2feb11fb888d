#include "src/analyses/common/run_options.hpp"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdlib>
#include <set>

#include "core/option_values.hpp"
#include "core/version.hpp"
#include "src/scan/host_memory.hpp"

namespace voxherd {

namespace {

nlohmann::json begin_provenance(const session& s, const arguments& args) {
  nlohmann::json p{{"version", version}, {"command_line", args.command_line}, {"ranks", s.size()}};
  p["start_time"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                                fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  const auto hosts = s.gather(s.host());
  p["hosts"] = std::set<std::string>(hosts.begin(), hosts.end());
  for (const char* name : {"SLURM_JOB_ID", "SLURM_RESTART_COUNT", "SLURM_ARRAY_TASK_ID"}) {
    if (const char* value = std::getenv(name)) p["slurm"][name] = value;
  }
  return p;
}

}  // namespace

void add_run_options(po::options_description& options) {
  const auto text = [](const char* standard) { return po::value<std::string>()->default_value(standard); };
  const auto number = [] { return po::value<long long>()->default_value(0); };
  // clang-format off
  options.add_options()
    ("out", po::value<std::string>()->value_name("FILE"), "result file (HDF5); FILE.part until it is whole")
    ("resume", po::bool_switch(), "go on where a stopped run left FILE.part")
    ("overwrite", po::bool_switch(), "replace FILE if it exists")
    ("partition", text("voxels")->value_name("KIND"), "batches: slices or voxels")
    ("schedule", text("dynamic")->value_name("KIND"), "dynamic: ranks fetch batches; static: dealt in turn; blocks: a run of batches each")
    ("batch", number()->value_name("N"), "voxels a batch, 1 to 10000000; 0: from the device's memory")
    ("backend", text("auto")->value_name("KIND"), "auto, cpu, cuda; mixed: GPUs, and cores for the other ranks")
    ("threads", number()->value_name("N"), "CPU threads a rank, 1 to 4096; 0: the cores this rank may use")
    ("share-gpu", po::bool_switch(), "let several ranks use one GPU")
    ("dry-run", po::bool_switch(), "check everything, print memory, disk and time, do nothing")
    ("quiet", po::bool_switch(), "print warnings and errors only")
    ("json", po::value<std::string>()->value_name("FILE"), "write the table of times to FILE")
    ("trace", po::value<std::string>()->value_name("FILE"), "write when what happened to each batch to FILE (CSV)")
    ("config", po::value<std::string>()->value_name("FILE"), "options from FILE, one `name = value` a line");
  // clang-format on
  add_host_memory_option(options);
}

run_settings read_run_settings(const session& s, const arguments& args) {
  run_settings settings;
  if (!args.has("out")) throw failure(exit_status::usage, "--out is missing: the name of the result file");
  settings.out = args.get<std::string>("out");
  settings.partition = option::word<partition_kind>(
      args, "partition", {{"slices", partition_kind::slices}, {"voxels", partition_kind::voxels}});
  settings.schedule = option::word<schedule_kind>(
      args, "schedule",
      {{"dynamic", schedule_kind::dynamic}, {"static", schedule_kind::in_advance}, {"blocks", schedule_kind::blocks}});
  settings.batch_items = static_cast<std::uint64_t>(option::integer(args, "batch", 0, 10000000));
  settings.resume = args.get<bool>("resume");
  settings.overwrite = args.get<bool>("overwrite");
  settings.dry_run = args.get<bool>("dry-run");
  settings.quiet = args.get<bool>("quiet");
  if (args.has("json")) settings.json = args.get<std::string>("json");
  if (args.has("trace")) settings.trace = args.get<std::string>("trace");
  if (settings.quiet && s.is_root()) spdlog::set_level(spdlog::level::warn);
  settings.listener = args.listener;
  settings.configuration = nlohmann::json::object();
  settings.provenance = begin_provenance(s, args);
  return settings;
}

}  // namespace voxherd
