// Options together: required ones, choices, needs, dependent defaults, forms; requests as words and as JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/command_line.hpp"
#include "core/help.hpp"
#include "core/text.hpp"

namespace voxherd::option_rules {
namespace {

enum class shape { round, square };
using point = std::array<double, 3>;

point parse_point(const std::string& text, const char*) { return {std::stod(text), 0, 0}; }
std::string print_point(const point& p) { return option::as_text(p[0]); }

struct source_request {
  std::string image, table, from, to;
  std::optional<point> from_point;
  std::vector<std::string> masks;
};

struct study_request {
  source_request source;
  shape form = shape::round;
  std::optional<double> alpha;
  std::optional<double> doubled;
  std::optional<int> order;
  float width = 0.15f;
  bool fast = false, slow = false;
  std::string out, paths;
  std::vector<std::string> files, words;
};

const option_table<source_request>& source_options() {
  using T = source_request;
  static const option_table<T> table =
      option_table<T>()
          .group("Input",
                 {{"image", &T::image, text_kind::file, {"an image"}},
                  {"table", &T::table, text_kind::file, {"its table"}},
                  {"from", &T::from, text_kind::file, {"one end"}},
                  {"from-point", &T::from_point, {parse_point, print_point}, {.text = "a point", .value = "X"}},
                  {"to", &T::to, text_kind::file, {.text = "the other end", .needs = "form=round"}},
                  {"mask", &T::masks, text_kind::file, {.text = "masks", .many = true}}})
          .one_of({"image table", "from|from-point to"});
  return table;
}

void fill_in_double(study_request& r) {
  if (!r.doubled) r.doubled = 2 * *r.alpha;
}

const option_table<study_request>& study_options() {
  using T = study_request;
  static const option_table<T> table =
      option_table<T>()
          .include(&T::source, source_options())
          .group(
              "Model",
              {{"form",
                &T::form,
                {{"round", shape::round}, {"square", shape::square}},
                {.text = "the form", .stored = always}},
               {"alpha",
                &T::alpha,
                range{0.1, 10},
                {.text = "exponent", .defaults = {{"form=square", "1"}, {"", "3"}}, .stored = always}},
               {"doubled",
                &T::doubled,
                range{0, 100},
                {.text = "twice", .standard = "twice --alpha", .stored = always}},
               {"order",
                &T::order,
                range{1, 4},
                {.text = "an order", .defaults = {{"alpha=1", "1"}, {"paths", "4"}, {"", "2"}}, .stored = always}},
               {"width", &T::width, range{0, 1}, {.text = "a width", .stored = if_it_applies, .needs = "form=square"}},
               {"fast", &T::fast, {.text = "fast", .stored = always}},
               {"slow", &T::slow, {.text = "slow", .paper = true}},
               {"file", &T::files, text_kind::file, {"a file"}},
               {"words", &T::words, {split_as_words, join_words}, {.text = "words"}}})
          .group("Output", {{"out", &T::out, text_kind::file, {.text = "the result", .required = true}},
                            {"paths", &T::paths, text_kind::file, {"paths"}}})
          .at_most_one_of({"fast", "slow"})
          .fill_in(fill_in_double);
  return table;
}

struct kind_request {
  std::string kind, result, out;
};

const option_table<kind_request>& kind_options() {
  using T = kind_request;
  static const option_table<T> table =
      option_table<T>()
          .group("Input",
                 {{"kind", &T::kind, text_kind::any, {.text = "a kind", .value = "KIND", .required = true, .place = 1}},
                  {"result", &T::result, text_kind::file, {.text = "a result", .value = "RESULT", .place = 2}},
                  {"out", &T::out, text_kind::file, {"a folder"}}})
          .form("make|draw", "out")
          .form("score", "result");
  return table;
}

exit_status run_study(session&, const study_request&) { return exit_status::complete; }
exit_status run_kind(session&, const kind_request&) { return exit_status::complete; }
constexpr command study = make_command<study_options, run_study>({"study", "a study"});
constexpr command kinds = make_command<kind_options, run_kind>({"kinds", "kinds"});

study_request read(std::vector<std::string> words) {
  words.insert(words.begin(), {"--image", "i", "--table", "t", "--out", "o"});
  return study_options().read(parse_command_line(study, words));
}

template <class Table>
std::string refusal(const Table& table, const command& c, const std::vector<std::string>& words) {
  try {
    (void)table.read(parse_command_line(c, words));
  } catch (const failure& f) {
    EXPECT_EQ(f.status, exit_status::usage);
    return f.what();
  }
  return "accepted";
}
std::string refusal(const std::vector<std::string>& words) { return refusal(study_options(), study, words); }

nlohmann::json stored(const study_request& r) {
  nlohmann::json configuration = nlohmann::json::object();
  study_options().add_stored(r, configuration);
  return configuration;
}

}  // namespace

TEST(RequiredOptions, AreNamedTogether) {
  EXPECT_EQ(
      refusal({}),
      "study: (--image FILE --table FILE | (--from FILE | --from-point X) --to FILE), --out FILE are missing; see "
      "voxherd study --help");
  EXPECT_EQ(refusal({"--image", "i", "--out", "o"}), "study: --table FILE is missing; see voxherd study --help");
}

TEST(Choices, NeedEachPartOfTheOneThatWasMade) {
  EXPECT_EQ(refusal({"--to", "t", "--out", "o"}),
            "study: (--from FILE | --from-point X) is missing; see voxherd study --help");
  EXPECT_EQ(refusal({"--from", "f", "--to", "t", "--out", "o"}), "accepted");
  EXPECT_EQ(refusal({"--from-point", "3", "--to", "t", "--out", "o"}), "accepted");
}

TEST(Choices, NeedNoPartThatDoesNotApply) {
  EXPECT_EQ(refusal({"--from", "f", "--form", "square", "--out", "o"}), "accepted");
}

TEST(Choices, ExcludeEachOther) {
  EXPECT_EQ(refusal({"--image", "i", "--from", "f", "--out", "o"}), "--image and --from exclude each other; give one");
  EXPECT_EQ(refusal({"--from", "f", "--from-point", "1"}), "--from and --from-point exclude each other; give one");
  EXPECT_EQ(refusal({"--fast", "--slow"}), "--fast and --slow exclude each other; give one");
}

TEST(Needs, NameWhatIsMissing) {
  EXPECT_EQ(refusal({"--image", "i", "--table", "t", "--out", "o", "--width", "1"}),
            "--width has no meaning without --form square; leave it out");
  EXPECT_EQ(read({"--form", "square", "--width", "1"}).width, 1);
}

TEST(Defaults, FollowOtherOptions) {
  EXPECT_EQ(read({}).alpha, 3);
  EXPECT_EQ(read({"--form", "square"}).alpha, 1);
  EXPECT_EQ(read({"--form", "square", "--alpha", "2"}).alpha, 2);
  EXPECT_EQ(read({}).doubled, 6);
}

TEST(Defaults, FollowOtherDefaultsAndTheFirstCaseThatApplies) {
  EXPECT_EQ(read({}).order, 2);
  EXPECT_EQ(read({"--paths", "p"}).order, 4);
  EXPECT_EQ(read({"--form", "square", "--paths", "p"}).order, 1);
}

TEST(Defaults, AreShownWithTheirCases) {
  const std::string text = help_text(study);
  EXPECT_NE(text.find("[0.1 to 10; default 3; square: 1]"), text.npos) << text;
  EXPECT_NE(text.find("default 2; 1: 1; paths: 4"), text.npos) << text;
}

TEST(Forms, NeedTheirOptions) {
  EXPECT_EQ(refusal(kind_options(), kinds, {}), "kinds: KIND is missing, expected one of make, draw, score");
  EXPECT_EQ(refusal(kind_options(), kinds, {"sing"}), "kinds sing: expected one of make, draw, score");
  EXPECT_EQ(refusal(kind_options(), kinds, {"draw"}), "kinds: --out FILE is missing; see voxherd kinds --help");
  EXPECT_EQ(refusal(kind_options(), kinds, {"score"}), "kinds: RESULT is missing; see voxherd kinds --help");
  EXPECT_EQ(refusal(kind_options(), kinds, {"score", "r"}), "accepted");
}

TEST(Usage, FollowsFromTheTable) {
  const std::string text = help_text(study), forms = help_text(kinds);
  EXPECT_NE(text.find("usage: voxherd study (--image FILE --table FILE | (--from FILE |"), text.npos) << text;
  EXPECT_NE(text.find("--to FILE) --out FILE [options]"), text.npos) << text;
  EXPECT_NE(forms.find("usage: voxherd kinds make|draw --out FILE [options]\n"
                       "       voxherd kinds score RESULT [options]\n"),
            forms.npos)
      << forms;
}

TEST(Help, LeavesOutOptionsForExperiments) {
  EXPECT_EQ(help_text(study).find("  --slow"), std::string::npos);
  EXPECT_NE(help_text(study).find("1 more option, for experiments and tuning: voxherd study --help-all"),
            std::string::npos);
  EXPECT_NE(help_text(study, help_format::all).find("Model, for experiments and tuning:\n  --slow"), std::string::npos);
}

TEST(Help, DescribesChoicesForBoutiques) {
  const auto j = nlohmann::json::parse(help_text(study, help_format::json));
  EXPECT_EQ(j["groups"][0]["members"], (std::vector<std::string>{"image", "from", "from_point"}));
  EXPECT_EQ(j["groups"][0]["one-is-required"], true);
  EXPECT_EQ(j["groups"][1]["one-is-required"], false);
}

TEST(Words, GiveTheSameRequest) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {},
           {"--form", "square", "--width", "0.3", "--alpha", "1"},
           {"--fast", "--paths", "p", "--mask", "a", "b c", "--file", "x", "--file", "y"},
           {"--words", "--one 'two three'", "--order", "3", "--doubled", "7.25"}}) {
    const study_request r = read(words);
    const std::vector<std::string> again = study_options().words(r);
    const study_request same = study_options().read(parse_command_line(study, again));
    EXPECT_EQ(stored(same), stored(r));
    EXPECT_EQ(study_options().words(same), again);
    EXPECT_EQ(same.words, r.words);
    EXPECT_EQ(same.source.masks, r.source.masks);
  }
}

