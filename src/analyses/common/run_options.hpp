#pragma once

#include "core/command.hpp"
#include "core/device.hpp"
#include "mpi/run/run.hpp"

namespace voxherd {

/// --out, --resume, --overwrite, --partition, --schedule, --batch, --backend, --threads, --share-gpu, --quiet, --json,
/// --dry-run, --config
void add_run_options(po::options_description& options);

/// The run's settings from the command line; `configuration` and `provenance` are begun (version, command line, host)
/// and may be added to.
run_settings read_run_settings(const session& s, const arguments& args);

struct chosen_device : device {
  bool among_others = false;  ///< --backend mixed: other ranks may compute on another kind
};

/// This rank's device: --backend auto|cpu|cuda, one GPU a rank by node-local rank, UUIDs compared within the node;
/// two ranks on one GPU is a usage failure unless --share-gpu. In CPU mode no CUDA call is made. --backend mixed: of a
/// node's ranks the first take the GPUs that they see, one each, the others share the remaining cores.
chosen_device choose_device(const session& s, const arguments& args);
/// For commands whose steps build on one another's bytes: --backend mixed is a usage failure.
device choose_device_of_one_kind(const session& s, const arguments& args);

device_hooks hooks_for(const chosen_device& d);
inline device_hooks hooks_for(const device& d) { return hooks_for(chosen_device{d}); }

}  // namespace voxherd
