#include "core/command_line.hpp"
#include "core/own_program.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>

#include "core/plain_text.hpp"

namespace voxherd {

namespace {

namespace po = boost::program_options;

constexpr const char* unexpected = "unexpected argument";

/// Letters to insert, delete, replace or swap with the next to turn one word into the other (optimal string alignment).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  // distance[i][j]: between the first i letters of a and the first j of b
  std::vector<std::vector<std::size_t>> distance(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) distance[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) distance[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = distance[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      distance[i][j] = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        distance[i][j] = std::min(distance[i][j], distance[i - 2][j - 2] + 1);
    }
  }
  return distance[a.size()][b.size()];
}

/// The name that was probably meant: the only one of which `wrong` is the beginning, or the nearest; "" if none is
/// close.
std::string nearest_name(const std::string& wrong, const std::vector<std::string>& names) {
  std::vector<std::string> longer;
  for (const std::string& name : names)
    if (wrong.size() >= 2 && name.starts_with(wrong)) longer.push_back(name);
  if (longer.size() == 1) return longer.front();
  std::string nearest;
  for (const std::string& name : names)
    if (nearest.empty() || edit_distance(wrong, name) < edit_distance(wrong, nearest)) nearest = name;
  // Of a short name, nothing would be left.
  const std::size_t max_distance = std::min<std::size_t>(2, wrong.size() / 2);
  return nearest.empty() || edit_distance(wrong, nearest) > max_distance ? "" : nearest;
}

/// Also accepts the American spelling of a British name of an option.
std::string british(const command& c, const std::string& name) {
  if (c.table().find(name) != nullptr) return name;
  for (const auto& [american, spelling] : {std::pair{"fiber", "fibre"}, {"hemato", "haemato"}, {"center", "centre"}}) {
    const std::size_t at = name.find(american);
    if (at == std::string::npos) continue;
    const std::string own = std::string(name).replace(at, std::string(american).size(), spelling);
    if (c.table().find(own) != nullptr) return own;
  }
  return name;
}

std::vector<std::string> with_british_names(const command& c, std::vector<std::string> words) {
  for (std::string& word : words) {
    const std::size_t begin = word.find_first_not_of('-'), end = std::min(word.find('='), word.size());
    if (begin > 0 && begin < end) word.replace(begin, end - begin, british(c, word.substr(begin, end - begin)));
  }
  return words;
}

po::options_description boost_options(const command& c) {
  po::options_description all;
  for (const option_spec& spec : c.options()) {
    auto* const value = po::value<std::vector<std::string>>();
    if (spec.many) value->multitoken();
    if (!spec.takes_value()) value->zero_tokens();
    all.add_options()(spec.name.c_str(), value);
  }
  all.add_options()(unexpected, po::value<std::vector<std::string>>());
  return all;
}

po::positional_options_description positional_options(const command& c) {
  std::map<int, std::string> names;
  for (const option_spec& spec : c.options())
    if (spec.place > 0) names[spec.place] = spec.name;
  po::positional_options_description positional;
  for (const auto& [place, name] : names) positional.add(name.c_str(), 1);
  positional.add(unexpected, -1);
  return positional;
}

/// `typed`: with dashes, and with its value after =, if it has one.
std::string unknown_option(const command& c, const std::string& typed) {
  std::string name = typed.substr(0, typed.find('='));
  name.erase(0, name.find_first_not_of('-'));
  std::vector<std::string> names;
  for (const option_spec& spec : c.options()) names.push_back(spec.name);
  const std::string meant = nearest_name(name, names);
  return fmt::format("unknown option {}; {}see voxherd {} --help", typed.substr(0, typed.find('=')),
                     meant.empty() ? "" : fmt::format("did you mean --{}? ", meant), c.name);
}

/// Whether a flag is on: on the command line it has no value, in a file it may have one.
bool is_on(const option_spec& spec, const std::vector<std::string>& words) {
  const std::string word = words.empty() ? "" : words.front();
  for (const char* on : {"", "true", "yes", "on", "1"})
    if (word == on) return true;
  for (const char* off : {"false", "no", "off", "0"})
    if (word == off) return false;
  refuse_usage("--{}: is {}, expected true or false", spec.name, word);
}

/// An empty value is a mistake, such as an unset variable of a shell: it must not count as "not given".
std::string empty_value(const option_spec& spec) {
  return fmt::format("--{}: its value is empty, expected {}; leave the option out if it is not needed", spec.name,
                     spec.type == option_type::file ? "a file name" : spec.value);
}

bool has_empty(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) { return word.empty(); });
}

