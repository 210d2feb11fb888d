#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/device.hpp"

namespace voxherd::bench {

/// What the command line says beside Google Benchmark's own flags.
struct bench_options {
  device chosen;  ///< --backend, --threads
  bool threads_given = false;
  std::size_t voxels = 0;  ///< --voxels; 0: each benchmark's own number
};

/// A device and its name in those of benchmarks.
struct place {
  device on;
  std::string name;
};

/// The GPU ("gpu"), or 1, 2, 4, ... and all of the CPU's threads ("threadsN"); up to --threads where that is given.
std::vector<place> places_of(const bench_options& o);

/// Thrown by a problem's constructor where the data that it is about are absent: the benchmark shows as skipped, which
/// is no failure. The message begins with "no data".
struct no_data : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Something whose answer is known. It runs once to be verified, then again and again to be timed.
class problem {
 public:
  virtual ~problem() = default;

  /// Throws device_error.
  virtual void run() = 0;

  /// What is wrong with the last run's answer; empty where nothing is.
  virtual std::string complaint() const = 0;

  /// What a run works through, and its name.
  virtual std::size_t voxels() const = 0;
  virtual std::string unit() const { return "voxel"; }

  /// Of the last run, what the device says its own work took; 0 where it does not say.
  virtual double device_seconds() const { return 0; }

  /// Further numbers about the last run, shown as counters.
  virtual std::vector<std::pair<std::string, double>> more() const { return {}; }
};

/// A benchmark of wall time with the counters UNITs, UNITs_per_s, time_per_UNIT (s) and, where the problem knows it,
/// device_time (s a run). `make` is called when its turn comes; a wrong answer is reported in place of a time, and ends
/// the program with status 1.
void add_benchmark(const std::string& name, std::function<std::unique_ptr<problem>()> make);

/// The body of every benchmark's main: reads the options, calls `add_all`, runs what --benchmark_filter lets through.
/// Returns the exit status.
int run_benchmarks(int argc, char** argv, const std::function<void(const bench_options&)>& add_all);

}  // namespace voxherd::bench
