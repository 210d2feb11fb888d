#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "mpi/comm/session.hpp"
#include "mpi/result/result_layout.hpp"
#include "mpi/run/run_types.hpp"

namespace voxherd {

/// Memory, disk and time of the run; the time is measured with one small batch on rank 0's device, whose result is
/// discarded. Collective; the numbers are those of rank 0.
run_estimate estimate(const session& s, analysis& a, const device_hooks& device, const result_layout& layout,
                      std::span<const std::uint64_t> pending);

/// The output of --dry-run.
std::string estimate_text(const run_estimate& e, const std::string& out);

/// The number of GPUs, from 1 to `ranks`, with which a command ends first: each further GPU takes start_seconds_per_gpu
/// to start. `seconds`: time of the computation on one GPU.
int gpus_that_pay(double seconds, int ranks);

/// Measured: `perfusion` on 4 H200 takes 0.8 s longer than on one of them.
inline constexpr double start_seconds_per_gpu = 0.25;

/// The batch that a dry run computes. It contains the item in the middle of the image, since items at the border may be
/// untypical. Requires at least one batch.
batch middle_batch(const result_layout& layout);

}  // namespace voxherd
