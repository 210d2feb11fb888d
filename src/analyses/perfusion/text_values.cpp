#include "src/analyses/perfusion/text_values.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <string_view>

#include "core/option_list.hpp"
#include "src/io/input_file.hpp"

namespace voxherd::perfusion {

namespace {

constexpr std::array<const char*, parameter_count> names{"kl", "ka", "kp", "tau_a", "tau_p"};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

struct list_reader {
  const std::string& list;
  const char* option;
  const char* expected;

  [[noreturn]] void refuse(std::string_view word) const {
    option::refuse(fmt::format("--{} {}: found {}, expected {}", option, printable(list),
                               word.empty() ? "nothing" : '"' + printable(std::string(word)) + '"', expected));
  }

  template <class T>
  T number(std::string_view word, std::string_view whole) const {
    T value{};
    const auto [stopped, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (code != std::errc{} || stopped != word.data() + word.size()) refuse(whole);
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value)) refuse(whole);
    return value;
  }

  parameter name(std::string_view word, std::string_view whole) const {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (word == names[i]) return static_cast<parameter>(i);
    refuse(whole);
  }
};

std::vector<parameter_value> parse_assignments(const list_reader& read, bool range) {
  std::vector<parameter_value> values;
  for (const std::string_view word : split(read.list, ',')) {
    const auto sides = split(word, '=');
    if (sides.size() != 2) read.refuse(word);
    parameter_value v{read.name(sides[0], word)};
    const auto numbers = split(sides[1], ':');
    if (numbers.size() != (range ? 2u : 1u)) read.refuse(word);
    v.value = read.number<double>(numbers[0], word);
    if (range) v.other = read.number<double>(numbers[1], word);
    for (const parameter_value& earlier : values)
      if (earlier.which == v.which)
        option::refuse(
            fmt::format("--{} {}: {} is given twice", read.option, printable(read.list), parameter_name(v.which)));
    values.push_back(v);
  }
  return values;
}

}  // namespace

const char* parameter_name(parameter p) { return names[p]; }
const char* unit_of(parameter p) { return p <= kp ? "ml/100g/min" : "s"; }

std::vector<frame_range> parse_frames(const std::string& list, const char* option) {
  const list_reader read{list, option, "frames counted from 0, e.g. 3,41-47"};
  std::vector<frame_range> ranges;
  for (const std::string_view word : split(list, ',')) {
    const auto ends = split(word, '-');
    if (ends.size() > 2) read.refuse(word);
    const auto first = read.number<std::size_t>(ends.front(), word), last = read.number<std::size_t>(ends.back(), word);
    if (last < first) read.refuse(word);
    ranges.emplace_back(first, last);
  }
  return ranges;
}

std::vector<double> parse_numbers(const std::string& list, const char* option) {
  const list_reader read{list, option, "numbers separated by commas, e.g. 2,10,20"};
  std::vector<double> values;
  for (const std::string_view word : split(list, ',')) values.push_back(read.number<double>(word, word));
  return values;
}

std::vector<parameter_value> parse_values(const std::string& list, const char* option) {
  return parse_assignments(
      {list, option, "NAME=VALUE of kl, ka, kp (ml/100 g/min), tau_a, tau_p (s), e.g. tau_p=0,kp=0"}, false);
}

std::vector<parameter_value> parse_ranges(const std::string& list, const char* option) {
  return parse_assignments(
      {list, option, "NAME=MIN:MAX of kl, ka, kp (ml/100 g/min), tau_a, tau_p (s), e.g. tau_a=0:8,kl=1:2000"}, true);
}

bool is_flow(map m) { return std::string_view(fit_outputs::table[m].unit) == flow_unit; }

map_set parse_maps(const std::string& list) {
  map_set chosen;
  if (list == "all") return chosen.set();
  std::string names;
  for (std::size_t m = 0; m < map_count; ++m) names += std::string(m == 0 ? "" : ", ") + fit_outputs::table[m].name;
  for (std::size_t other = map_count; other < chosen.size(); ++other) chosen.set(other);
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string word = list.substr(at, end - at);
    std::size_t m = 0;
    while (m < map_count && word != fit_outputs::table[m].name) ++m;
    if (m == map_count)
      option::refuse(fmt::format("--maps {}: found \"{}\", expected all, or some of {}, separated by commas",
                                 printable(list), printable(word), names));
    chosen.set(m);
    at = end + 1;
  }
  return chosen;
}

map_set maps_written(const map_set& chosen, const conversion& convert) {
  map_set written = chosen;
  if (!convert.needs_t1()) written.reset(t1_before);
  if (convert.signal == signal_kind::concentration) written.reset(baseline_signal);
  return written;
}

}  // namespace voxherd::perfusion
