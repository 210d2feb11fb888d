// A file of options, then the same text as words of a command line.
#include <algorithm>

#include "core/command_line.hpp"
#include "core/text.hpp"
#include "tests/fuzz/targets/input.hpp"

namespace voxherd {

namespace {

enum class colour { red, green };

struct request {
  int count = 1;
  double length = 2;
  colour hue = colour::red;
  bool flag = false;
  std::string text, config;
  std::vector<std::string> files;
};

const option_table<request>& options() {
  using T = request;
  static const option_table<T> table =
      option_table<T>()
          .group("Numbers", {{"count", &T::count, range{0, 100}, {.text = "a count"}},
                             {"length", &T::length, range{0.5, 8}, {.text = "a length", .unit = "mm"}}})
          .group("Words", {{"hue", &T::hue, {{"red", colour::red}, {"green", colour::green}}, {.text = "a colour"}},
                           {"flag", &T::flag, {"a switch"}},
                           {"text", &T::text, text_kind::any, {"a word"}},
                           {"file", &T::files, text_kind::file, {"a file"}},
                           {"config", &T::config, text_kind::file, {"options"}}});
  return table;
}

exit_status run(session&, const request&) { return exit_status::complete; }

constexpr command a_command = make_command<options, run>({"some", "a command"});

}  // namespace

namespace fuzz {

void read_options(const std::vector<std::string>& words) {
  accepts([&] { (void)a_command.prepare(parse_command_line(a_command, words)); });
}

}  // namespace fuzz

}  // namespace voxherd

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace voxherd;
  const std::string text(fuzz::as_text(data, size));
  const fuzz::input file(text);
  fuzz::read_options({"--config", file.path()});
  fuzz::accepts([&] {
    const std::vector<std::string> words = split_words(text);
    std::string line;
    for (const std::string& word : words) line += quoted_word(word) + ' ';
    fuzz::require(split_words(line) == words, "quoted words are read again");
    const bool names_a_file =
        std::any_of(words.begin(), words.end(), [](const auto& w) { return w.find("config") != w.npos; });
    if (!names_a_file) fuzz::read_options(words);
  });
  return 0;
}
