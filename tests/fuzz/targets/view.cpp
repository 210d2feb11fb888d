// A request to the viewer: lines with method, target, Host, Origin and token, then the body.
#include <sstream>

#include "src/view/connection_request.hpp"
#include "src/view/fibre_choice.hpp"
#include "src/view/request_gate.hpp"
#include "tests/fuzz/targets/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace voxherd;
  std::istringstream text{std::string(fuzz::as_text(data, size))};
  view::http_request r;
  std::string origin;
  for (std::string* part : {&r.method, &r.target, &r.host, &origin, &r.token}) std::getline(text, *part);
  if (!origin.empty()) r.origin = origin;
  std::getline(text, r.body, '\0');
  const std::string token = "0123456789abcdef0123456789abcdef";
  const auto refused = view::refuse_request(r, token);
  if (refused) fuzz::require(refused->status >= 400 && refused->status < 500, "a refusal is a client's error");
  const bool needs_token = r.target.starts_with("/api/");
  fuzz::require(refused || !needs_token || r.token == token, "without the token nothing is answered");
  fuzz::accepts([&] { view::parse_connection_request(r.body); });
  fuzz::accepts([&] { view::parse_fibre_request(r.body); });
  fuzz::accepts([&] { view::parse_fibre_choice(r.body); });
  return 0;
}
