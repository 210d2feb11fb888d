// The toy analyses as a program, for tests that stop and kill it.
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "core/device.hpp"
#include "mpi/result/result_reader.hpp"
#include "mpi/run/steps.hpp"
#include "src/analyses/common/choose_device.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/app/program.hpp"
#include "tests/run/support/ragged_toy.hpp"
#include "tests/run/support/toy_analysis.hpp"

namespace voxherd {

namespace {

class failing_runner : public toy::runner {
 public:
  failing_runner(const toy::analysis& a, long long batch_number, bool loses_device)
      : runner(a), batch_number_(batch_number), loses_device_(loses_device) {}
  void run(const batch& items, std::span<const std::byte> input,
           std::span<const std::span<std::byte>> outputs) override {
    if (static_cast<long long>(items.number) == batch_number_) {
      if (loses_device_) throw device_error("the toy lost its device");
      throw std::runtime_error("the toy broke");
    }
    toy::runner::run(items, input, outputs);
  }

 private:
  long long batch_number_;
  bool loses_device_;
};

[[noreturn]] void hang() {
  while (true) pause();
}

/// A batch never ends.
class hanging_analysis : public toy::analysis {
 public:
  class runner : public toy::runner {
   public:
    explicit runner(const hanging_analysis& a) : toy::runner(a), analysis_(a) {}
    void run(const batch& items, std::span<const std::byte> input,
             std::span<const std::span<std::byte>> outputs) override {
      if (items.number == analysis_.hangs_at_ && !analysis_.in_reading_) hang();
      toy::runner::run(items, input, outputs);
    }

   private:
    const hanging_analysis& analysis_;
  };

  hanging_analysis(std::array<std::uint64_t, 3> size, std::chrono::microseconds slowest, std::uint64_t hangs_at,
                   bool in_reading)
      : analysis(size, slowest), hangs_at_(hangs_at), in_reading_(in_reading) {}
  void load(const batch& items, std::span<std::byte> input) override {
    if (items.number == hangs_at_ && in_reading_) hang();
    analysis::load(items, input);
  }
  std::unique_ptr<batch_runner> make_runner() const override { return std::make_unique<runner>(*this); }

 private:
  std::uint64_t hangs_at_;
  bool in_reading_;
};

class failing_analysis : public toy::analysis {
 public:
  failing_analysis(std::array<std::uint64_t, 3> size, std::chrono::microseconds slowest, long long breaks_at,
                   bool loses_device)
      : analysis(size, slowest), breaks_at_(breaks_at), loses_device_(loses_device) {}
  std::unique_ptr<batch_runner> make_runner() const override {
    return std::make_unique<failing_runner>(*this, breaks_at_, loses_device_);
  }

 private:
  long long breaks_at_;
  bool loses_device_;
};

struct toy_request {
  std::uint64_t nx = 20, ny = 16, nz = 14;
  long long slowest_ms = 0, seed = 1, break_at = -1, hang_at = -1, slow_rank = -1;
  bool lose_device = false, hang_in_reading = false;
  run_request run;
};

const option_table<toy_request>& toy_options() {
  using T = toy_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Toy", {
      {"nx", &T::nx, range{1, 10000}, {"voxels along x"}},
      {"ny", &T::ny, range{1, 10000}, {"voxels along y"}},
      {"nz", &T::nz, range{1, 10000}, {"voxels along z"}},
      {"slowest-ms", &T::slowest_ms, range{0, 1e6}, {"time of the slowest batch"}},
      {"seed", &T::seed, at_least(0), {.text = "a stored option", .stored = always}},
      {"break-at", &T::break_at, at_least(-1), {"batch whose computation fails"}},
      {"lose-device", &T::lose_device, {"it fails as when a GPU is lost"}},
      {"hang-at", &T::hang_at, at_least(-1), {"batch whose computation never ends"}},
      {"hang-in-reading", &T::hang_in_reading, {"reading its input never ends instead"}},
      {"slow-rank", &T::slow_rank, at_least(-1), {"rank whose batches take ten times as long"}}})
    .include(&T::run, run_options());
  // clang-format on
  return table;
}

exit_status run_toy(session& s, const toy_request& request) {
  run_settings settings = make_run_settings(s, request.run);
  add_stored(toy_options(), request, settings.configuration);
  const long long times = request.slow_rank == s.rank() ? 10 : 1;
  const std::chrono::milliseconds slowest(times * request.slowest_ms);
  const std::array<std::uint64_t, 3> size{request.nx, request.ny, request.nz};
  const device_hooks hooks = hooks_for(choose_device(s, request.run));
  if (request.hang_at >= 0) {
    hanging_analysis a(size, slowest, static_cast<std::uint64_t>(request.hang_at), request.hang_in_reading);
    return run(s, a, settings, hooks);
  }
  failing_analysis a(size, slowest, request.break_at, request.lose_device);
  return run(s, a, settings, hooks);
}

constexpr command toy_command = make_command<toy_options, run_toy>({"toy", "values computed from voxel numbers"});

struct ragged_request {
  std::uint64_t candidates = 2000;
  long long least = 50, slowest_ms = 0, seed = 1;
  run_request run;
};

const option_table<ragged_request>& ragged_options() {
  using T = ragged_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Toy", {
      {"candidates", &T::candidates, range{1, 1e9}, {"fibres that are scored"}},
      {"least", &T::least, range{0, 1000}, {"smallest score of those that are written"}},
      {"slowest-ms", &T::slowest_ms, range{0, 1e6}, {"time of the slowest batch"}},
      {"seed", &T::seed, at_least(0), {"a stored option"}}})
    .include(&T::run, run_options());
  // clang-format on
  return table;
}

/// Scores candidates into OUT.scores, then writes the best fibres into OUT.
exit_status run_ragged(session& s, const ragged_request& request) {
  run_settings settings = make_run_settings(s, request.run);
  const auto least = static_cast<float>(request.least);
  const std::chrono::milliseconds slowest(request.slowest_ms);
  settings.configuration["seed"] = request.seed;
  settings.configuration["least"] = least;
  std::vector<std::uint64_t> ids;
  step_list steps;
  steps.run(
      "scores", [&] { return std::make_unique<toy::scores>(request.candidates, slowest); },
      [&](const std::string& file, nlohmann::json& summary) {
        s.on_root([&] {
          const result_reader r(file);
          summary["steps"] = {{"scores", r.summary()}};
          ids = toy::winners(r.read_items("score", 0, r.item_voxels().size()), least);
        });
        s.broadcast(ids);
      });
  steps.result("fibres", [&] { return std::make_unique<toy::ragged>(ids, slowest); });
  return run_steps(s, "ragged", steps, settings, hooks_for(choose_device(s, request.run)));
}

constexpr command ragged_command =
    make_command<ragged_options, run_ragged>({"ragged", "fibres computed from their numbers"});

}  // namespace

}  // namespace voxherd

int main(int argc, char** argv) {
  const voxherd::command* const commands[] = {&voxherd::toy_command, &voxherd::ragged_command};
  return voxherd::run_program(argc, argv, commands);
}