/// Users of other programs give the first input without its option.
std::string unexpected_argument(const command& c, const std::string& word) {
  const auto& all = c.options();
  const auto first = std::find_if(all.begin(), all.end(), [&](const option_spec& spec) {
    return spec.type == option_type::file && spec.required && spec.place == 0 && spec.name != "out";
  });
  return fmt::format("unexpected argument '{}'; {}usage: voxherd {} {}", word,
                     first == all.end() ? "" : fmt::format("did you mean --{} {}? ", first->name, word), c.name,
                     fmt::join(c.table().usage().front(), " "));
}

/// Adds what was parsed, unless an earlier source has given the option.
void add_values(const command& c, const po::parsed_options& parsed, const given_options& earlier,
                given_options& given) {
  for (const auto& option : parsed.options) {
    if (option.string_key == unexpected) refuse_usage(unexpected_argument(c, option.value.front()));
    const option_spec* found = c.table().find(british(c, option.string_key));
    if (found == nullptr) refuse_usage(unknown_option(c, option.original_tokens.front()));
    const option_spec& spec = *found;
    if (spec.takes_value() && has_empty(option.value)) refuse_usage(empty_value(spec));
    if (earlier.has(spec.name)) continue;
    if (!spec.takes_value() && !is_on(spec, option.value)) continue;
    if (given.has(spec.name) && !spec.repeats) refuse_usage("--{} is given twice", spec.name);
    auto& values = given.values[spec.name];
    values.insert(values.end(), option.value.begin(), option.value.end());
  }
}

std::string read_config_text(const std::string& path) {
  constexpr off_t max_bytes = 1 << 20;
  struct stat found {};
  if (stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode))
    refuse_usage("--config {}: is {}, expected a text file", path,
                 S_ISDIR(found.st_mode) ? "a folder" : "not a regular file");
  std::ifstream file(path);
  if (!file) refuse_missing("--config {}: cannot be opened: {}; check the name given", path, std::strerror(errno));
  if (found.st_size > max_bytes)
    refuse_usage("--config {}: is {} bytes long, expected a text file of options (at most {})", path, found.st_size,
                 max_bytes);
  return plain_text({std::istreambuf_iterator<char>(file), {}}, "--config " + path, "a text file of options",
                    exit_status::usage);
}

/// A configuration that belongs to the program: NAME in its installation or source tree, wherever that is now; "" if
/// there is none.
std::string find_own_config(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path folder = own_program().parent_path().parent_path();
  // An installation; a source tree with the program in build/ or build/PRESET/.
  for (const fs::path& path : {folder / "share/voxherd" / name, folder / name, folder.parent_path() / name})
    if (!fs::path(name).is_absolute() && fs::is_regular_file(path, ignored)) return path;
  return "";
}

void read_config_file(const command& c, const po::options_description& options, given_options& given) {
  std::string& path = given.values.at("config").front();
  std::error_code ignored;
  if (const std::string own = find_own_config(path); !own.empty() && !std::filesystem::exists(path, ignored))
    path = own;
  std::istringstream file(read_config_text(path));
  try {
    const given_options from_line = given;
    const po::parsed_options parsed = po::parse_config_file(file, options, true);
    for (const auto& option : parsed.options)
      if (option.string_key == "config")
        refuse_usage("--config {}: contains `config`; a file cannot name another one", path);
    add_values(c, parsed, from_line, given);
  } catch (const po::invalid_config_file_syntax& e) {
    constexpr std::size_t longest_quote = 40;
    refuse_usage("--config {}: found \"{}\", expected name = value", path, e.tokens().substr(0, longest_quote));
  } catch (const po::error& e) {
    refuse_usage("--config {}: {}", path, e.what());
  }
}

}  // namespace

