// Options together: what one of them means for another one, and what a command needs.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/option_list.hpp"

namespace voxherd {

namespace {

bool is_something(const option_value& value) {
  return std::visit(
      [](const auto& v) {
        using value_type = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<value_type, std::monostate>) return false;
        if constexpr (std::is_arithmetic_v<value_type>) return v != value_type{};
        if constexpr (requires { v.empty(); }) return !v.empty();
        return false;
      },
      value);
}

/// The ones of `names` that are given.
std::vector<std::string> given_of(const std::vector<std::string>& names, const given_options& given) {
  std::vector<std::string> found;
  for (const std::string& name : names)
    if (given.has(name)) found.push_back(name);
  return found;
}

/// " (with --model dual)", if an option is only needed with these words of another one.
std::string words_needed(const option_spec& spec) {
  std::string text;
  for (const option_condition& c : spec.needs)
    if (!c.words.empty()) text += fmt::format(" (with {})", c.text());
  return text;
}

}  // namespace

bool option_list::holds(const option_condition& condition, const void* request) const {
  for (const std::string& name : condition.names) {
    const std::size_t i = index(name);
    if (i == specs_.size()) continue;
    if (condition.words.empty() && is_something(get(i, request))) return true;
    for (const std::string& text : texts(i, request))
      if (std::find(condition.words.begin(), condition.words.end(), text) != condition.words.end()) return true;
  }
  return false;
}

bool option_list::applies(std::size_t i, const void* request) const {
  return std::all_of(specs_[i].needs.begin(), specs_[i].needs.end(),
                     [&](const option_condition& c) { return holds(c, request); });
}

std::string option_list::default_text(std::size_t i, const void* request) const {
  for (const kept_default& d : kept_[i].defaults)
    if (std::all_of(d.when.begin(), d.when.end(), [&](const option_condition& c) { return holds(c, request); }))
      return d.value;
  return kept_[i].initial_text;
}

void option_list::complete_request(void* request) const {
  for (std::size_t i = 0; i < specs_.size(); ++i)
    if (!kept_[i].defaults.empty() && get(i, request).index() == 0) set_text(i, request, default_text(i, request));
  for (const auto& compute : computed_) compute(request);
}

/// "--from FILE", or "(--from FILE | --from-point X,Y,Z)".
std::string option_list::part_text(const std::vector<std::string>& alternatives) const {
  std::vector<std::string> shown;
  for (const std::string& name : alternatives)
    if (const option_spec* spec = find(name)) shown.push_back(spec->shown());
  return shown.size() == 1 ? shown.front() : fmt::format("({})", fmt::join(shown, " | "));
}

std::vector<std::string> option_list::choice_parts(const option_choices& c) const {
  std::vector<std::string> parts;
  for (const auto& choice : c.choices) {
    if (!parts.empty()) parts.emplace_back("|");
    for (const auto& part : choice) parts.push_back(part_text(part));
  }
  parts.front().insert(0, c.is_optional() ? "[" : "(");
  parts.back() += c.is_optional() ? "]" : ")";
  return parts;
}

std::vector<std::vector<std::string>> option_list::usage() const {
  std::vector<std::vector<std::string>> lines;
  for (const option_form& form : forms_) {
    lines.push_back({fmt::format("{}", fmt::join(form.words, "|"))});
    for (const std::string& name : form.required) lines.back().push_back(find(name)->shown());
    lines.back().emplace_back("[options]");
  }
  if (!lines.empty()) return lines;
  std::map<int, std::string> placed;
  std::vector<std::string> named;
  for (const option_spec& spec : specs_) {
    if (spec.place > 0) placed[spec.place] = spec.required ? spec.shown() : fmt::format("[{}]", spec.shown());
    if (spec.place == 0 && spec.required) named.push_back(spec.shown());
    for (const option_choices& c : choices_) {
      if (c.first() != spec.name || (c.is_optional() && !spec.takes_value())) continue;
      const std::vector<std::string> parts = choice_parts(c);
      named.insert(named.end(), parts.begin(), parts.end());
    }
  }
  std::vector<std::string> line;
  for (const auto& [place, word] : placed) line.push_back(word);
  line.insert(line.end(), named.begin(), named.end());
  line.emplace_back("[options]");
  return {line};
}

