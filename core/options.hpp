#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/failure.hpp"

namespace voxherd {

/// The options that were given, as text: from the command line, else from the file of --config.
struct given_options {
  std::map<std::string, std::vector<std::string>> values;  ///< of each option; a flag has none
  std::string command_line;                                ///< as typed, for provenance

  bool has(std::string_view name) const { return values.find(std::string(name)) != values.end(); }
};

enum class option_type { flag, integer, real, word, text, file };

/// Numbers that an option accepts.
struct range {
  double min = 0, max = 0;
  bool or_zero = false;  ///< 0 is accepted too
};
inline range at_least(double min) { return {min, std::numeric_limits<double>::infinity()}; }
inline range zero_or(double min, double max) { return {min, max, true}; }

/// Texts: any, or the name of a file or a folder.
enum class text_kind { any, file };

/// One option without the type of its request: the source of help, completion and descriptors.
struct option_spec {
  std::string name;
  option_type type = option_type::text;
  std::string help, group;
  std::string value;     ///< placeholder in usage lines, "" for a flag
  std::string unit;      ///< of a number, "" for none
  std::string standard;  ///< the default as shown; "" for none
  std::optional<range> limits;
  std::vector<std::string> words;
  bool repeats = false;  ///< may be given several times
  bool many = false;     ///< takes all the words that follow
  bool stored = false;   ///< changes results, so that it is stored in the result's configuration

  bool takes_value() const { return type != option_type::flag; }
  /// Accepted values as text: "1 to 100 mm", "ols | wls | iwls"; "" if any.
  std::string accepted() const;
};

/// The value of an option in a request: for its default and for the stored configuration.
using option_value = std::variant<std::monostate, bool, long long, double, std::string, std::vector<std::string>,
                                  std::vector<long long>, std::vector<double>>;

namespace option {

[[noreturn]] void refuse(const std::string& message);
/// "--NAME has no meaning REASON", if NAME is given.
void refuse_given(const given_options& given, std::string_view name, const std::string& reason);

/// Throw failure (usage) naming option, value and expectation.
long long parse_integer(const option_spec& spec, const std::string& text);
double parse_real(const option_spec& spec, const std::string& text);
std::size_t parse_word(const option_spec& spec, const std::string& text);  ///< its number among spec.words
/// The shortest decimal that gives this float: 0.15f is 0.15.
double shortest_decimal(float value);
std::string as_text(const option_value& value);

template <class M>
struct content {
  using type = M;
};
template <class M>
struct content<std::optional<M>> {
  using type = M;
};
template <class M>
using content_t = typename content<M>::type;

template <class M>
option_value as_value(const M& value) {
  if constexpr (std::is_same_v<M, bool> || std::is_same_v<M, std::string> ||
                std::is_same_v<M, std::vector<std::string>>) {
    return value;
  } else if constexpr (std::is_integral_v<M>) {
    return static_cast<long long>(value);
  } else if constexpr (std::is_same_v<M, float>) {
    return shortest_decimal(value);
  } else if constexpr (std::is_floating_point_v<M>) {
    return static_cast<double>(value);
  } else if constexpr (requires { value.begin(); }) {
    using element = std::decay_t<decltype(*value.begin())>;
    if constexpr (std::is_integral_v<element>) return std::vector<long long>(value.begin(), value.end());
    if constexpr (std::is_floating_point_v<element>) return std::vector<double>(value.begin(), value.end());
    return std::monostate{};
  } else {
    return std::monostate{};
  }
}

/// The value of a member that may be empty.
template <class M, class Convert>
option_value value_or_none(const M& member, const Convert& convert) {
  if constexpr (requires { member.has_value(); }) {
    return member ? convert(*member) : option_value{};
  } else {
    return convert(member);
  }
}

}  // namespace option

/// For options that change results under every setting of the others.
inline constexpr auto always = [](const auto&) { return true; };

/// The options of a request: each is declared once, with the member of T that it fills. Defaults are those of T's
/// members; an option whose default depends on others fills a std::optional.
template <class T>
class option_table {
 public:
  struct notes {
    std::string text;                           ///< what the option does, without its range and default
    std::string value = "";                     ///< placeholder, if that of the type (N, X, WORD, FILE) is too vague
    std::string unit = "";                      ///< of a number
    std::string standard = "";                  ///< the default in words, where it depends on others
    std::function<bool(const T&)> stored = {};  ///< whether the result's configuration has it; empty: never
    bool many = false;                          ///< takes all the words that follow
  };

