#include <gtest/gtest.h>

#include "core/failure.hpp"
#include "src/view/connection.hpp"
#include "src/view/request_gate.hpp"

namespace voxherd::view {
namespace {

const std::string token = "0123456789abcdef0123456789abcdef";

http_request good() { return {"POST", "/api/solve", "127.0.0.1:8080", token, "", "http://127.0.0.1:8080"}; }

unsigned status_of(const http_request& r) {
  const auto refused = refuse_request(r, token);
  return refused ? refused->status : 200;
}

TEST(ViewGate, AcceptsThisPageUnderEachNameOfThisComputer) {
  for (const char* host : {"127.0.0.1:8080", "localhost:9", "[::1]:8080", "127.0.0.1", "[::1]"}) {
    http_request r = good();
    r.host = host;
    r.origin = std::string("http://") + host;
    EXPECT_EQ(status_of(r), 200u) << host;
  }
}

TEST(ViewGate, RefusesForeignHosts) {
  for (const char* host :
       {"", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil", "[::1", "[::2]", "::1"}) {
    http_request r = good();
    r.host = host;
    r.origin = std::string("http://") + host;
    EXPECT_EQ(status_of(r), 403u) << host;
  }
}

TEST(ViewGate, RefusesForeignAndMissingOrigins) {
  http_request r = good();
  for (const char* origin : {"http://127.0.0.1:8081", "https://127.0.0.1:8080", "null", "", "http://evil.example"}) {
    r.origin = origin;
    EXPECT_EQ(status_of(r), 403u) << origin;
  }
  r.origin.reset();
  EXPECT_EQ(status_of(r), 403u);
  r.method = "GET";
  EXPECT_EQ(status_of(r), 200u);
}

TEST(ViewGate, NeedsTheTokenForDataOnly) {
  http_request r = good();
  for (const std::string& wrong : {std::string(), token.substr(1), token + "0", std::string(32, '0')}) {
    r.token = wrong;
    EXPECT_EQ(status_of(r), 401u) << wrong;
  }
  r.target = "/view.js";
  EXPECT_EQ(status_of(r), 200u);
  r.method = "PUT";
  EXPECT_EQ(status_of(r), 405u);
}

TEST(ViewGate, TokensAre128BitsAndDiffer) {
  const std::string one = make_token();
  EXPECT_EQ(one.size(), 32u);
  EXPECT_EQ(one.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(one, make_token());
}

const std::string settings = R"("metric":"jeong","alpha":3,"smooth":0.5,"max-ratio":100,"within-fa":0})";

std::string refusal(const std::string& json) {
  try {
    (void)make_connection_request(parse_connection_request(json), connect_request());
  } catch (const failure& f) {
    EXPECT_EQ(f.status, exit_status::usage) << json;
    return f.what();
  }
  return "accepted";
}

TEST(ViewRequest, HasPointsOrLabels) {
  const connection_request r = make_connection_request(
      parse_connection_request(R"({"from":[1,-2.5,3e1],"to":17,)" + settings), connect_request());
  ASSERT_TRUE(r.from.point_mm);
  EXPECT_EQ(*r.from.point_mm, (std::array<double, 3>{1, -2.5, 30}));
  EXPECT_FALSE(r.to.point_mm);
  EXPECT_EQ(r.to.label, 17);
  EXPECT_EQ(r.options.metric, tensor_field::metric_kind::jeong);
  EXPECT_EQ(r.options.alpha, 3);
  EXPECT_EQ(r.options.smoothing_voxels, 0.5);
  EXPECT_EQ(r.options.max_ratio, 100);
}

TEST(ViewRequest, ReplacesTheSmallestFA) {
  connect_request base;
  base.within_FA = 0.3;
  for (const auto& [sent, expected] :
       {std::pair{"0", std::optional<double>()}, std::pair{"0.2", std::optional<double>(0.2)}}) {
    const std::string body = std::string(R"({"from":1,"to":2,"metric":"jeong","alpha":3,"smooth":0,"max-ratio":100,)") +
                             R"("within-fa":)" + sent + "}";
    EXPECT_EQ(make_connection_request(parse_connection_request(body), base).options.within_FA, expected) << sent;
  }
}

TEST(ViewRequest, IsRefusedWithTheFieldThatIsWrong) {
  EXPECT_NE(refusal("").find("not a JSON object"), std::string::npos);
  EXPECT_NE(refusal("[1]").find("not a JSON object"), std::string::npos);
  EXPECT_NE(refusal(std::string(10000, '[')).find("too many levels"), std::string::npos);
  EXPECT_NE(refusal(R"({"from":1,"to":2,"file":"/etc/passwd",)" + settings).find("unknown member"), std::string::npos);
  EXPECT_NE(refusal(R"({"from":1,)" + settings).find("to is missing"), std::string::npos);
  for (const char* end :
       {"0", "-1", "1.5", "2147483648", "\"1\"", "null", "[1,2]", "[1,2,3,4]", "[1,2,\"3\"]", "[1,2,1e99]"})
    EXPECT_NE(refusal(std::string(R"({"from":1,"to":)") + end + "," + settings).find("to: expected"), std::string::npos)
        << end;
  EXPECT_NE(refusal(R"({"from":1,"to":2,"metric":"x","alpha":3,"smooth":0,"max-ratio":9,"within-fa":0})")
                .find("--metric x: expected"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"from":1,"to":2,"metric":"power","alpha":0,"smooth":0,"max-ratio":9,"within-fa":0})")
                .find("--alpha 0: expected"),
            std::string::npos);
}

TEST(ViewRequest, OfFibresNamesItsConnection) {
  const fibre_request r = parse_fibre_request(R"({"connection":3,"epsilon":0.1,"count":20})");
  EXPECT_EQ(r.connection, 3u);
  EXPECT_EQ(r.epsilon, 0.1);
  EXPECT_EQ(r.count, 20u);
  EXPECT_THROW(parse_fibre_request(R"({"connection":3,"epsilon":0.1,"count":0})"), failure);
  EXPECT_THROW(parse_fibre_request(R"({"connection":3})"), failure);
}

}  // namespace
}  // namespace voxherd::view
