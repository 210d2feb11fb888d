#include "core/option_list.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

namespace voxherd {

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream rest(text);
  for (std::string part; std::getline(rest, part, separator);)
    if (const auto begin = part.find_first_not_of(' '); begin != std::string::npos) parts.push_back(part.substr(begin));
  return parts;
}

std::vector<option_condition> parse_conditions(const char* text) {
  std::vector<option_condition> conditions;
  for (const std::string& part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    conditions.push_back({split(part.substr(0, equals), '|'), equals == std::string::npos
                                                                  ? std::vector<std::string>()
                                                                  : split(part.substr(equals + 1), '|')});
  }
  return conditions;
}

std::string limits_text(const option_spec& spec) {
  const range& r = *spec.limits;
  const std::string unit = spec.unit.empty() ? "" : " " + spec.unit;
  if (std::isinf(r.max)) return fmt::format("{}{} or more", r.min, unit);
  return fmt::format("{}{} to {}{}", r.or_zero ? "0, or " : "", r.min, r.max, unit);
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

long long parse_integer(const option_spec& spec, const std::string& text) {
  const auto value = parse_number<long long>(text);
  if (!value) refuse_usage("{} {}: expected an integer, {}", spec.label(), text, limits_text(spec));
  if (!is_within(*spec.limits, static_cast<double>(*value)))
    refuse_usage("{} {}: expected {}", spec.label(), text, limits_text(spec));
  return *value;
}

double parse_real(const option_spec& spec, const std::string& text) {
  const auto value = parse_number<double>(text);
  if (!value) refuse_usage("{} {}: expected a number, {}", spec.label(), text, limits_text(spec));
  if (!is_within(*spec.limits, *value))
    refuse_usage("{} {}: expected {}{}", spec.label(), text, limits_text(spec), likely_mistake(spec, *value));
  return *value;
}

/// Its number among spec.words.
std::size_t parse_word(const option_spec& spec, const std::string& text) {
  for (std::size_t i = 0; i < spec.words.size(); ++i)
    if (spec.words[i] == text) return i;
  refuse_usage("{} {}: expected one of {}", spec.label(), text, fmt::join(spec.words, ", "));
}

/// "bspline; streamline, finsler4: trilinear": the last case applies where no other one does.
std::string defaults_text(const option::default_case* cases, std::size_t count) {
  std::string text = cases[count - 1].value;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    std::vector<std::string> words;
    for (const option_condition& c : parse_conditions(cases[i].when))
      for (const std::string& word : c.words.empty() ? c.names : c.words) words.push_back(word);
    text += fmt::format("; {}: {}", fmt::join(words, ", "), cases[i].value);
  }
  return text;
}

option_spec make_spec(const char* heading, const option::declared_option& o, const option_notes& n) {
  constexpr const char* placeholders[] = {"", "N", "X", "WORD", "TEXT", "FILE"};
  option_spec spec;
  spec.name = o.name;
  spec.type = o.type;
  spec.help = n.text;
  spec.group = heading;
  spec.value = *n.value == '\0' ? placeholders[static_cast<std::size_t>(o.type)] : n.value;
  spec.unit = n.unit;
  spec.limits = o.limits;
  spec.needs = parse_conditions(n.needs);
  spec.place = n.place;
  spec.required = n.required;
  spec.repeats = o.is_list;
  spec.many = n.many;
  spec.stored = n.stored != option_storage::never;
  spec.paper = n.paper;
  return spec;
}

}  // namespace

std::string option_spec::accepted() const {
  if (!words.empty()) return fmt::format("{}", fmt::join(words, " | "));
  return limits ? limits_text(*this) : "";
}

std::string option_spec::label() const { return place > 0 ? value : "--" + name; }

std::string option_spec::shown() const {
  const std::string more = many || (place > 0 && repeats) ? " ..." : "";
  if (place > 0) return (words.empty() ? value : fmt::format("{}", fmt::join(words, "|"))) + more;
  return fmt::format("--{}{}{}{}", name, takes_value() ? " " : "", value, more);
}

std::string option_condition::text() const {
  return words.empty() ? fmt::format("--{}", fmt::join(names, " or --"))
                       : fmt::format("--{} {}", names.front(), fmt::join(words, " or "));
}

