// The toy analyses as a program, for tests that stop and kill it.
#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "mpi/result/result_reader.hpp"
#include "mpi/run/signals.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/app/program.hpp"
#include "tests/support/ragged_toy.hpp"
#include "tests/support/toy_analysis.hpp"

namespace voxherd {

namespace {

class breaking_runner : public toy::runner {
 public:
  breaking_runner(const toy::analysis& a, long long batch_number) : runner(a), batch_number_(batch_number) {}
  void run(const batch& items, std::span<const std::byte> input,
           std::span<const std::span<std::byte>> outputs) override {
    if (static_cast<long long>(items.number) == batch_number_) throw std::runtime_error("the toy broke");
    toy::runner::run(items, input, outputs);
  }

 private:
  long long batch_number_;
};

class breaking_analysis : public toy::analysis {
 public:
  breaking_analysis(std::array<std::uint64_t, 3> size, std::chrono::microseconds slowest, long long breaks_at)
      : analysis(size, slowest), breaks_at_(breaks_at) {}
  std::unique_ptr<batch_runner> make_runner() const override {
    return std::make_unique<breaking_runner>(*this, breaks_at_);
  }

 private:
  long long breaks_at_;
};

struct toy_request {
  std::uint64_t nx = 20, ny = 16, nz = 14;
  long long slowest_ms = 0, seed = 1, break_at = -1, slow_rank = -1;
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
      {"slow-rank", &T::slow_rank, at_least(-1), {"rank whose batches take ten times as long"}}})
    .include(&T::run, run_options());
  // clang-format on
  return table;
}

exit_status run_toy(session& s, const toy_request& request) {
  run_settings settings = make_run_settings(s, request.run);
  add_stored(toy_options(), request, settings.configuration);
  const long long times = request.slow_rank == s.rank() ? 10 : 1;
  breaking_analysis a({request.nx, request.ny, request.nz}, times * std::chrono::milliseconds(request.slowest_ms),
                      request.break_at);
  return run(s, a, settings, hooks_for(choose_device(s, request.run)));
}

constexpr command toy_command =
    make_command<toy_options, run_toy>({"toy", "values made of voxel numbers", "--out FILE", ""});

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
      {"least", &T::least, range{0, 100}, {"smallest score of those that are written"}},
      {"slowest-ms", &T::slowest_ms, range{0, 1e6}, {"time of the slowest batch"}},
      {"seed", &T::seed, at_least(0), {"a stored option"}}})
    .include(&T::run, run_options());
  // clang-format on
  return table;
}

/// Scores candidates into OUT.scores, then writes the fibres of the best into OUT.
exit_status run_ragged(session& s, const ragged_request& request) {
  const stop_signals signals;
  run_settings settings = make_run_settings(s, request.run), step = settings;
  const auto least = static_cast<float>(request.least);
  const std::chrono::milliseconds slowest(request.slowest_ms);
  const device_hooks hooks = hooks_for(choose_device(s, request.run));
  for (run_settings* each : {&settings, &step}) {
    each->configuration["seed"] = request.seed;
    each->configuration["least"] = least;
  }
  step.out += ".scores";
  step.label = "scores";
  step.is_step = true;
  step.json.clear();
  settings.label = "fibres";
  exit_status status = exit_status::whole;
  if (!is_whole_already(s, "ragged", settings, hooks)) {
    toy::scores first(request.candidates, slowest);
    status = run(s, first, step, hooks);
    if (status != exit_status::whole || settings.dry_run) return status;
    std::vector<std::uint64_t> ids;
    s.on_root([&] {
      const result_reader r(step.out);
      settings.also_in_summary = {{"steps", {{"scores", r.summary()}}}};
      ids = toy::winners(r.read_items("score", 0, r.item_voxels().size()), least);
    });
    s.broadcast(ids);
    toy::ragged second(ids, slowest);
    status = run(s, second, settings, hooks);
  }
  if (status == exit_status::whole) s.on_root([&] { std::filesystem::remove(step.out); });
  return status;
}

constexpr command ragged_command =
    make_command<ragged_options, run_ragged>({"ragged", "fibres made of their numbers", "--out FILE", ""});

}  // namespace

}  // namespace voxherd

int main(int argc, char** argv) {
  const voxherd::command* const commands[] = {&voxherd::toy_command, &voxherd::ragged_command};
  return voxherd::run_program(argc, argv, commands);
}