const command& find_command(std::span<const command* const> commands, const std::string& name) {
  std::vector<std::string> names;
  for (const command* c : commands) {
    if (name == c->name) return *c;
    names.emplace_back(c->name);
  }
  const std::string meant = nearest_name(name, names);
  refuse_usage("unknown command `{}`; {}", name,
               meant.empty() ? "`voxherd --help` lists the commands" : fmt::format("did you mean `{}`?", meant));
}

std::vector<replaced_name> list_replaced(const command& c) {
  std::vector<replaced_name> list;
  std::istringstream others(c.other_names);
  for (std::string other; others >> other;) {
    const std::size_t colon = std::min(other.find(':'), other.size());
    list.push_back({other.substr(0, colon), other.substr(std::min(colon + 1, other.size()))});
  }
  return list;
}

namespace {

/// Null for a program that the command does not replace. A version may follow the name.
std::optional<replaced_name> find_name(const command& c, const std::string& program) {
  const std::string name = program.substr(program.rfind('/') + 1);
  const std::string without_version = name.substr(0, name.find_last_not_of("0123456789.") + 1);
  for (const replaced_name& other : list_replaced(c))
    if (other.program == name || other.program == without_version) return other;
  return std::nullopt;
}

}  // namespace

const command* find_replaced(std::span<const command* const> commands, const std::string& program) {
  for (const command* c : commands)
    if (find_name(*c, program)) return c;
  return nullptr;
}

std::string implied_word(const command& c, const std::string& program) {
  const auto found = find_name(c, program);
  return found ? found->word : "";
}

given_options parse_command_line(const command& c, const std::vector<std::string>& words) {
  const po::options_description options = boost_options(c);
  const po::positional_options_description positional = positional_options(c);
  // Boost would accept --see for --seeds. A long option may have one dash, as FSL's users write it.
  const int style = (po::command_line_style::unix_style | po::command_line_style::allow_long_disguise) &
                    ~po::command_line_style::allow_guessing;
  given_options given;
  try {
    const std::vector<std::string> own = c.translate == nullptr ? words : c.translate(words);
    add_values(c,
               po::command_line_parser(with_british_names(c, own))
                   .options(options)
                   .positional(positional)
                   .style(style)
                   .allow_unregistered()
                   .run(),
               {}, given);
  } catch (const po::invalid_command_line_syntax& e) {
    if (e.kind() == po::invalid_syntax::empty_adjacent_parameter) {  // --mask=
      for (const option_spec& spec : c.options())
        if (e.get_option_name() == "--" + spec.name && spec.takes_value()) refuse_usage(empty_value(spec));
    }
    refuse_usage("{}; see voxherd {} --help", e.what(), c.name);
  } catch (const po::error& e) {
    refuse_usage("{}; see voxherd {} --help", e.what(), c.name);
  }
  if (given.has("config")) read_config_file(c, options, given);
  given.command = c.name;
  given.command_line = fmt::format("voxherd {}", c.name);
  for (const std::string& word : words) given.command_line += ' ' + word;
  return given;
}

std::unique_ptr<prepared_command> prepare_command(const command& c, const std::vector<std::string>& words) {
  return c.prepare(parse_command_line(c, words));
}

bool makes_result(const command& c) {
  const auto has = [&](const char* name) {
    return std::any_of(c.options().begin(), c.options().end(), [&](const auto& spec) { return spec.name == name; });
  };
  return has("resume") && has("dry-run");
}

}  // namespace voxherd
