// The toy analyses as a program, for tests that stop and kill it.
#include <algorithm>
#include <stdexcept>

#include "core/device.hpp"
#include "mpi/result/result_reader.hpp"
#include "mpi/run/steps.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/app/program.hpp"
#include "tests/support/ragged_toy.hpp"
#include "tests/support/toy_analysis.hpp"

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

void toy_options(po::options_description& options) {
  const auto number = [](long long standard) { return po::value<long long>()->default_value(standard); };
  options.add_options()("nx", number(20), "voxels along x")("ny", number(16), "along y")("nz", number(14), "along z");
  options.add_options()("slowest-ms", number(0), "time of the slowest batch")("seed", number(1), "a stored option");
  options.add_options()("break-at", number(-1), "batch whose computation fails");
  options.add_options()("lose-device", po::bool_switch(), "it fails as when a GPU is lost");
  options.add_options()("slow-rank", number(-1), "rank whose batches take ten times as long");
  add_run_options(options);
}

exit_status run_toy(session& s, const arguments& args) {
  run_settings settings = read_run_settings(s, args);
  settings.configuration["seed"] = args.get<long long>("seed");
  const auto extent = [&](const char* name) { return static_cast<std::uint64_t>(args.get<long long>(name)); };
  const long long times = args.get<long long>("slow-rank") == s.rank() ? 10 : 1;
  failing_analysis a({extent("nx"), extent("ny"), extent("nz")},
                     times * std::chrono::milliseconds(args.get<long long>("slowest-ms")),
                     args.get<long long>("break-at"), args.get<bool>("lose-device"));
  return run(s, a, settings, hooks_for(choose_device(s, args)));
}

constexpr command toy_command{"toy", "values computed from voxel numbers", "--out FILE", "", toy_options, run_toy};

void ragged_options(po::options_description& options) {
  const auto number = [](long long standard) { return po::value<long long>()->default_value(standard); };
  options.add_options()("candidates", number(2000), "fibres that are scored");
  options.add_options()("least", number(50), "smallest score of those that are written, 0 to 100");
  options.add_options()("slowest-ms", number(0), "time of the slowest batch")("seed", number(1), "a stored option");
  add_run_options(options);
}

/// Scores candidates into OUT.scores, then writes the best fibres into OUT.
exit_status run_ragged(session& s, const arguments& args) {
  run_settings settings = read_run_settings(s, args);
  const auto least = static_cast<float>(args.get<long long>("least"));
  const std::chrono::milliseconds slowest(args.get<long long>("slowest-ms"));
  settings.configuration["seed"] = args.get<long long>("seed");
  settings.configuration["least"] = least;
  std::vector<std::uint64_t> ids;
  step_list steps;
  steps.run(
      "scores",
      [&] {
        return std::make_unique<toy::scores>(static_cast<std::uint64_t>(args.get<long long>("candidates")), slowest);
      },
      [&](const std::string& file, nlohmann::json& summary) {
        s.on_root([&] {
          const result_reader r(file);
          summary["steps"] = {{"scores", r.summary()}};
          ids = toy::winners(r.read_items("score", 0, r.item_voxels().size()), least);
        });
        s.broadcast(ids);
      });
  steps.result("fibres", [&] { return std::make_unique<toy::ragged>(ids, slowest); });
  return run_steps(s, "ragged", steps, settings, hooks_for(choose_device(s, args)));
}

constexpr command ragged_command{"ragged",  "fibres computed from their numbers", "--out FILE", "", ragged_options,
                                 run_ragged};

}  // namespace

}  // namespace voxherd

int main(int argc, char** argv) {
  const voxherd::command* const commands[] = {&voxherd::toy_command, &voxherd::ragged_command};
  return voxherd::run_program(argc, argv, commands);
}
