#pragma once

#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
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

/// How many of some choices have to be given.
enum class choice_rule : std::uint8_t { one, at_most_one, at_least_one };

/// A choice may consist of several options, and each of these of alternatives in turn:
/// choices[choice][part][alternative].
struct option_choices {
  std::vector<std::vector<std::vector<std::string>>> choices;
  choice_rule rule = choice_rule::one;

  bool is_optional() const { return rule == choice_rule::at_most_one; }

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

/// How a member of one type is read and written, without its type.
struct member_access {
  option_value (*get)(const void* member);
  void (*set)(void* member, const option_value& value);
};

using any_function = void (*)();

/// How a text becomes a member and back, by two functions whose types are forgotten.
struct text_access {
  void (*fill)(any_function parse, void* member, const std::string& text, const char* name);
  std::string (*print)(any_function print, const void* member);
};

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

}  // namespace option

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
  void add_choices(std::initializer_list<const char*> choices, choice_rule how_many);
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

}  // namespace voxherd
