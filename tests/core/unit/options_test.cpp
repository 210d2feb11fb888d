// The option table: from text to a typed request, and what else follows from it.
#include "core/options.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "core/command_line.hpp"
#include "core/device_choice.hpp"
#include "core/help.hpp"

using namespace voxherd;

namespace {

enum class shape { round, square };

struct part_request {
  double size_mm = 0.5;
  std::vector<std::string> files;
};

struct toy_request {
  part_request part;
  int count = 3;
  shape form = shape::round;
  std::optional<double> alpha;
  float width = 0.15f;
  bool fast = false;
  std::string name;
  std::string config;
};

const option_table<part_request>& part_options() {
  using T = part_request;
  static const option_table<T> table = option_table<T>().group(
      "Input", {{"size", &T::size_mm, zero_or(0.1, 10), {.text = "edge length", .unit = "mm", .stored = always}},
                {"file", &T::files, text_kind::file, {"an input file"}}});
  return table;
}

const option_table<toy_request>& toy_options() {
  using T = toy_request;
  static const option_table<T> table =
      option_table<T>()
          .group("Model",
                 {{"count", &T::count, range{1, 100}, {.text = "number of | things", .stored = always}},
                  {"form",
                   &T::form,
                   {{"round", shape::round}, {"square", shape::square}},
                   {.text = "their form", .stored = always}},
                  {"alpha",
                   &T::alpha,
                   range{0.1, 10},
                   {.text = "exponent", .defaults = {{"form=square", "1"}, {"", "3"}}, .stored = always}},
                  {"width", &T::width, range{0, 1}, {.text = "width", .stored = if_it_applies, .needs = "form=square"}},
                  {"fast",
                   &T::fast,
                   {.text = "a long help text that has to be wrapped, because a terminal has 80 columns and "
                            "this text has many more than that",
                    .stored = always}},
                  {"name", &T::name, text_kind::any, {.text = "a name", .value = "NAME", .place = 1}}})
          .group("Running", {{"config", text_kind::file, {"options from a file"}}})
          .include(&T::part, part_options());
  return table;
}

exit_status run_toy(session&, const toy_request&) { return exit_status::complete; }

constexpr command toy = make_command<toy_options, run_toy>({"toy", "a toy"});

toy_request read(const std::vector<std::string>& words) { return toy_options().read(parse_command_line(toy, words)); }

/// The message with which the words are refused, as a usage failure.
std::string refusal(const std::vector<std::string>& words) {
  try {
    read(words);
  } catch (const failure& f) {
    EXPECT_EQ(f.status, exit_status::usage);
    return f.what();
  }
  return "accepted";
}

nlohmann::json stored(const toy_request& request) {
  nlohmann::json configuration = nlohmann::json::object();
  add_stored(toy_options(), request, configuration);
  return configuration;
}

}  // namespace

TEST(Options, HaveTheDefaultsOfTheRequestsMembers) {
  const toy_request r = read({});
  EXPECT_EQ(r.count, 3);
  EXPECT_EQ(r.form, shape::round);
  EXPECT_EQ(r.part.size_mm, 0.5);
  EXPECT_EQ(r.alpha, 3);
  EXPECT_FALSE(r.fast);
}

TEST(Options, FillTheirMembers) {
  const toy_request r = read({"--count", "7", "--form=square", "-alpha", "1.5", "--fast", "--size", "0", "a name"});
  EXPECT_EQ(r.count, 7);
  EXPECT_EQ(r.form, shape::square);
  EXPECT_EQ(r.alpha, 1.5);
  EXPECT_TRUE(r.fast);
  EXPECT_EQ(r.part.size_mm, 0);
  EXPECT_EQ(r.name, "a name");
}

