// The texts that perfusion reads: times, curves, lists in options.
#include <algorithm>

#include "src/analyses/perfusion/curve_table.hpp"
#include "src/analyses/perfusion/findings.hpp"
#include "src/analyses/perfusion/frames.hpp"
#include "src/analyses/perfusion/text_values.hpp"
#include "tests/fuzz/targets/input.hpp"

namespace voxherd::fuzz {

namespace {

void read_lists(const std::string& text) {
  accepts([&] {
    for (const auto& [first, last] : perfusion::parse_frames(text, "o")) require(first <= last, "frames are in order");
  });
  accepts([&] { perfusion::parse_numbers(text, "o"); });
  accepts([&] { perfusion::parse_values(text, "o", perfusion::info_of<perfusion::dual_model>); });
  accepts([&] { perfusion::parse_ranges(text, "o", perfusion::info_of<perfusion::dual_model>); });
}

void read_tables(const std::string& path) {
  perfusion_settings settings;
  settings.times = path;
  accepts([&] {
    const std::vector<double> times = read_frame_times(settings, 4, "series");
    require(std::is_sorted(times.begin(), times.end()), "times increase");
  });
  for (const curve_input input : {curve_input::arterial, curve_input::portal})
    for (const char* option : {"curves", "arterial-curve"})
      accepts([&] { require(read_curve(path, input, option, {0, 10, 20}).size() == 3, "a value for each time"); });
}

}  // namespace

}  // namespace voxherd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace voxherd::fuzz;
  const std::string_view text = as_text(data, size);
  read_lists(std::string(text.substr(0, text.find('\n'))));
  const input file(text);
  read_tables(file.path());
  return 0;
}
