#include "core/command_line.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>

namespace voxherd {

namespace {

constexpr unsigned line_width = 100;

/// Letters to insert, delete or replace to turn one word into the other (Levenshtein).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

po::options_description options_of(const command& c) {
  po::options_description options("options", line_width, line_width / 2);
  c.options(options);
  return options;
}

po::positional_options_description positional_of(const command& c) {
  po::positional_options_description positional;
  std::istringstream names(c.positional);
  for (std::string name; std::getline(names, name, ',');) positional.add(name.c_str(), 1);
  return positional;
}

void read_config_file(const std::string& path, const po::options_description& options, po::variables_map& values) {
  std::ifstream file(path);
  if (!file) throw failure(exit_status::missing_input, fmt::format("--config {}: cannot be opened", path));
  try {
    po::store(po::parse_config_file(file, options), values);
  } catch (const po::error& e) {
    throw failure(exit_status::usage, fmt::format("--config {}: {}", path, e.what()));
  }
}

}  // namespace

const command& find_command(std::span<const command* const> commands, const std::string& name) {
  const command* nearest = nullptr;
  for (const command* c : commands) {
    if (name == c->name) return *c;
    if (nearest == nullptr || edit_distance(name, c->name) < edit_distance(name, nearest->name)) nearest = c;
  }
  const bool close = nearest != nullptr && edit_distance(name, nearest->name) <= 2;
  throw failure(exit_status::usage,
                fmt::format("there is no command `{}`; {}", name,
                            close ? fmt::format("did you mean `{}`?", nearest->name) : "`voxherd --help` lists them"));
}

arguments parse_command_line(const command& c, const std::vector<std::string>& words) {
  const po::options_description options = options_of(c);
  const po::positional_options_description positional = positional_of(c);
  // Boost would take --see for --seeds. A long option may have one dash, as FSL's users write it.
  const int style = (po::command_line_style::unix_style | po::command_line_style::allow_long_disguise) &
                    ~po::command_line_style::allow_guessing;
  arguments args;
  try {
    const std::vector<std::string> ours = c.translate == nullptr ? words : c.translate(words);
    po::store(po::command_line_parser(ours).options(options).positional(positional).style(style).run(), args.values);
    if (options.find_nothrow("config", false) != nullptr && args.has("config")) {
      read_config_file(args.get<std::string>("config"), options, args.values);
    }
    po::notify(args.values);
  } catch (const po::too_many_positional_options_error&) {
    throw failure(exit_status::usage, fmt::format("a word too many; usage: voxherd {} {}", c.name, c.usage));
  } catch (const po::error& e) {
    throw failure(exit_status::usage, fmt::format("{}; see voxherd {} --help", e.what(), c.name));
  }
  args.command_line = fmt::format("voxherd {}", c.name);
  for (const std::string& word : words) args.command_line += ' ' + word;
  return args;
}

bool makes_result(const command& c) {
  const po::options_description options = options_of(c);
  return options.find_nothrow("resume", false) != nullptr && options.find_nothrow("dry-run", false) != nullptr;
}

std::string help_text(std::span<const command* const> commands) {
  std::string text =
      "voxherd: analyses of medical images on many GPUs and CPU cores\n"
      "usage: [mpirun -n RANKS] voxherd COMMAND [options]\n\n";
  for (const command* c : commands) text += fmt::format("  {:<11} {}\n", c->name, c->summary);
  text +=
      "\nvoxherd COMMAND --help  shows its options; voxherd --version  the version.\n"
      "Exit status: 0 whole, 1 different (compare), 2 usage, 65 bad data, 66 missing input, 70 our defect,\n"
      "74 disk, 75 stopped: the same command with --resume goes on.\n";
  return text;
}

std::string help_text(const command& c) {
  std::ostringstream options;
  options_of(c).print(options);
  return fmt::format("voxherd {}: {}\nusage: voxherd {} {}\n\n{}", c.name, c.summary, c.name, c.usage, options.str());
}

}  // namespace voxherd
