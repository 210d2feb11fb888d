// voxherd ballstick on a machine of pretended GPUs: each rank chooses its GPU by the program's own rule and writes down
// which. What kernels/device asks of CUDA is answered here from CUDA_VISIBLE_DEVICES, as the driver would.
#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "src/program.hpp"
#include "src/run_options.hpp"

namespace voxherd {

bool built_with_cuda() { return true; }

/// GPU 3 of a machine has 3 as its UUID's last byte; other machines' GPUs have the same, but only a node's are
/// compared.
std::vector<gpu> visible_gpus(std::string* why_none) {
  const char* listed = std::getenv("CUDA_VISIBLE_DEVICES");
  std::istringstream numbers(listed == nullptr ? "" : listed);
  std::vector<gpu> found;
  for (std::string number; std::getline(numbers, number, ',');) {
    gpu g{static_cast<int>(found.size()), "pretended GPU", {}, std::size_t{1} << 30, 90};
    g.uuid[15] = static_cast<unsigned char>(std::stoi(number));
    found.push_back(g);
  }
  if (found.empty() && why_none != nullptr) *why_none = "CUDA_VISIBLE_DEVICES names no GPU";
  return found;
}

void use_device(const device&) {}
std::size_t free_device_bytes(const device&) { return 0; }
std::size_t peak_device_bytes() { return 0; }
host_buffer::host_buffer(const device&, std::size_t) {}
host_buffer::~host_buffer() = default;
host_buffer::host_buffer(host_buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
host_buffer& host_buffer::operator=(host_buffer&& other) noexcept {
  std::swap(data_, other.data_);
  return *this;
}

namespace {

void options(po::options_description& known) {
  for (const char* file : {"dwi", "bvals", "bvecs", "mask", "grad-dev"}) {
    known.add_options()(file, po::value<std::string>(), "not read");
  }
  add_run_options(known);
}

/// A line a rank: host, rank, number of the GPU on that host; "cpu" without one.
exit_status write_choice(session& s, const arguments& args) {
  const device chosen = choose_device(s, args);
  std::string gpu_number = "cpu";
  if (chosen.kind == backend::cuda) {
    gpu_number = std::to_string(visible_gpus()[static_cast<std::size_t>(chosen.cuda_ordinal)].uuid[15]);
  }
  const auto lines = s.gather(fmt::format("{} {} {}\n", s.host(), s.rank(), gpu_number));
  s.on_root([&] {
    std::ofstream file(args.get<std::string>("out"));
    for (const std::string& line : lines) file << line;
  });
  return exit_status::whole;
}

constexpr command pretended{"ballstick", "which rank takes which GPU", "--out FILE", "", options, write_choice};

}  // namespace

}  // namespace voxherd

int main(int argc, char** argv) {
  const voxherd::command* const commands[] = {&voxherd::pretended};
  return voxherd::run_program(argc, argv, commands);
}
