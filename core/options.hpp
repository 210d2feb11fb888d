#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/option_list.hpp"

namespace voxherd {

namespace option {

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

/// Nothing for types that only a parser knows.
template <class M>
option_value as_value(const M& value) {
  if constexpr (std::is_same_v<M, bool> || std::is_same_v<M, std::string> ||
                std::is_same_v<M, std::vector<std::string>>) {
    return value;
  } else if constexpr (std::is_integral_v<M> || std::is_enum_v<M>) {
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

template <class M>
option_value get_member(const void* member) {
  const M& own = *static_cast<const M*>(member);
  if constexpr (requires { own.has_value(); }) {
    return own ? as_value(*own) : option_value{};
  } else {
    return as_value(own);
  }
}

template <class M>
void set_member(void* member, const option_value& value) {
  using inner = content_t<M>;
  M& own = *static_cast<M*>(member);
  if constexpr (std::is_same_v<inner, bool> || std::is_same_v<inner, std::string> ||
                std::is_same_v<inner, std::vector<std::string>>) {
    own = std::get<inner>(value);
  } else if constexpr (std::is_integral_v<inner> || std::is_enum_v<inner>) {
    own = static_cast<inner>(std::get<long long>(value));
  } else if constexpr (std::is_floating_point_v<inner>) {
    own = static_cast<inner>(std::get<double>(value));
  }
}

template <class M>
inline constexpr member_access access_to{get_member<M>, set_member<M>};

template <class M>
inline constexpr text_access text_access_to{
    [](any_function parse, void* member, const std::string& text, const char* name) {
      *static_cast<M*>(member) = reinterpret_cast<content_t<M> (*)(const std::string&, const char*)>(parse)(text, name);
    },
    [](any_function print, const void* member) -> std::string {
      const M& own = *static_cast<const M*>(member);
      const auto own_print = reinterpret_cast<std::string (*)(const content_t<M>&)>(print);
      if constexpr (requires { own.has_value(); }) {
        return own ? own_print(*own) : "";
      } else {
        return own_print(own);
      }
    }};

template <class M>
using word_meaning = std::pair<const char*, M>;

template <class M>
void read_words(const void* words, std::size_t count, std::vector<std::string>& names,
                std::vector<option_value>& meanings) {
  const auto* list = static_cast<const word_meaning<M>*>(words);
  for (std::size_t i = 0; i < count; ++i) {
    names.emplace_back(list[i].first);
    meanings.push_back(as_value(list[i].second));
  }
}

}  // namespace option

/// A text that is parsed, and printed as it would be typed. Without `print`: numbers separated by commas.
template <class M>
struct text_form {
  M (*parse)(const std::string& text, const char* option);
  std::string (*print)(const M& value);
};

/// The options of a request: each is declared once, with the member of T that it fills. Defaults are those of T's
/// members; an option whose default depends on others fills a std::optional.
template <class T>
class option_table : public option_list {
 public:
  struct entry {
    option::declared_option declared;
    option_notes more;

    /// A flag.
    entry(const char* name, bool T::*member, const option_notes& n)
        : declared{name, option_type::flag, offset(member), &option::access_to<bool>}, more(n) {}

    /// A number, an integer or a real one by the member's type.
    template <class M>
    requires std::is_arithmetic_v<option::content_t<M>> entry(const char* name, M T::*member, range limits,
                                                              const option_notes& n)
        : declared{name, std::is_integral_v<option::content_t<M>> ? option_type::integer : option_type::real,
                   offset(member), &option::access_to<M>},
          more(n) {
      declared.limits = limits;
    }

    /// One of some words, each with its value.
    template <class M>
    entry(const char* name, M T::*member,
          std::initializer_list<option::word_meaning<std::type_identity_t<option::content_t<M>>>> words,
          const option_notes& n)
        : declared{name, option_type::word, offset(member), &option::access_to<M>}, more(n) {
      declared.words = words.begin();
      declared.word_count = words.size();
      declared.read_words = &option::read_words<option::content_t<M>>;
    }

    /// A text, or a list of them.
    template <class M>
    requires std::same_as<M, std::string> || std::same_as<M, std::vector<std::string>> entry(const char* name,
                                                                                             M T::*member,
                                                                                             text_kind kind,
                                                                                             const option_notes& n)
        : declared{name, kind == text_kind::file ? option_type::file : option_type::text, offset(member),
                   &option::access_to<M>, !std::same_as<M, std::string>},
          more(n) {}

    /// A text that `parse(text, option name)` understands.
    template <class M>
    entry(const char* name, M T::*member,
          std::type_identity_t<option::content_t<M>> (*parse)(const std::string&, const char*), const option_notes& n)
        : entry(name, member, text_form<option::content_t<M>>{parse, nullptr}, n) {}
    template <class M>
    entry(const char* name, M T::*member, const text_form<std::type_identity_t<option::content_t<M>>>& form,
          const option_notes& n)
        : declared{name, option_type::text, offset(member), &option::access_to<M>}, more(n) {
      declared.texts = &option::text_access_to<M>;
      declared.parse = reinterpret_cast<option::any_function>(form.parse);
      declared.print = reinterpret_cast<option::any_function>(form.print);
    }

    /// An option without a member: the parser itself uses it.
    entry(const char* name, text_kind kind, const option_notes& n)
        : declared{name, kind == text_kind::file ? option_type::file : option_type::text}, more(n) {}
  };

  /// Adds options under a heading of the help text.
  option_table&& group(const char* heading, std::initializer_list<entry> entries) && {
    for (const entry& e : entries) add(heading, e.declared, e.more, &blank());
    return std::move(*this);
  }

  /// Adds the options and rules of another table of the same request.
  option_table&& append(const option_table& more) && {
    add_part(more, 0);
    return std::move(*this);
  }

  /// Adds all options and rules of a part of the request.
  template <class Part>
  option_table&& include(Part T::*part, const option_table<Part>& table) && {
    add_part(table, offset(part));
    return std::move(*this);
  }

  /// Adds the options and rules of a part, of which none is required here.
  template <class Part>
  option_table&& include_optional(Part T::*part, const option_table<Part>& table) && {
    add_renamed(table, offset(part), [](const option_spec& spec) { return spec.name; });
    return std::move(*this);
  }

  /// Adds options of a base of the request, under the names that `new_name(spec)` gives; "": not at all. None of them
  /// is required here.
  template <class Base>
  requires std::derived_from<T, Base> option_table &&
      inherit(const option_table<Base>& table, const std::function<std::string(const option_spec&)>& new_name) && {
    const Base& base = blank();
    add_renamed(table, distance(&blank(), &base), new_name);
    return std::move(*this);
  }

  /// One of these choices must be given, and only one. A choice is one option or several ("dwi bvals bvecs"), of which
  /// each may have alternatives ("from|from-point to|to-point").
  option_table&& one_of(std::initializer_list<const char*> choices) && {
    add_choices(choices, choice_rule::one);
    return std::move(*this);
  }
  /// One of them must be given, and several may be.
  option_table&& at_least_one_of(std::initializer_list<const char*> choices) && {
    add_choices(choices, choice_rule::at_least_one);
    return std::move(*this);
  }
  option_table&& at_most_one_of(std::initializer_list<const char*> choices) && {
    add_choices(choices, choice_rule::at_most_one);
    return std::move(*this);
  }

  /// A form of the command, chosen by its first plain word: one of `words` ("dwi|liver"). It needs the options
  /// `required` ("result truth").
  option_table&& form(const char* words, const char* required) && {
    add_form(words, required);
    return std::move(*this);
  }

  /// Sets members that are still empty and whose defaults are computed from others.
  option_table&& fill_in(void (*compute)(T&)) && {
    computed_.push_back([compute](void* request) { compute(*static_cast<T*>(request)); });
    return std::move(*this);
  }

  /// Adds a rule between options, checked after all have been read. Throws failure (usage).
  option_table&& check(void (*r)(const T&, const given_options&)) && {
    rules_.push_back(
        [r](const void* request, const given_options& given) { r(*static_cast<const T*>(request), given); });
    return std::move(*this);
  }

  /// The request with everything that was given, in range and in agreement, and with all defaults. Throws failure
  /// (usage).
  T read(const given_options& given) const {
    T request{};
    fill(&request, given);
    complete_request(&request);
    check_request(&request, given);
    return request;
  }

  /// The request with the defaults that depend on other options.
  T complete(T request) const {
    complete_request(&request);
    return request;
  }

  /// The options that change the request's results, under their names.
  void add_stored(const T& request, nlohmann::json& configuration) const { add_stored_of(&request, configuration); }

  /// The request of a finished run: the values that its configuration stores, defaults for the other options. Throws
  /// failure (usage) for values that no run has written.
  T read_stored(const nlohmann::json& configuration) const {
    T request{};
    read_stored(configuration, request);
    return request;
  }
  /// Changes only what the configuration contains.
  void read_stored(const nlohmann::json& configuration, T& request) const { read_stored_into(&request, configuration); }

  /// Sets the files of a finished run, which a result lists among its inputs under the names of their options.
  void read_inputs(const nlohmann::json& inputs, T& request) const { read_inputs_into(&request, inputs); }

  /// Words of a command line that give this request; without values that are the defaults.
  std::vector<std::string> words(const T& request) const { return words_of(&request); }

 private:
  static const T& blank() {
    static const T request{};
    return request;
  }
  static std::size_t distance(const void* from, const void* to) {
    return static_cast<std::size_t>(static_cast<const char*>(to) - static_cast<const char*>(from));
  }
  template <class M>
  static std::size_t offset(M T::*member) {
    return distance(&blank(), std::addressof(blank().*member));
  }
};

/// The options that change a request's results, under their names.
template <class T>
void add_stored(const option_table<T>& table, const T& request, nlohmann::json& configuration) {
  table.add_stored(request, configuration);
}

}  // namespace voxherd