TEST(Options, MayBeRepeatedOnlyIfTheyAreLists) {
  EXPECT_EQ(read({"--file", "a", "--file", "b"}).part.files, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(refusal({"--count", "1", "--count", "2"}), "--count is given twice");
}

TEST(Options, OutOfRangeAreRefusedWithTheRange) {
  EXPECT_EQ(refusal({"--count", "0"}), "--count 0: expected 1 to 100");
  EXPECT_EQ(refusal({"--count", "-1"}), "--count -1: expected 1 to 100");
  EXPECT_EQ(refusal({"--size", "0.05"}), "--size 0.05: expected 0, or 0.1 to 10 mm");
  EXPECT_EQ(refusal({"--alpha", "nan"}), "--alpha nan: expected 0.1 to 10");
}

TEST(Options, ThatAreNotNumbersAreRefused) {
  EXPECT_EQ(refusal({"--count", "3.5"}), "--count 3.5: expected an integer, 1 to 100");
  EXPECT_EQ(refusal({"--count", "1e99"}), "--count 1e99: expected an integer, 1 to 100");
  EXPECT_EQ(refusal({"--alpha", "much"}), "--alpha much: expected a number, 0.1 to 10");
}

TEST(Options, WithUnknownWordsAreRefusedWithTheWords) {
  EXPECT_EQ(refusal({"--form", "oval"}), "--form oval: expected one of round, square");
}

TEST(Options, ThatDisagreeAreRefused) {
  EXPECT_EQ(refusal({"--width", "0.5"}), "--width has no meaning without --form square; leave it out");
  EXPECT_EQ(read({"--width", "0.5", "--form", "square"}).width, 0.5f);
}

TEST(Options, UnknownOnesAreAnsweredWithTheNearest) {
  EXPECT_EQ(refusal({"--cuont", "1"}), "unknown option --cuont; did you mean --count? see voxherd toy --help");
  EXPECT_EQ(refusal({"--something"}), "unknown option --something; see voxherd toy --help");
  EXPECT_EQ(refusal({"--coun", "1"}), "unknown option --coun; did you mean --count? see voxherd toy --help");
}

TEST(Options, UnexpectedArgumentsAreNamed) {
  EXPECT_EQ(refusal({"one", "two"}), "unexpected argument 'two'; usage: voxherd toy [NAME] [options]");
}

TEST(Options, AreStoredIfTheyChangeResults) {
  EXPECT_EQ(stored({}).dump(), R"({"count":3,"fast":false,"form":"round","size":0.5})");
  EXPECT_EQ(stored(read({})).dump(), R"({"alpha":3.0,"count":3,"fast":false,"form":"round","size":0.5})");
  EXPECT_EQ(stored(read({"--form", "square", "--alpha", "1"})).dump(),
            R"({"alpha":1.0,"count":3,"fast":false,"form":"square","size":0.5,"width":0.15})");
}

TEST(Command, WithoutARunHasNoRunOptions) {
  EXPECT_EQ(prepare_command(toy, {"--count", "9"})->run_options(), nullptr);
  EXPECT_FALSE(makes_result(toy));
  EXPECT_THROW((void)prepare_command(toy, {"--count", "900"}), failure);
}

TEST(Help, FitsAWindowOf80Columns) {
  std::istringstream lines(help_text(toy));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Help, ShowsRangeUnitAndDefault) {
  const std::string text = help_text(toy);
  EXPECT_NE(text.find("edge length [0, or 0.1 to 10 mm; default 0.5]"), text.npos) << text;
  EXPECT_NE(text.find("[round | square; default round]"), text.npos) << text;
  EXPECT_NE(text.find("[0.1 to 10; default 3; square: 1]"), text.npos) << text;
}

TEST(Help, ShowsInputsFirstAndSharedOptionsLast) {
  const std::string text = help_text(toy);
  EXPECT_LT(text.find("Input:"), text.find("Model:"));
  EXPECT_LT(text.find("Model:"), text.find("Running:"));
  EXPECT_LT(text.find("Running:"), text.find("Help:"));
}

TEST(Help, EscapesTheBarsOfMarkdownCells) {
  EXPECT_NE(help_text(toy, help_format::markdown).find("| `--count N` | 3 | 1 to 100 | number of \\| things |"),
            std::string::npos);
}

TEST(Help, DescribesInputsForBoutiques) {
  const auto j = nlohmann::json::parse(help_text(toy, help_format::json));
  EXPECT_EQ(j["schema-version"], "0.5");
  const auto& inputs = j["inputs"];
  EXPECT_EQ(inputs[0]["id"], "count");
  EXPECT_EQ(inputs[0]["type"], "Number");
  EXPECT_EQ(inputs[0]["integer"], true);
  EXPECT_EQ(inputs[0]["minimum"], 1);
  EXPECT_EQ(inputs[0]["maximum"], 100);
  EXPECT_FALSE(inputs[0].contains("default-value"));
  EXPECT_NE(inputs[0]["description"].get<std::string>().find("default 3"), std::string::npos);
  EXPECT_EQ(inputs[1]["value-choices"], (std::vector<std::string>{"round", "square"}));
}

TEST(Help, RefusesUnknownFormats) {
  EXPECT_THROW((void)parse_help_format("html"), failure);
  EXPECT_THROW((void)completion_script({}, "fish"), failure);
}

TEST(DeviceRecord, IsReadBackFromJson) {
  const device_record gpu = device_from_json(as_json({"cuda", 0, "NVIDIA H200", "GPU-1f2e"}));
  EXPECT_EQ(describe(gpu), "NVIDIA H200, GPU-1f2e");
  EXPECT_EQ(device_from_json(as_json({"cpu", 8, "", ""})).threads, 8);
}
