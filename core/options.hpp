#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
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
  std::map<std::string, std::vector<std::string>> values = {};  ///< values of each option; a flag has none
  std::string command_line = {};                                ///< the words as typed, for provenance
  std::string command = {};                                     ///< name of the command, for messages

  bool has(std::string_view name) const { return values.find(std::string(name)) != values.end(); }
};

enum class option_type { flag, integer, real, word, text, file };

/// Numbers that an option accepts.
struct range {
  double min = 0, max = 0;
  bool or_zero = false;  ///< 0 is accepted too
};
constexpr range at_least(double min) { return {min, std::numeric_limits<double>::infinity()}; }
constexpr range zero_or(double min, double max) { return {min, max, true}; }

/// Texts: any, or the name of a file or a folder.
enum class text_kind { any, file };

/// What an option or a default requires of other options: that one of them has a value, or that one has one of some
/// words.
struct option_condition {
  std::vector<std::string> names;
  std::vector<std::string> words;  ///< empty: any value but nothing, 0 and off

  std::string text() const;  ///< "--paths", "--from-point or --to-point", "--metric power or jeong"
};

/// One option without the type of its request: the source of help, completion and descriptors.
struct option_spec {
  std::string name;
  option_type type = option_type::text;
  std::string help, group;
  std::string value;     ///< placeholder in usage lines, "" for a flag
  std::string unit;      ///< unit of a number, "" for none
  std::string standard;  ///< the default as shown; "" for none
  std::optional<range> limits;
  std::vector<std::string> words;
  std::vector<option_condition> needs;  ///< without all of them the option has no meaning
  int place = 0;                        ///< among the plain words of the command line, from 1; 0: has none
  bool required = false;
  bool repeats = false;  ///< may be given several times
  bool many = false;     ///< takes all the words that follow
  bool stored = false;   ///< changes results, so that it is stored in the result's configuration
  bool paper = false;    ///< for experiments, as those of the papers, and tuning

  bool takes_value() const { return type != option_type::flag; }
  /// Accepted values as text: "1 to 100 mm", "ols | wls | iwls"; "" if any.
  std::string accepted() const;
  /// "--fit WORD"; a plain word as its placeholder.
  std::string shown() const;
  /// "--fit", or the placeholder of a plain word.
  std::string label() const;
};

/// The value of an option in a request: for its default and for the stored configuration.
using option_value = std::variant<std::monostate, bool, long long, double, std::string, std::vector<std::string>,
                                  std::vector<long long>, std::vector<double>>;

/// Options of which one has to be given, or with `is_optional` at most one. A choice may consist of several options,
/// and each of these of alternatives in turn: choices[choice][part][alternative].
struct option_choices {
  std::vector<std::vector<std::vector<std::string>>> choices;
  bool is_optional = false;

  const std::string& first() const { return choices.front().front().front(); }
};

/// A form of a command: with one of these as its first plain word, it needs these options.
struct option_form {
  std::vector<std::string> words, required;
};

/// When an option is a part of the result's configuration.
enum class option_storage { never, always, if_it_applies };
inline constexpr option_storage always = option_storage::always;
inline constexpr option_storage if_it_applies = option_storage::if_it_applies;  ///< what it needs is there

