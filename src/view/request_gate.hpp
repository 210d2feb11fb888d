#pragma once

#include <optional>
#include <string>

namespace voxherd::view {

/// The parts of an HTTP request that the viewer looks at.
struct http_request {
  std::string method, target, host, token, body;
  std::optional<std::string> origin;
};

struct http_answer {
  unsigned status = 200;
  std::string type = "text/plain";
  std::string body;
  bool gzipped = false;
};

/// 128 random bits, in hexadecimal.
std::string make_token();

/// Whether the request has the token, as all of the page below /api.
bool has_token(const http_request& request, const std::string& token);

/// Refuses what another page or another user of this computer could send; nothing if the request may be answered.
/// The Host must name this computer: a page elsewhere whose name leads here (DNS rebinding) has another. Its port is
/// not compared, because `ssh -L` changes it. An Origin must be this page. Without one only GET is accepted. Below /api
/// the token is needed.
std::optional<http_answer> refuse_request(const http_request& request, const std::string& token);

}  // namespace voxherd::view
