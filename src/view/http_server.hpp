#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "src/view/request_gate.hpp"

namespace voxherd::view {

/// A small HTTP/1.1 server on 127.0.0.1, on its own thread. Requests that are too large, too slow or no HTTP are
/// refused here; the others go to `handle`, which calls `answer` once, at any time, from any thread.
class http_server {
 public:
  using answer_function = std::function<void(http_answer)>;
  using handler = std::function<void(const http_request&, answer_function)>;

  /// `port` 0: any free one. `token`: what the owner's requests have; others cannot keep the owner out. `stop` is
  /// called on SIGINT and SIGTERM. Throws failure (usage): the port is in use.
  http_server(std::uint16_t port, std::string token, handler handle, std::function<void()> stop);
  ~http_server();
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  std::uint16_t port() const;
  /// Ends the thread. Answers given later are ignored, but must not outlive the server.
  void stop();

  static constexpr std::size_t max_body_bytes = 16384, max_header_bytes = 8192;
  /// Another connection closes the oldest one that has not shown the token.
  static constexpr std::size_t max_connections = 64;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Work for the main thread, which alone reads results and uses the device.
class work_queue {
 public:
  void post(std::function<void()> work);
  void stop();
  void clear();  ///< forgets what has not been started
  /// Works until stop(), or until nothing has been posted for so long; then false.
  bool run(std::chrono::steady_clock::duration max_idle);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool stopped_ = false;
};

}  // namespace voxherd::view
