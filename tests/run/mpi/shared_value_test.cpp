#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "mpi/comm/session.hpp"
#include "tests/support/rank_folder.hpp"

using namespace voxherd;

namespace {

using toy::world;

enum class colour { red, green };

struct part {
  double numbers[3] = {};
  std::string name;
  std::optional<colour> shade = {};

  static constexpr auto members() { return std::tuple(&part::numbers, &part::name, &part::shade); }
  bool operator==(const part& o) const {
    return std::equal(numbers, numbers + 3, o.numbers) && name == o.name && shade == o.shade;
  }
};

struct whole {
  std::vector<part> parts;
  std::vector<float> large, empty;
  std::map<int, std::string> names;
  std::pair<std::array<std::uint8_t, 2>, bool> flags = {};
  nlohmann::json facts;

  static constexpr auto members() {
    using T = whole;
    return std::tuple(&T::parts, &T::large, &T::empty, &T::names, &T::flags, &T::facts);
  }
  bool operator==(const whole&) const = default;
};

whole make_whole() {
  whole w;
  w.parts = {{{1, 2.5, -3}, "first \xff\n", colour::green}, {{}, "", {}}, {{0, 0, 7}, std::string(100000, 'x'), {}}};
  for (int i = 0; i < 200000; ++i) w.large.push_back(static_cast<float>(i) / 3);
  w.names = {{-4, "minus four"}, {12, ""}};
  w.flags = {{3, 250}, true};
  w.facts = {{"path", "a"}, {"list", {1, 2.5, nullptr}}, {"long", std::string(200000, 'y')}};
  return w;
}

/// What a rank other than 0 has before: it must be replaced completely.
whole make_other() {
  whole w;
  w.parts.resize(7);
  w.parts[0].shade = colour::red;
  w.empty = {1, 2, 3};
  w.names = {{12, "other"}, {13, "more"}};
  w.facts = 5;
  return w;
}

}  // namespace

TEST(SharedValue, IsRankZerosOnEveryRank) {
  whole value = world->is_root() ? make_whole() : make_other();
  world->broadcast(value);
  EXPECT_EQ(value, make_whole());
}

TEST(SharedValue, IsReadOnRankZeroOnly) {
  int calls = 0;
  const auto value = world->from_root([&] {
    ++calls;
    return std::pair(make_whole(), std::string("read"));
  });
  EXPECT_EQ(calls, world->is_root() ? 1 : 0);
  EXPECT_EQ(value.first, make_whole());
  EXPECT_EQ(value.second, "read");
}

TEST(SharedValue, FailsOnEveryRankIfReadingFails) {
  try {
    (void)world->from_root([]() -> std::string { throw failure(exit_status::missing_input, "a.nii: is missing"); });
    FAIL() << "no failure";
  } catch (const failure& f) {
    EXPECT_EQ(f.status, exit_status::missing_input);
    EXPECT_STREQ(f.what(), "a.nii: is missing");
  }
}

TEST(SharedValue, FollowsAnotherInOrder) {
  std::vector<std::string> texts;
  for (int i = 0; i < 20; ++i)
    texts.push_back(world->from_root([&] { return std::string(static_cast<std::size_t>(i * 9000), 'a'); }));
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i], std::string(i * 9000, 'a'));
}
