#include "src/commands/doctor/self_test.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "core/clock.hpp"
#include "core/command_line.hpp"
#include "core/current_failure.hpp"
#include "core/device.hpp"
#include "core/text.hpp"
#include "kernels/device/cpu_level.hpp"
#include "mpi/result/result_reader.hpp"
#include "mpi/result/rows.hpp"
#include "mpi/run/signals.hpp"
#include "src/io/temporary_folder.hpp"

namespace voxherd {

namespace {

/// A device that is tested.
struct tested_device {
  backend_choice backend = backend_choice::cpu;
  int gpu = 0;
  std::string name;
};

std::vector<tested_device> list_devices() {
  std::vector<tested_device> all{{backend_choice::cpu, 0, fmt::format("CPU ({})", cpu_levels[running_cpu_level].name)}};
  for (const gpu& g : visible_gpus())
    all.push_back({backend_choice::cuda, g.ordinal, fmt::format("GPU {} ({})", g.ordinal, g.name)});
  return all;
}

class mean_of_values {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  double get() const { return sum_ / static_cast<double>(count_); }

 private:
  double sum_ = 0;
  std::uint64_t count_ = 0;
};

/// Not a number if there are no values, or if one of them is none. Throws failure (bad_data) for an unknown name.
double read_mean(const result_reader& result, const std::string& name) {
  mean_of_values mean;
  if (const auto slash = name.find('/'); slash != std::string::npos) {
    const constant* const c = result.find_constant(name.substr(0, slash), name.substr(slash + 1));
    if (c == nullptr) refuse_data(name + " is missing in the result");
    for (const double value : c->values) mean.add(value);
    return mean.get();
  }
  const output_spec& output = result.output(name);
  for (const batch& items : result.batches()) {
    const std::vector<std::byte> rows = read_item_rows(result, output, items);
    with_element_type(output.type, [&]<class T>() {
      for (std::size_t at = 0; at < rows.size(); at += sizeof(T)) {
        T value;
        std::memcpy(&value, rows.data() + at, sizeof value);
        mean.add(static_cast<double>(value));
      }
    });
  }
  return mean.get();
}

std::vector<std::string> words_in(const std::string& words, const std::string& folder) {
  std::vector<std::string> all = split_words(words);
  for (std::string& word : all)
    if (word.starts_with("@/")) word.replace(0, 1, folder);
  return all;
}

/// Runs a case; what is wrong with its result, "" for nothing. Throws failure.
std::string run_case(session& s, const self_test_case& c, const tested_device& d, const temporary_folder& folder) {
  std::vector<std::string> words = words_in(c.words, folder.file(""));
  const std::string out = folder.file(fmt::format("{}.h5", c.command));
  if (!c.means.empty()) words.insert(words.end(), {"--out", out});
  const auto prepared = prepare_command(find_command(all_commands(), c.command), words);
  if (run_request* const run = prepared->run_options()) {
    run->backend = d.backend;
    run->gpu = d.gpu;
    run->share_gpu = run->overwrite = run->quiet = true;
  }
  const exit_status status = prepared->run(s);
  if (stop_signals::received() != 0) throw failure(exit_status::interrupted, "stopped by a signal");
  if (status != exit_status::complete) return fmt::format("exit status {}", static_cast<int>(status));
  std::string wrong;
  if (c.means.empty()) return wrong;
  const result_reader result(out);
  for (const stored_mean& stored : c.means) {
    const std::string one = judge_mean(stored, read_mean(result, stored.name));
    if (!one.empty()) wrong += (wrong.empty() ? "" : "; ") + one;
  }
  return wrong;
}

/// The line of a case. Throws failure (interrupted).
finding judge_case(session& s, const self_test_case& c, const tested_device& d, const temporary_folder& folder) {
  lap_timer clock;
  std::string wrong;
  try {
    wrong = run_case(s, c, d, folder);
  } catch (...) {
    const failure f = current_failure();
    if (f.status == exit_status::interrupted) throw f;
    wrong = f.what();
  }
  const std::string text = fmt::format("{}: {}{:.2f} s", d.name, wrong.empty() ? "" : wrong + "; ", clock.lap());
  return {wrong.empty() ? verdict::fine : verdict::problem, c.command, text};
}

}  // namespace

std::string judge_mean(const stored_mean& stored, double found) {
  const double largest = stored.tolerance * std::abs(stored.value);
  if (std::abs(found - stored.value) <= largest) return "";
  return fmt::format("mean of {}: expected {:.7g} ± {:.2g}, found {:.7g}", stored.name, stored.value, largest, found);
}

exit_status run_self_test(session& s, const std::vector<self_test_case>& cases) {
  if (s.size() > 1) refuse_usage("--self-test: expected one process, found {} ranks", s.size());
  spdlog::set_level(spdlog::level::warn);
  // So that the folder is removed.
  const stop_signals signals;
  std::signal(SIGPIPE, SIG_IGN);
  const temporary_folder folder("self-test");

  bool all_right = true;
  const auto report = [&](const finding& f) {
    all_right &= f.how != verdict::problem;
    fmt::print("{}", finding_line(f));
    std::fflush(stdout);
  };
  bool has_inputs = false;
  for (const tested_device& d : list_devices()) {
    for (const self_test_case& c : cases) {
      const bool makes_inputs = c.means.empty();
      if (makes_inputs && has_inputs) continue;
      const finding f = judge_case(s, c, d, folder);
      if (!makes_inputs || f.how == verdict::problem) report(f);
    }
    has_inputs = true;
  }
  if (visible_gpus().empty())
    for (const finding& f : check_gpus()) report(f);
  fmt::print("{}\n", all_right ? "no problem found" : "results are wrong on this machine, see PROBLEM above");
  return all_right ? exit_status::complete : exit_status::different;
}

}  // namespace voxherd
