#include "core/options.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

namespace voxherd {

namespace {

std::string limits_text(const option_spec& spec) {
  const range& r = *spec.limits;
  const std::string unit = spec.unit.empty() ? "" : " " + spec.unit;
  if (std::isinf(r.max)) return fmt::format("{}{} or more", r.min, unit);
  return fmt::format("{}{} to {}{}", r.or_zero ? "0, or " : "", r.min, r.max, unit);
}

[[noreturn]] void refuse_value(const option_spec& spec, const std::string& text, const std::string& expected) {
  option::refuse(fmt::format("--{} {}: expected {}", spec.name, text, expected));
}

bool is_within(const range& r, double value) { return (value >= r.min && value <= r.max) || (r.or_zero && value == 0); }

/// " (600 ms is 0.6 s)", if the value is in range in a unit that is often confused with the option's; else "".
std::string likely_mistake(const option_spec& spec, double value) {
  struct confused {
    const char *unit, *other;
    double factor;
  };
  for (const confused& c : {confused{"s", "ms", 0.001}, {"s", "min", 60}, {"ms", "s", 1000}, {"mm", "m", 1000}})
    if (spec.unit == c.unit && value != 0 && is_within(*spec.limits, value * c.factor))
      return fmt::format(" ({:g} {} is {:g} {})", value, c.other, value * c.factor, c.unit);
  const bool is_fraction = spec.unit.empty() && spec.limits->min >= 0 && spec.limits->max <= 1;
  if (is_fraction && value > 1 && is_within(*spec.limits, value / 100))
    return fmt::format(" ({:g} % is {:g})", value, value / 100);
  return "";
}

/// The complete text as a number.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  Number value{};
  const auto [stopped, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || stopped != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string option_spec::accepted() const {
  if (!words.empty()) return fmt::format("{}", fmt::join(words, " | "));
  return limits ? limits_text(*this) : "";
}

namespace option {

void refuse(const std::string& message) { throw failure(exit_status::usage, message); }

void refuse_given(const given_options& given, std::string_view name, const std::string& reason) {
  if (given.has(name)) refuse(fmt::format("--{} has no meaning {}; leave it out", name, reason));
}

long long parse_integer(const option_spec& spec, const std::string& text) {
  const auto value = parse_number<long long>(text);
  if (!value) refuse_value(spec, text, "an integer, " + limits_text(spec));
  if (!is_within(*spec.limits, static_cast<double>(*value))) refuse_value(spec, text, limits_text(spec));
  return *value;
}

double parse_real(const option_spec& spec, const std::string& text) {
  const auto value = parse_number<double>(text);
  if (!value) refuse_value(spec, text, "a number, " + limits_text(spec));
  if (!is_within(*spec.limits, *value)) refuse_value(spec, text, limits_text(spec) + likely_mistake(spec, *value));
  return *value;
}

std::size_t parse_word(const option_spec& spec, const std::string& text) {
  for (std::size_t i = 0; i < spec.words.size(); ++i)
    if (spec.words[i] == text) return i;
  refuse_value(spec, text, fmt::format("one of {}", fmt::join(spec.words, ", ")));
}

double shortest_decimal(float value) { return std::stod(fmt::format("{}", value)); }

std::string as_text(const option_value& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using value_type = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<value_type, std::monostate>) {
          return "";
        } else if constexpr (std::is_same_v<value_type, bool>) {
          return v ? "yes" : "no";
        } else if constexpr (std::is_arithmetic_v<value_type> || std::is_same_v<value_type, std::string>) {
          return fmt::format("{}", v);
        } else {
          return fmt::format("{}", fmt::join(v, ","));
        }
      },
      value);
}

}  // namespace option

}  // namespace voxherd