  struct entry {
    option_spec spec;
    std::function<void(T&, const std::vector<std::string>&)> fill;
    std::function<option_value(const T&)> value;
    std::function<bool(const T&)> stored;

    /// A flag.
    entry(const char* name, bool T::*member, notes n) : entry(name, option_type::flag, std::move(n)) {
      spec.value.clear();
      fill = [member](T& request, const auto&) { request.*member = true; };
      value = [member](const T& request) -> option_value { return request.*member; };
    }

    /// A number, an integer or a real one by the member's type.
    template <class M>
    requires std::is_arithmetic_v<option::content_t<M>> entry(const char* name, M T::*member, range limits, notes n)
        : entry(name, std::is_integral_v<option::content_t<M>> ? option_type::integer : option_type::real,
                std::move(n)) {
      using number = option::content_t<M>;
      spec.limits = limits;
      fill = [member, own = spec](T& request, const std::vector<std::string>& words) {
        if constexpr (std::is_integral_v<number>) {
          request.*member = static_cast<number>(option::parse_integer(own, words.front()));
        } else {
          request.*member = static_cast<number>(option::parse_real(own, words.front()));
        }
      };
      value = [member](const T& request) {
        return option::value_or_none(request.*member, [](const number& v) { return option::as_value(v); });
      };
    }

    /// One of some words, each with its value.
    template <class M>
    entry(const char* name, M T::*member,
          std::initializer_list<std::pair<const char*, std::type_identity_t<option::content_t<M>>>> words, notes n)
        : entry(name, option_type::word, std::move(n)) {
      using choice = option::content_t<M>;
      std::vector<choice> choices;
      for (const auto& [word, meaning] : words) {
        spec.words.emplace_back(word);
        choices.push_back(meaning);
      }
      fill = [member, own = spec, choices](T& request, const std::vector<std::string>& given) {
        request.*member = choices[option::parse_word(own, given.front())];
      };
      value = [member, names = spec.words, choices](const T& request) {
        return option::value_or_none(request.*member, [&](const choice& wanted) -> option_value {
          for (std::size_t i = 0; i < choices.size(); ++i)
            if (choices[i] == wanted) return names[i];
          return {};
        });
      };
    }

    /// A text, or a list of them.
    template <class M>
    requires std::same_as<M, std::string> || std::same_as<M, std::vector<std::string>> entry(const char* name,
                                                                                             M T::*member,
                                                                                             text_kind kind, notes n)
        : entry(name, kind == text_kind::file ? option_type::file : option_type::text, std::move(n)) {
      if constexpr (std::is_same_v<M, std::string>) {
        fill = [member](T& request, const std::vector<std::string>& words) { request.*member = words.front(); };
      } else {
        spec.repeats = true;
        fill = [member](T& request, const std::vector<std::string>& words) { request.*member = words; };
      }
      value = [member](const T& request) { return option::as_value(request.*member); };
    }

    /// A text that `parse(text, option name)` understands.
    template <class M>
    entry(const char* name, M T::*member,
          std::type_identity_t<option::content_t<M>> (*parse)(const std::string&, const char*), notes n)
        : entry(name, option_type::text, std::move(n)) {
      fill = [member, parse, own = spec.name](T& request, const std::vector<std::string>& words) {
        request.*member = parse(words.front(), own.c_str());
      };
      value = [member](const T& request) {
        return option::value_or_none(request.*member, [](const auto& v) { return option::as_value(v); });
      };
    }

    /// An option without a member: the parser itself uses it.
    entry(const char* name, text_kind kind, notes n)
        : entry(name, kind == text_kind::file ? option_type::file : option_type::text, std::move(n)) {
      fill = [](T&, const auto&) {};
      value = [](const T&) { return option_value{}; };
    }

