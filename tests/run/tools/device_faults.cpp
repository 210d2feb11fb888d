// voxherd with devices that fail, for every analysis and backend: calls of the analysis's runner fail as they do when a
// CUDA call fails.
//
// VOXHERD_DEVICE_FAULT       memory: about a third of the calls find too little device memory, unless they are for one
//                            item; lost: the device is lost at one call; allocation: one allocation of device memory
//                            fails, counted on each rank: a runner makes one at its start, then one for the input and
//                            one for each output of a batch, when they must grow
// VOXHERD_DEVICE_FAULT_CALL  memory: seed of the choice; lost: number of that call, counted on each rank; allocation:
//                            its number, from 1
// VOXHERD_DEVICE_FAULT_LOG   gets one line for each call that fails
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <vector>

#include "core/device.hpp"
#include "mpi/run/run.hpp"
#include "src/app/program.hpp"
#include "tests/run/support/forwarded_analysis.hpp"
#include "tests/run/support/toy_analysis.hpp"

namespace voxherd {

namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::atomic<std::uint64_t> calls{0};

bool memory_is_short(std::uint64_t call, std::uint64_t seed, std::uint64_t items) {
  return items > 1 && toy::mixed(1000 * seed + call) % 3 == 0;
}

/// A kernel may have written some of the results before the call fails.
void scribble(std::span<const std::span<std::byte>> outputs) {
  for (const auto& o : outputs) std::fill(o.begin(), o.end(), std::byte{0x55});
}

std::uint64_t fault_number() { return std::strtoull(variable("VOXHERD_DEVICE_FAULT_CALL").data(), nullptr, 10); }

void note_fault() {
  std::ofstream(std::string(variable("VOXHERD_DEVICE_FAULT_LOG")), std::ios::app)
      << variable("VOXHERD_DEVICE_FAULT") << '\n';
}

std::atomic<std::uint64_t> allocations{0};

void allocate() {
  if (variable("VOXHERD_DEVICE_FAULT") != "allocation" || ++allocations != fault_number()) return;
  note_fault();
  throw device_out_of_memory("CUDA: simulated: cudaMalloc: out of memory");
}

/// The buffers of one runner on a device: they grow with the batch, one after the other.
class simulated_buffers {
 public:
  void reserve(std::uint64_t items, std::size_t buffers) {
    capacities_.resize(buffers);
    for (std::uint64_t& capacity : capacities_) {
      if (capacity >= items) continue;
      capacity = 0;  // the old one is freed first
      allocate();
      capacity = items;
    }
  }
  void release() { capacities_.clear(); }

 private:
  std::vector<std::uint64_t> capacities_;
};

class faulty_runner final : public batch_runner {
 public:
  explicit faulty_runner(std::unique_ptr<batch_runner> inner) : inner_(std::move(inner)) {}

  void run(const batch& items, std::span<const std::byte> input,
           std::span<const std::span<std::byte>> outputs) override {
    const std::uint64_t call = calls++;
    const std::string_view fault = variable("VOXHERD_DEVICE_FAULT");
    const std::uint64_t number = fault_number();
    buffers_.reserve(items.item_count, 1 + outputs.size());
    const bool is_lost = fault == "lost" && call >= number;
    if (is_lost || (fault == "memory" && memory_is_short(call, number, items.item_count))) {
      scribble(outputs);
      note_fault();
      if (is_lost) throw device_error("CUDA: simulated: unspecified launch failure");
      throw device_out_of_memory("CUDA: simulated: out of memory");
    }
    inner_->run(items, input, outputs);
  }
  void release_memory() override {
    buffers_.release();
    inner_->release_memory();
  }

 private:
  std::unique_ptr<batch_runner> inner_;
  simulated_buffers buffers_;
};

class faulty_analysis final : public toy::forwarded_analysis {
 public:
  using forwarded_analysis::forwarded_analysis;
  std::unique_ptr<batch_runner> make_runner() const override {
    allocate();
    return std::make_unique<faulty_runner>(inner().make_runner());
  }
};

}  // namespace

}  // namespace voxherd

int main(int argc, char** argv) {
  voxherd::wrap_analysis = [](voxherd::analysis& a) -> std::unique_ptr<voxherd::analysis> {
    return std::make_unique<voxherd::faulty_analysis>(a);
  };
  return voxherd::run_program(argc, argv, voxherd::all_commands());
}