const option_form* option_list::find_form(const given_options& given) const {
  if (forms_.empty()) return nullptr;
  const auto first = std::find_if(specs_.begin(), specs_.end(), [](const option_spec& s) { return s.place == 1; });
  std::vector<std::string> all;
  for (const option_form& form : forms_) all.insert(all.end(), form.words.begin(), form.words.end());
  if (!given.has(first->name))
    refuse_usage("{}: {} is missing, expected one of {}", given.command, first->value, fmt::join(all, ", "));
  const std::string& word = given.values.at(first->name).front();
  for (const option_form& form : forms_)
    if (std::find(form.words.begin(), form.words.end(), word) != form.words.end()) return &form;
  refuse_usage("{} {}: expected one of {}", given.command, word, fmt::join(all, ", "));
}

/// What is missing of the choice that was made, or all of it.
std::vector<std::string> option_list::find_missing(const option_choices& c, const void* request,
                                                   const given_options& given) const {
  for (const auto& choice : c.choices) {
    if (std::none_of(choice.begin(), choice.end(), [&](const auto& part) { return !given_of(part, given).empty(); }))
      continue;
    std::vector<std::string> missing;
    for (const auto& part : choice) {
      const auto is_possible = [&](const std::string& name) {
        const std::size_t i = index(name);
        return i < specs_.size() && applies(i, request);
      };
      if (given_of(part, given).empty() && std::any_of(part.begin(), part.end(), is_possible))
        missing.push_back(part_text(part) + words_needed(*find(part.front())));
    }
    return missing;
  }
  if (c.is_optional()) return {};
  return {fmt::format("{}", fmt::join(choice_parts(c), " "))};
}

std::vector<std::string> option_list::find_missing(const void* request, const given_options& given) const {
  std::vector<std::string> missing;
  const option_form* form = find_form(given);
  for (const option_spec& spec : specs_) {
    const bool by_form =
        form != nullptr && std::find(form->required.begin(), form->required.end(), spec.name) != form->required.end();
    if ((spec.required || by_form) && !given.has(spec.name)) missing.push_back(spec.shown());
    for (const option_choices& c : choices_) {
      if (c.first() != spec.name) continue;
      const std::vector<std::string> more = find_missing(c, request, given);
      missing.insert(missing.end(), more.begin(), more.end());
    }
  }
  return missing;
}

void option_list::check_choices(const given_options& given) const {
  for (const option_choices& c : choices_) {
    if (c.rule == choice_rule::at_least_one) continue;
    std::string chosen;
    for (const auto& choice : c.choices) {
      std::string first;
      for (const auto& part : choice) {
        const std::vector<std::string> found = given_of(part, given);
        if (found.size() > 1) refuse_usage("--{} and --{} exclude each other; give one", found[0], found[1]);
        if (!found.empty() && first.empty()) first = found.front();
      }
      if (first.empty()) continue;
      if (!chosen.empty()) refuse_usage("--{} and --{} exclude each other; give one", chosen, first);
      chosen = first;
    }
  }
}

void option_list::check_needs(const void* request, const given_options& given) const {
  for (const option_spec& spec : specs_)
    for (const option_condition& c : spec.needs)
      if (given.has(spec.name) && !holds(c, request)) option::refuse_given(given, spec.name, "without " + c.text());
}

void option_list::check_request(const void* request, const given_options& given) const {
  check_choices(given);
  if (const std::vector<std::string> missing = find_missing(request, given); !missing.empty()) {
    const std::string text = fmt::format("{} {} missing", fmt::join(missing, ", "), missing.size() == 1 ? "is" : "are");
    refuse_usage(given.command.empty()
                     ? text
                     : fmt::format("{}: {}; see voxherd {} --help", given.command, text, given.command));
  }
  check_needs(request, given);
  for (const rule& r : rules_) r(request, given);
}

}  // namespace voxherd
