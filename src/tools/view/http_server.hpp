#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "src/tools/view/request_gate.hpp"

namespace voxherd::view {

/// A small HTTP/1.1 server on 127.0.0.1, on its own thread. Requests that are too large, too slow or no HTTP are
/// refused here; the others go to `handle`, which calls `answer` once, at any time, from any thread.
class http_server {
 public:
  using answer_function = std::function<void(http_answer)>;
  using handler = std::function<void(const http_request&, answer_function)>;

  /// `port` 0: any free one. `stop` is called on SIGINT and SIGTERM. Throws failure (usage): the port is in use.
  http_server(std::uint16_t port, handler handle, std::function<void()> stop);
  ~http_server();
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  std::uint16_t port() const;
  /// Ends the thread. Answers given later are ignored, but must not outlive the server.
  void stop();

  static constexpr std::size_t max_body_bytes = 16384, max_header_bytes = 8192;
  static constexpr int max_connections = 64;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace voxherd::view
