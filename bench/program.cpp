#include "bench/program.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <fstream>
#include <iostream>
#include <thread>
#include <vector>

#include "core/failure.hpp"
#include "kernels/device/cpu_level.hpp"

namespace voxherd::bench {

namespace {

namespace po = boost::program_options;

bool all_right = true;

/// The current problem. Google Benchmark calls a benchmark several times to determine the number of runs: the answer is
/// verified the first time.
struct {
  std::string name, error;
  std::unique_ptr<problem> one;
} kept;

void refuse(benchmark::State& state, const std::string& why) {
  all_right = false;
  state.SkipWithError(why.c_str());
}

void keep(const std::string& name, const std::function<std::unique_ptr<problem>()>& make) {
  kept.one.reset();  // before the next one allocates memory
  kept.one = make();
  kept.one->run();
  kept.error = kept.one->find_error();
  kept.name = name;
}

void time_runs(benchmark::State& state, problem& p) {
  double device_seconds = 0;
  for (auto _ : state) {
    p.run();
    device_seconds += p.device_seconds();
  }
  using benchmark::Counter;
  const auto voxels = static_cast<double>(p.voxels()), timed = voxels * static_cast<double>(state.iterations());
  state.counters[p.unit() + "s"] = voxels;
  state.counters[p.unit() + "s_per_s"] = Counter(timed, Counter::kIsRate);
  state.counters["time_per_" + p.unit()] = Counter(timed, Counter::kIsRate | Counter::kInvert);
  for (const auto& [name, value] : p.more()) state.counters[name] = value;
  if (device_seconds > 0) state.counters["device_time"] = Counter(device_seconds, Counter::kAvgIterations);
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown CPU";
}

/// Makes the GPU current; returns its name.
std::string take_gpu(const device& d) {
  std::string why_none;
  const auto gpus = visible_gpus(&why_none);
  if (gpus.empty())
    throw failure(exit_status::usage,
                  fmt::format("--backend cuda: {}; --backend cpu computes without a GPU", why_none));
  use_device(d);
  return gpus[static_cast<std::size_t>(d.cuda_ordinal)].name;
}

device find_device(const po::variables_map& given) {
  const auto wish = given["backend"].as<std::string>();
  if (wish != "cpu" && wish != "cuda")
    throw failure(exit_status::usage, fmt::format("--backend {}: expected one of cpu, cuda", wish));
  const int threads = given["threads"].as<int>();
  if (threads < 1) throw failure(exit_status::usage, fmt::format("--threads {}: expected 1 or more", threads));
  return {wish == "cuda" ? backend::cuda : backend::cpu, threads, 0};
}

void describe(const bench_options& o, int argc, char** argv) {
  const bool cuda = o.chosen.kind == backend::cuda;
  benchmark::AddCustomContext("command", fmt::format("{}", fmt::join(argv, argv + argc, " ")));
  benchmark::AddCustomContext("backend", cuda ? "cuda" : "cpu");
  benchmark::AddCustomContext("machine", cuda ? take_gpu(o.chosen) : cpu_name());
  benchmark::AddCustomContext("threads", std::to_string(o.chosen.threads));
  benchmark::AddCustomContext("cpu_kernels_built_for", cpu_levels[running_cpu_level].name);
}

int run(int argc, char** argv, const std::function<void(const bench_options&)>& add_all) {
  po::options_description known("options in addition to those of Google Benchmark (--help)");
  known.add_options()                                                                      //
      ("backend", po::value<std::string>()->default_value("cpu"), "cpu | cuda")            //
      ("threads", po::value<int>()->default_value(1), "CPU threads; threads_bench: most")  //
      ("voxels", po::value<std::size_t>()->default_value(0), "voxels per run; 0: the benchmark's default");
  const auto parsed = po::command_line_parser(argc, argv).options(known).allow_unregistered().run();
  po::variables_map given;
  po::store(parsed, given);
  const bench_options options{find_device(given), !given["threads"].defaulted(), given["voxels"].as<std::size_t>()};
  describe(options, argc, argv);

  auto rest = po::collect_unrecognized(parsed.options, po::include_positional);
  std::vector<char*> words{argv[0]};
  for (auto& word : rest) words.push_back(word.data());
  int count = static_cast<int>(words.size());
  words.push_back(nullptr);
  for (const auto& word : rest)
    if (word == "--help") std::cout << known << '\n';
  benchmark::Initialize(&count, words.data());
  if (benchmark::ReportUnrecognizedArguments(count, words.data())) return static_cast<int>(exit_status::usage);
  add_all(options);
  const std::size_t ran = benchmark::RunSpecifiedBenchmarks();
  kept.one.reset();  // not after main: the CUDA runtime may already be unloaded
  if (ran == 0)
    throw failure(exit_status::usage, "--benchmark_filter matches no benchmark; --benchmark_list_tests lists them");
  return all_right ? 0 : 1;
}

}  // namespace

void add_benchmark(const std::string& name, std::function<std::unique_ptr<problem>()> make) {
  const auto body = [name, make = std::move(make)](benchmark::State& state) {
    try {
      if (kept.name != name) keep(name, make);
      if (!kept.error.empty()) return refuse(state, kept.error);
      time_runs(state, *kept.one);
    } catch (const no_data& e) {
      kept.name.clear();
      state.SkipWithError(e.what());
    } catch (const std::exception& e) {
      kept.name.clear();
      refuse(state, e.what());
    }
  };
  benchmark::RegisterBenchmark(name.c_str(), body)->UseRealTime()->Unit(benchmark::kMillisecond);
}

std::vector<place> benchmark_devices(const bench_options& o) {
  if (o.chosen.kind == backend::cuda) return {{o.chosen, "gpu"}};
  const int most =
      o.threads_given ? o.chosen.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<place> list;
  for (int n = 1; n < 2 * most; n *= 2) {
    const int threads = std::min(n, most);
    list.push_back({{backend::cpu, threads, 0}, fmt::format("threads{}", threads)});
  }
  return list;
}

int run_benchmarks(int argc, char** argv, const std::function<void(const bench_options&)>& add_all) {
  try {
    return run(argc, argv, add_all);
  } catch (const failure& f) {
    std::cerr << "error: " << f.what() << '\n';
    return static_cast<int>(f.status);
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
    return static_cast<int>(exit_status::usage);
  }
}

}  // namespace voxherd::bench
