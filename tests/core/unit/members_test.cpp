#include "core/members.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

using namespace voxherd;

namespace {

struct complete {
  std::string name;
  double axes[3] = {};
  std::array<int, 2> pair{};
  std::vector<float> values;
  std::optional<std::map<int, std::string>> names;
  nlohmann::json facts;

  static constexpr auto members() {
    using T = complete;
    return std::tuple(&T::name, &T::axes, &T::pair, &T::values, &T::names, &T::facts);
  }
};

struct forgetful {
  std::string name;
  nlohmann::json facts;
  double added_later = 0;

  static constexpr auto members() { return std::tuple(&forgetful::name, &forgetful::facts); }
};

struct silent {
  int number = 0;
};

}  // namespace

TEST(Members, OfAnAggregateAreCounted) {
  EXPECT_TRUE(lists_all_members<complete>());
  EXPECT_FALSE(lists_all_members<forgetful>());
}

TEST(Members, AreKnownOfTypesThatListThem) {
  EXPECT_TRUE(has_members<complete>);
  EXPECT_FALSE(has_members<silent>);
}
