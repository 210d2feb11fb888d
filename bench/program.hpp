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

/// Options of the command line in addition to Google Benchmark's own flags.
struct bench_options {
  device chosen;  ///< --backend, --threads
  bool threads_given = false;
  std::size_t voxels = 0;  ///< --voxels; 0: each benchmark's own number
};

/// A device and its name in benchmarks.
struct place {
  device on;
  std::string name;
};

/// The GPU ("gpu"), or 1, 2, 4, ... and all of the CPU's threads ("threadsN"), up to --threads if given.
std::vector<place> benchmark_devices(const bench_options& o);

/// Thrown by a problem's constructor if its data are missing: the benchmark is skipped, which is not a failure. The
/// message starts with "no data".
struct no_data : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A problem with a known answer. It runs once to be verified, then repeatedly to be timed.
class problem {
 public:
  virtual ~problem() = default;

  /// Throws device_error.
  virtual void run() = 0;

  /// The error of the last run's answer; empty if it is correct.
  virtual std::string find_error() const = 0;

  /// The unit of work of a run, and its name.
  virtual std::size_t voxels() const = 0;
  virtual std::string unit() const { return "voxel"; }

  /// Time of the last run's work on the device, by the device's clock; 0 if not measured.
  virtual double device_seconds() const { return 0; }

  /// Further numbers about the last run, shown as counters.
  virtual std::vector<std::pair<std::string, double>> more() const { return {}; }
};

/// A benchmark of wall time with the counters UNITs, UNITs_per_s, time_per_UNIT (s) and, if the problem measures it,
/// device_time (s per run). `make` is called when the benchmark starts; a wrong answer is reported in place of a time,
/// and the program ends with status 1.
void add_benchmark(const std::string& name, std::function<std::unique_ptr<problem>()> make);

/// The body of every benchmark's main: reads the options, calls `add_all`, runs the benchmarks selected by
/// --benchmark_filter. Returns the exit status.
int run_benchmarks(int argc, char** argv, const std::function<void(const bench_options&)>& add_all);

}  // namespace voxherd::bench
