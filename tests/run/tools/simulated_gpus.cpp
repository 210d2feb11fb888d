// voxherd ballstick on a machine with simulated GPUs: each rank selects its GPU by the program's own rule and writes
// down which one; the toy analysis on such ranks; and cohorts of both. The CUDA functions that kernels/device calls are
// replaced here; they answer from CUDA_VISIBLE_DEVICES, as the driver would.
#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "src/analyses/common/choose_device.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/app/program.hpp"
#include "src/scan/dwi.hpp"
#include "src/show/analysis_views.hpp"
#include "tests/run/support/toy_analysis.hpp"

namespace voxherd {

bool built_with_cuda() { return true; }

namespace {

int read_number(const char* variable, int otherwise) {
  const char* const given = std::getenv(variable);
  return given == nullptr ? otherwise : std::atoi(given);
}

/// GPUs of this machine. Without a list of visible ones there are none, unless VOXHERD_TEST_GPUS says so.
int installed_gpus() {
  return read_number("VOXHERD_TEST_GPUS", std::getenv("CUDA_VISIBLE_DEVICES") == nullptr ? 0 : 64);
}
const int installed_at_start = installed_gpus();

}  // namespace

/// The last byte of the UUID of GPU 3 of a machine is 3. Other machines' GPUs have the same UUIDs, but only those of
/// one node are compared. As in CUDA, a list ends before a wrong number.
std::vector<gpu> visible_gpus(std::string* why_none) {
  const char* const listed = std::getenv("CUDA_VISIBLE_DEVICES");
  std::string all;
  for (int g = 0; g < installed_at_start; ++g) all += std::to_string(g) + ',';
  std::istringstream numbers(listed == nullptr ? all : listed);
  std::vector<gpu> found;
  for (std::string number; std::getline(numbers, number, ',') && std::stoi(number) < installed_at_start;) {
    gpu g{static_cast<int>(found.size()), "simulated GPU", {}, std::size_t{1} << 30, 90};
    g.uuid[15] = static_cast<unsigned char>(std::stoi(number));
    found.push_back(g);
  }
  if (found.empty() && why_none != nullptr) *why_none = "CUDA_VISIBLE_DEVICES names no GPU";
  return found;
}

/// VOXHERD_TEST_GPU_FILES: device files, if not as many as GPUs.
int count_simulated_gpus(const std::string&) { return read_number("VOXHERD_TEST_GPU_FILES", installed_at_start); }

void use_device(const device&) {}
std::size_t free_device_bytes(const device& d) { return d.kind == backend::cuda ? std::size_t{1} << 30 : 0; }
std::size_t peak_device_bytes() { return 0; }
host_buffer::host_buffer(const device&, std::size_t bytes) : data_(new std::byte[bytes]), bytes_(bytes) {}
host_buffer::~host_buffer() { delete[] data_; }
host_buffer::host_buffer(host_buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
host_buffer& host_buffer::operator=(host_buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

namespace {

struct binding_request {
  dwi_request series;  ///< not read
  run_request run;
};

const option_table<binding_request>& binding_options() {
  using T = binding_request;
  static const option_table<T> table =
      option_table<T>().include_optional(&T::series, dwi_options()).include(&T::run, run_options());
  return table;
}

/// One line per rank: host, rank, number of the GPU on that host ("cpu" without one), the GPUs that it made visible,
/// its threads.
exit_status write_choice(session& s, const binding_request& request) {
  const device chosen = choose_device(s, request.run);
  std::string gpu_number = "cpu";
  if (chosen.kind == backend::cuda) {
    gpu_number = std::to_string(visible_gpus()[static_cast<std::size_t>(chosen.cuda_ordinal)].uuid[15]);
  }
  const auto lines =
      s.gather(fmt::format("{} {} {} {} {}\n", s.host(), s.rank(), gpu_number, visible_gpus().size(), chosen.threads));
  s.on_root([&] {
    std::ofstream file(request.run.out);
    for (const std::string& line : lines) file << line;
  });
  return exit_status::complete;
}

struct toy_request {
  long long slowest_ms = 0;
  run_request run;
};

const option_table<toy_request>& toy_options() {
  using T = toy_request;
  static const option_table<T> table =
      option_table<T>()
          .group("Toy", {{"slowest-ms", &T::slowest_ms, range{0, 1e6}, {"time of the slowest batch"}}})
          .include(&T::run, run_options());
  return table;
}

exit_status run_toy(session& s, const toy_request& request) {
  const run_settings settings = make_run_settings(s, request.run);
  const device chosen = choose_device(s, request.run);
  toy::analysis a({60, 60, 30}, std::chrono::milliseconds(request.slowest_ms), chosen.kind == backend::cuda ? 2 : 1);
  return run(s, a, settings, hooks_for(chosen));
}

constexpr command toy_command = make_command<toy_options, run_toy>({"toy", "values computed from voxel numbers"});
constexpr command binding_command =
    make_command<binding_options, write_choice>({"ballstick", "which rank takes which GPU"});

}  // namespace

extern const command cohort_command;

/// Instead of the program's own list, also for the subjects of a cohort.
std::span<const command* const> all_commands() {
  static const command* const commands[] = {&binding_command, &toy_command, &cohort_command};
  return commands;
}

std::span<const analysis_views* const> all_analysis_views() { return {}; }

}  // namespace voxherd

int main(int argc, char** argv) {
  voxherd::gpu_files = {voxherd::count_simulated_gpus, [](const std::string&) { return false; }};
  return voxherd::run_program(argc, argv, voxherd::all_commands());
}
