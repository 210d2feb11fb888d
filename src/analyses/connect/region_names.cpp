#include "src/analyses/connect/region_names.hpp"

#include <fmt/core.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <charconv>
#include <map>
#include <sstream>

#include "core/failure.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t max_bytes = 16 << 20;
constexpr std::size_t longest_quote = 40;
constexpr const char* separators = ", \t;";

struct named_label {
  std::int32_t label;
  std::string name;
};

std::string read_text(const std::string& path) {
  const input_file file(path);
  if (file.size() > max_bytes)
    throw failure(
        exit_status::bad_data,
        fmt::format("{}: has {} bytes, expected a text with one label and name per line", file.name(), file.size()));
  std::string text(file.size(), '\0');
  file.read(0, text.data(), text.size());
  return text;
}

named_label parse_line(const std::string& line, const std::string& where) {
  const auto refuse = [&] {
    throw failure(exit_status::bad_data,
                  fmt::format("{}: found \"{}\", expected a label and a name, e.g. 17 Rolandic_Oper_L", where,
                              printable(line.substr(0, longest_quote))));
  };
  named_label found{};
  const char* end = line.data() + line.size();
  const auto [stopped, code] = std::from_chars(line.data(), end, found.label);
  const auto at = static_cast<std::size_t>(stopped - line.data());
  const std::size_t first = line.find_first_not_of(separators, at);
  if (code != std::errc{} || first == std::string::npos || first == at) refuse();
  if (line[first] == '"') {
    found.name = line.substr(first + 1, line.find('"', first + 1) - first - 1);
  } else {
    found.name = line.substr(first, line.find_first_of(separators, first) - first);
  }
  return found;
}

std::map<std::int32_t, std::string> read_table(const std::string& path) {
  std::map<std::int32_t, std::string> names;
  std::istringstream text(read_text(path));
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.empty() || line.front() == '#') continue;
    const std::string where = fmt::format("{}: line {}", printable(path), number);
    const named_label found = parse_line(line, where);
    if (!names.emplace(found.label, found.name).second)
      throw failure(exit_status::bad_data,
                    fmt::format("{}: label {} already has a name, expected one line per label", where, found.label));
  }
  return names;
}

}  // namespace

std::vector<std::string> read_region_names(const std::string& path, const std::vector<std::int32_t>& labels) {
  const auto table = read_table(path);
  std::vector<std::string> names;
  std::vector<std::int32_t> without;
  for (const std::int32_t label : labels) {
    const auto found = table.find(label);
    if (found == table.end()) without.push_back(label);
    names.push_back(found == table.end() ? std::to_string(label) : found->second);
  }
  if (without.size() == labels.size())
    throw failure(exit_status::bad_data,
                  fmt::format("{}: has no name for any of the {} regions; does it belong to another parcellation?",
                              printable(path), labels.size()));
  if (!without.empty())
    spdlog::warn("{}: has no name for labels {}; their numbers are used as names", printable(path),
                 fmt::join(without, ", "));
  return names;
}

}  // namespace voxherd
