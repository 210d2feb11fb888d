#include "src/view/request_gate.hpp"

#include <fmt/core.h>

#include <random>
#include <string_view>

namespace voxherd::view {

namespace {

/// Without the port; all of it if what follows the colon is no port.
std::string_view host_name(std::string_view host) {
  const std::size_t after_bracket = host.starts_with('[') ? host.find(']') : 0;
  if (after_bracket == std::string_view::npos) return host;
  const std::size_t colon = host.find(':', after_bracket);
  if (colon == std::string_view::npos || host.find_first_not_of("0123456789", colon + 1) != host.npos) return host;
  return host.substr(0, colon);
}

bool is_local(std::string_view host) {
  const std::string_view name = host_name(host);
  return name == "127.0.0.1" || name == "localhost" || name == "[::1]";
}

/// In a time that does not depend on how much is right.
bool is_same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) different |= static_cast<unsigned>(a[i] ^ b[i]);
  return different == 0;
}

http_answer refusal(unsigned status, const char* why) { return {status, "text/plain", fmt::format("{}\n", why)}; }

}  // namespace

std::string make_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", static_cast<std::uint32_t>(random()));
  return token;
}

bool has_token(const http_request& request, const std::string& token) { return is_same(request.token, token); }

std::optional<http_answer> refuse_request(const http_request& request, const std::string& token) {
  if (!is_local(request.host)) return refusal(403, "the Host is not this computer");
  if (request.origin && *request.origin != "http://" + request.host) return refusal(403, "the Origin is not this page");
  if (request.method != "GET" && request.method != "POST") return refusal(405, "only GET and POST are answered");
  if (!request.origin && request.method != "GET") return refusal(403, "the Origin is missing");
  if (request.target.starts_with("/api/") && !has_token(request, token))
    return refusal(401, "the token is missing or wrong; open the address that voxherd view printed");
  return std::nullopt;
}

}  // namespace voxherd::view
