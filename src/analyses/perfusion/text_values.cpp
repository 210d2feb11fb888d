#include "src/analyses/perfusion/text_values.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "core/option_list.hpp"
#include "src/analyses/perfusion/model_forms.hpp"

namespace voxherd::perfusion {

namespace {

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
  std::string expected;

  [[noreturn]] void refuse(std::string_view word) const {
    option::refuse(fmt::format("--{} {}: found {}, expected {}", option, list,
                               word.empty() ? "nothing" : fmt::format("\"{}\"", word), expected));
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
};

std::size_t read_name(const list_reader& read, const model_info& model, std::string_view word, std::string_view whole) {
  for (std::size_t i = 0; i < model.parameters.size(); ++i)
    if (word == model.parameters[i].name) return i;
  read.refuse(whole);
}

std::vector<parameter_value> parse_assignments(const list_reader& read, const model_info& model, bool range) {
  std::vector<parameter_value> values;
  for (const std::string_view word : split(read.list, ',')) {
    const auto sides = split(word, '=');
    if (sides.size() != 2) read.refuse(word);
    parameter_value v{read_name(read, model, sides[0], word)};
    const auto numbers = split(sides[1], ':');
    if (numbers.size() != (range ? 2u : 1u)) read.refuse(word);
    v.value = read.number<double>(numbers[0], word);
    if (range) v.other = read.number<double>(numbers[1], word);
    for (const parameter_value& earlier : values)
      if (earlier.which == v.which)
        option::refuse(fmt::format("--{} {}: {} is given twice", read.option, read.list, sides[0]));
    values.push_back(v);
  }
  return values;
}

}  // namespace

std::string list_parameters(const model_info& model) {
  std::string text;
  for (std::size_t i = 0; i < model.parameters.size(); ++i) {
    const parameter& p = model.parameters[i];
    text += (i == 0 ? "" : ", ") + std::string(p.name);
    const bool is_last = i + 1 == model.parameters.size();
    if (is_last || std::string_view(model.parameters[i + 1].unit().name) != p.unit().name)
      text += fmt::format(" ({})", p.unit().spelled);
  }
  return text;
}

std::string example_starts(const model_info& model) {
  std::string text;
  for (const parameter& p : model.parameters) text += fmt::format("{}{}={}", text.empty() ? "" : ",", p.name, p.start);
  return text;
}

namespace {

const parameter& last_of(const model_info& model, parameter_role role) {
  std::size_t last = model.parameters.size() - 1;
  while (last > 0 && model.parameters[last].role != role) --last;
  return model.parameters[last];
}

}  // namespace

std::string example_values(const model_info& model) {
  return fmt::format("{}=0,{}=0", last_of(model, parameter_role::delay).name,
                     last_of(model, parameter_role::flow).name);
}

std::string example_ranges(const model_info& model) {
  const parameter &delay = last_of(model, parameter_role::delay), &shape = last_of(model, parameter_role::shape);
  return fmt::format("{}={}:{},{}={}:{}", delay.name, delay.low, delay.high, shape.name, shape.low, shape.high);
}

std::string example_maps(const model_info& model) {
  const shown_outputs shown(model);
  return fmt::format("{},{},{}", shown.fitted.at(0), shown.fitted.at(1), shown.derived.back());
}

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

std::vector<parameter_value> parse_values(const std::string& list, const char* option, const model_info& model) {
  const auto expected = fmt::format("NAME=VALUE of {}, e.g. {}", list_parameters(model), example_values(model));
  return parse_assignments({list, option, expected}, model, false);
}

std::vector<parameter_value> parse_ranges(const std::string& list, const char* option, const model_info& model) {
  const auto expected = fmt::format("NAME=MIN:MAX of {}, e.g. {}", list_parameters(model), example_ranges(model));
  return parse_assignments({list, option, expected}, model, true);
}

map_set parse_maps(const std::string& list, const model_info& model) {
  map_set chosen(model.outputs.size(), true);
  if (list == "all") return chosen;
  const auto maps = model.outputs.first(model.maps);
  std::fill_n(chosen.begin(), maps.size(), false);
  for (const std::string_view word : split(list, ',')) {
    const auto found = std::find_if(maps.begin(), maps.end(), [&](const output& o) { return word == o.name; });
    if (found == maps.end()) {
      std::string names;
      for (const output& o : maps) names += (names.empty() ? "" : ", ") + std::string(o.name);
      option::refuse(
          fmt::format("--maps {}: found \"{}\", expected all, or some of {}, separated by commas", list, word, names));
    }
    chosen[static_cast<std::size_t>(found - maps.begin())] = true;
  }
  return chosen;
}

map_set maps_written(const map_set& chosen, const conversion& convert, const model_info& model) {
  map_set written = chosen;
  if (!convert.needs_t1()) written[output_place(model, "t1_before")] = false;
  if (convert.signal == signal_kind::concentration) written[output_place(model, "baseline_signal")] = false;
  return written;
}

}  // namespace voxherd::perfusion