    entry(option_spec s, std::function<void(T&, const std::vector<std::string>&)> f,
          std::function<option_value(const T&)> v, std::function<bool(const T&)> is_stored)
        : spec(std::move(s)), fill(std::move(f)), value(std::move(v)), stored(std::move(is_stored)) {}

   private:
    entry(const char* name, option_type type, notes n) : stored(std::move(n.stored)) {
      constexpr const char* placeholders[] = {"", "N", "X", "WORD", "TEXT", "FILE"};
      spec.name = name;
      spec.type = type;
      spec.help = std::move(n.text);
      spec.value = n.value.empty() ? placeholders[static_cast<std::size_t>(type)] : std::move(n.value);
      spec.unit = std::move(n.unit);
      spec.standard = std::move(n.standard);
      spec.stored = static_cast<bool>(stored);
      spec.many = n.many;
    }
  };

  using rule = std::function<void(const T&, const given_options&)>;

  /// Adds options under a heading of the help text.
  option_table&& group(const char* heading, std::vector<entry> entries) && {
    const T standard{};
    for (entry& e : entries) {
      e.spec.group = heading;
      if (e.spec.standard.empty() && e.spec.takes_value()) e.spec.standard = option::as_text(e.value(standard));
      add(std::move(e));
    }
    return std::move(*this);
  }

  /// Adds the options and rules of another table of the same request.
  option_table&& append(option_table&& more) && {
    for (entry& e : more.entries_) add(std::move(e));
    rules_.insert(rules_.end(), more.rules_.begin(), more.rules_.end());
    return std::move(*this);
  }

  /// Adds all options and rules of a part of the request.
  template <class Part>
  option_table&& include(Part T::*part, const option_table<Part>& table) && {
    for (const auto& e : table.entries()) {
      std::function<bool(const T&)> is_stored;
      if (e.stored) is_stored = [part, own = e.stored](const T& request) { return own(request.*part); };
      add({e.spec,
           [part, fill = e.fill](T& request, const std::vector<std::string>& words) { fill(request.*part, words); },
           [part, value = e.value](const T& request) { return value(request.*part); }, std::move(is_stored)});
    }
    for (const auto& check : table.rules())
      rules_.push_back([part, check](const T& request, const given_options& given) { check(request.*part, given); });
    return std::move(*this);
  }

  /// Adds a rule between options, checked after all have been read. Throws failure (usage).
  option_table&& check(rule r) && {
    rules_.push_back(std::move(r));
    return std::move(*this);
  }

  /// The request with everything that was given, in range and in agreement. Throws failure (usage).
  T read(const given_options& given) const {
    T request{};
    for (const entry& e : entries_) {
      const auto found = given.values.find(e.spec.name);
      if (found != given.values.end()) e.fill(request, found->second);
    }
    for (const rule& r : rules_) r(request, given);
    return request;
  }

  const std::vector<option_spec>& specs() const { return specs_; }
  const std::vector<entry>& entries() const { return entries_; }
  const std::vector<rule>& rules() const { return rules_; }

  /// Calls use(name, value) for every option that changes this request's results.
  template <class Use>
  void for_each_stored(const T& request, const Use& use) const {
    for (const entry& e : entries_)
      if (e.stored && e.stored(request)) use(e.spec.name, e.value(request));
  }

 private:
  void add(entry e) {
    specs_.push_back(e.spec);
    entries_.push_back(std::move(e));
  }

  std::vector<entry> entries_;
  std::vector<option_spec> specs_;
  std::vector<rule> rules_;
};

/// The options that change a request's results, under their names. Json is nlohmann::json.
template <class Json, class T>
void add_stored(const option_table<T>& table, const T& request, Json& configuration) {
  table.for_each_stored(request, [&](const std::string& name, const option_value& value) {
    std::visit(
        [&](const auto& v) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(v)>, std::monostate>) configuration[name] = v;
        },
        value);
  });
}

}  // namespace voxherd