namespace option {

void refuse(const std::string& message) { refuse_usage(message); }

void refuse_given(const given_options& given, std::string_view name, const std::string& reason) {
  if (given.has(name)) refuse_usage("--{} has no meaning {}; leave it out", name, reason);
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

const option_spec* option_list::find(std::string_view name) const {
  const auto found = std::find_if(specs_.begin(), specs_.end(), [&](const option_spec& s) { return s.name == name; });
  return found == specs_.end() ? nullptr : &*found;
}

std::size_t option_list::index(std::string_view name) const {
  const option_spec* found = find(name);
  return found == nullptr ? specs_.size() : static_cast<std::size_t>(found - specs_.data());
}

void option_list::add(const char* heading, const option::declared_option& o, const option_notes& notes,
                      const void* blank) {
  option_spec spec = make_spec(heading, o, notes);
  kept_option kept;
  kept.from = o;
  kept.storage = notes.stored;
  if (o.read_words != nullptr) o.read_words(o.words, o.word_count, spec.words, kept.meanings);
  std::size_t cases = 0;
  for (const option::default_case& c : notes.defaults) {
    if (c.when == nullptr) break;
    kept.defaults.push_back({parse_conditions(c.when), c.value});
    ++cases;
  }
  specs_.push_back(std::move(spec));
  kept_.push_back(std::move(kept));
  const std::size_t i = specs_.size() - 1;
  kept_[i].initial = get(i, blank);
  for (const std::string& text : texts(i, blank))
    kept_[i].initial_text += (kept_[i].initial_text.empty() ? "" : ",") + text;
  std::string& standard = specs_[i].standard;
  if (*notes.standard != '\0')
    standard = notes.standard;
  else if (cases > 0)
    standard = defaults_text(notes.defaults, cases);
  else if (specs_[i].takes_value())
    standard = kept_[i].initial_text;
}

void option_list::add_part(const option_list& part, std::size_t offset) {
  specs_.insert(specs_.end(), part.specs_.begin(), part.specs_.end());
  for (kept_option kept : part.kept_) {
    kept.from.offset += offset;
    kept_.push_back(std::move(kept));
  }
  choices_.insert(choices_.end(), part.choices_.begin(), part.choices_.end());
  forms_.insert(forms_.end(), part.forms_.begin(), part.forms_.end());
  for (const auto& compute : part.computed_)
    computed_.push_back([compute, offset](void* request) { compute(static_cast<char*>(request) + offset); });
  for (const rule& r : part.rules_)
    rules_.push_back([r, offset](const void* request, const given_options& given) {
      r(static_cast<const char*>(request) + offset, given);
    });
}

void option_list::add_renamed(const option_list& base, std::size_t offset,
                              const std::function<std::string(const option_spec&)>& new_name) {
  option_list part = base;
  std::map<std::string, std::string> names;
  for (const option_spec& spec : base.specs_) names[spec.name] = new_name(spec);
  const auto rename = [&](std::vector<option_condition>& conditions) {
    for (option_condition& c : conditions)
      for (std::string& name : c.names)
        if (const auto found = names.find(name); found != names.end() && !found->second.empty()) name = found->second;
  };
  std::erase_if(part.choices_, [&](option_choices& c) {
    bool has_all = true;
    for (auto& choice : c.choices)
      for (auto& alternatives : choice)
        for (std::string& name : alternatives) name = names.at(name), has_all = has_all && !name.empty();
    return !has_all;
  });
  for (std::size_t i = part.specs_.size(); i-- > 0;) {
    option_spec& spec = part.specs_[i];
    spec.name = names.at(spec.name);
    spec.required = false;
    rename(spec.needs);
    for (kept_default& d : part.kept_[i].defaults) rename(d.when);
    if (!spec.name.empty()) continue;
    part.specs_.erase(part.specs_.begin() + static_cast<std::ptrdiff_t>(i));
    part.kept_.erase(part.kept_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  add_part(part, offset);
}

void option_list::add_choices(std::initializer_list<const char*> choices, choice_rule how_many) {
  option_choices added{{}, how_many};
  for (const char* choice : choices) {
    added.choices.emplace_back();
    for (const std::string& part : split(choice, ' ')) {
      added.choices.back().push_back(split(part, '|'));
      for (const std::string& name : added.choices.back().back())
        if (const std::size_t i = index(name); i < specs_.size()) specs_[i].required = false;
    }
  }
  choices_.push_back(std::move(added));
}

void option_list::add_form(const char* words, const char* required) {
  forms_.push_back({split(words, '|'), split(required, ' ')});
}

option_value option_list::get(std::size_t i, const void* request) const {
  const option::declared_option& o = kept_[i].from;
  return o.access == nullptr ? option_value{} : o.access->get(static_cast<const char*>(request) + o.offset);
}

/// The words that would be typed for the value of a request; none without a value.
std::vector<std::string> option_list::texts(std::size_t i, const void* request) const {
  const kept_option& kept = kept_[i];
  const option_value value = get(i, request);
  if (kept.from.print != nullptr) {
    const std::string text =
        kept.from.texts->print(kept.from.print, static_cast<const char*>(request) + kept.from.offset);
    return text.empty() ? std::vector<std::string>() : std::vector{text};
  }
  if (!specs_[i].words.empty()) {
    for (std::size_t w = 0; w < kept.meanings.size(); ++w)
      if (kept.meanings[w] == value) return {specs_[i].words[w]};
    return {};
  }
  if (specs_[i].repeats) return std::get<std::vector<std::string>>(value);
  const std::string text = option::as_text(value);
  return text.empty() ? std::vector<std::string>() : std::vector{text};
}

void option_list::set_text(std::size_t i, void* request, const std::string& text) const {
  const option_spec& spec = specs_[i];
  const kept_option& kept = kept_[i];
  if (kept.from.access == nullptr) return;
  void* member = static_cast<char*>(request) + kept.from.offset;
  const auto set = [&](const option_value& value) { kept.from.access->set(member, value); };
  if (kept.from.texts != nullptr) return kept.from.texts->fill(kept.from.parse, member, text, spec.name.c_str());
  switch (spec.type) {
    case option_type::flag:
      return set(true);
    case option_type::integer:
      return set(parse_integer(spec, text));
    case option_type::real:
      return set(parse_real(spec, text));
    case option_type::word:
      return set(kept.meanings[parse_word(spec, text)]);
    case option_type::text:
    case option_type::file:
      return set(text);
  }
}

void option_list::set_words(std::size_t i, void* request, const std::vector<std::string>& words) const {
  const kept_option& kept = kept_[i];
  if (specs_[i].repeats && kept.from.access != nullptr)
    kept.from.access->set(static_cast<char*>(request) + kept.from.offset, words);
  else
    set_text(i, request, words.empty() ? "" : words.front());
}

void option_list::fill(void* request, const given_options& given) const {
  for (std::size_t i = 0; i < specs_.size(); ++i)
    if (const auto found = given.values.find(specs_[i].name); found != given.values.end())
      set_words(i, request, found->second);
}

}  // namespace voxherd