TEST(Words, LeaveOutDefaults) {
  EXPECT_EQ(
      study_options().words(read({"--form", "square", "--alpha", "1", "--order", "1"})),
      (std::vector<std::string>{"--image", "i", "--table", "t", "--form", "square", "--doubled", "2", "--out", "o"}));
}

TEST(Words, KeepNegativeValuesWithTheirOptions) {
  const study_request r =
      study_options().read(parse_command_line(study, {"--from-point=-3", "--to", "t", "--out", "o"}));
  EXPECT_EQ(study_options().words(r).front(), "--from-point=-3");
}

TEST(StoredConfiguration, IsReadBack) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{}, {"--form", "square", "--width", "0.3"}, {"--fast", "--alpha", "2"}}) {
    const study_request r = read(words);
    EXPECT_EQ(stored(study_options().read_stored(stored(r))), stored(r));
  }
  EXPECT_THROW((void)study_options().read_stored({{"alpha", 100}}), failure);
}

TEST(StoredConfiguration, HasTheFilesOfAResult) {
  source_request r;
  source_options().read_inputs({{"image", {{"path", "i.nii"}}},
                                {"from_point", {{"path", "none"}}},
                                {"mask 1", {{"path", "a.nii"}}},
                                {"mask 2", {{"path", "b.nii"}}}},
                               r);
  EXPECT_EQ(r.image, "i.nii");
  EXPECT_EQ(r.masks, (std::vector<std::string>{"a.nii", "b.nii"}));
}

TEST(Describe, HasWhatAFormNeeds) {
  const nlohmann::json all = study_options().describe();
  const auto width = std::find_if(all.begin(), all.end(), [](const auto& o) { return o["name"] == "width"; });
  EXPECT_EQ((*width)["type"], "real");
  EXPECT_EQ((*width)["min"], 0);
  EXPECT_EQ((*width)["max"], 1);
  EXPECT_EQ((*width)["default"], "0.15");
  EXPECT_EQ((*width)["needs"][0]["names"][0], "form");
  EXPECT_EQ((*width)["needs"][0]["words"][0], "square");
}

TEST(AmericanNames, AreAccepted) {
  struct fibre_request {
    int fibres = 1;
  };
  static const option_table<fibre_request> table = option_table<fibre_request>().group(
      "Model", {{"fibres", &fibre_request::fibres, range{1, 9}, {"number of fibres"}}});
  static const auto options = []() -> const option_list& { return table; };
  command c{"fibre", "a command", options, nullptr};
  EXPECT_EQ(table.read(parse_command_line(c, {"--fibers", "3"})).fibres, 3);
  EXPECT_EQ(table.read(parse_command_line(c, {"--fibers=4"})).fibres, 4);
}

}  // namespace voxherd::option_rules