namespace option {

[[noreturn]] void refuse(const std::string& message);
/// "--NAME has no meaning REASON", if NAME is given.
void refuse_given(const given_options& given, std::string_view name, const std::string& reason);

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

/// How a member of one type is read and written, without its type.
struct member_access {
  option_value (*get)(const void* member);
  void (*set)(void* member, const option_value& value);
};

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

using any_function = void (*)();

/// How a text becomes a member and back, by two functions whose types are forgotten.
struct text_access {
  void (*fill)(any_function parse, void* member, const std::string& text, const char* name);
  std::string (*print)(any_function print, const void* member);
};

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

/// The default of an option where others have certain values.
struct default_case {
  const char* when = nullptr;  ///< "" where no other case applies; as in option_notes::needs
  const char* value = nullptr;
};

/// An option as a table declares it. Refers to texts and lists that live until the table has been made.
struct declared_option {
  const char* name;
  option_type type;
  std::size_t offset = 0;                 ///< offset of the member in its request
  const member_access* access = nullptr;  ///< null: the parser itself uses the option
  bool is_list = false;
  std::optional<range> limits = std::nullopt;
  const void* words = nullptr;  ///< `word_count` pairs, for read_words
  std::size_t word_count = 0;
  void (*read_words)(const void* words, std::size_t count, std::vector<std::string>& names,
                     std::vector<option_value>& meanings) = nullptr;
  const text_access* texts = nullptr;
  any_function parse = nullptr, print = nullptr;
};

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

/// What a table states about an option in addition to its name, its member and the values it accepts.
struct option_notes {
  const char* text;                    ///< what the option does, without its range, default and needs
  const char* value = "";              ///< placeholder, if that of the type (N, X, WORD, FILE) is too vague
  const char* unit = "";               ///< unit of a number
  const char* standard = "";           ///< the default in words, if it is found in the data: "from the preset"
  option::default_case defaults[3]{};  ///< cases for a std::optional: the first that applies fills it
  option_storage stored = option_storage::never;
  /// Other options, without which this one has no meaning: "paths", "from-point|to-point" (one of them),
  /// "metric=power|jeong" (one of these words); with commas between conditions that must all be true.
  const char* needs = "";
  bool required = false;
  int place = 0;       ///< among the plain words of the command line, from 1
  bool many = false;   ///< takes all the words that follow
  bool paper = false;  ///< for experiments, as those of the papers, and tuning: only --help-all shows it
};

/// The options of a request without its type. Everything works in both directions: from texts to a request, and from
/// a request to what is stored, and to the words that give it.
class option_list {
 public:
  const std::vector<option_spec>& specs() const { return specs_; }
  const option_spec* find(std::string_view name) const;
  const std::vector<option_choices>& choices() const { return choices_; }
  /// Plain words, required options and choices, e.g. FILE, --to KIND, (--dwi FILE, |, --tensor FILE), [options]: in
  /// parts that stay on one line. One list for each form of the command.
  std::vector<std::vector<std::string>> usage() const;

  /// Name, type, text, limits, words, default and needs of each option, for a form that a user fills in.
  nlohmann::json describe() const;

 protected:
  using rule = std::function<void(const void* request, const given_options& given)>;

  struct kept_default {
    std::vector<option_condition> when;
    std::string value;
  };
  struct kept_option {
    option::declared_option from;  ///< only its offset, access and functions are used
    std::vector<option_value> meanings;
    std::vector<kept_default> defaults;
    option_storage storage = option_storage::never;
    option_value initial;  ///< value in a new request
    std::string initial_text;
  };

  void add(const char* heading, const option::declared_option& o, const option_notes& notes, const void* blank);
  /// All of `part`, whose request is `offset` bytes after the beginning of this one.
  void add_part(const option_list& part, std::size_t offset);
  /// The same with other names, without those whose new name is "" and choices of these; none of them is required.
  void add_renamed(const option_list& base, std::size_t offset,
                   const std::function<std::string(const option_spec&)>& new_name);
  void add_choices(std::initializer_list<const char*> choices, bool is_optional);
  void add_form(const char* words, const char* required);

  void fill(void* request, const given_options& given) const;
  void complete_request(void* request) const;
  void check_request(const void* request, const given_options& given) const;
  void add_stored_of(const void* request, nlohmann::json& configuration) const;
  void read_stored_into(void* request, const nlohmann::json& configuration) const;
  void read_inputs_into(void* request, const nlohmann::json& inputs) const;
  std::vector<std::string> words_of(const void* request) const;

  std::vector<rule> rules_;
  std::vector<std::function<void(void* request)>> computed_;

 private:
  std::size_t index(std::string_view name) const;
  void set_text(std::size_t i, void* request, const std::string& text) const;
  void set_words(std::size_t i, void* request, const std::vector<std::string>& words) const;
  option_value get(std::size_t i, const void* request) const;
  std::vector<std::string> texts(std::size_t i, const void* request) const;
  bool holds(const option_condition& condition, const void* request) const;
  bool applies(std::size_t i, const void* request) const;
  /// The default of an option in this request, as text.
  std::string default_text(std::size_t i, const void* request) const;
  const option_form* find_form(const given_options& given) const;
  std::vector<std::string> choice_parts(const option_choices& c) const;
  std::string part_text(const std::vector<std::string>& alternatives) const;
  std::vector<std::string> find_missing(const option_choices& c, const void* request, const given_options& given) const;
  std::vector<std::string> find_missing(const void* request, const given_options& given) const;
  void check_choices(const given_options& given) const;
  void check_needs(const void* request, const given_options& given) const;

  std::vector<option_spec> specs_;
  std::vector<kept_option> kept_;
  std::vector<option_choices> choices_;
  std::vector<option_form> forms_;
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
    add_choices(choices, false);
    return std::move(*this);
  }
  option_table&& at_most_one_of(std::initializer_list<const char*> choices) && {
    add_choices(choices, true);
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
