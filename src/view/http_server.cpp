#include "src/view/http_server.hpp"

// Boost 1.74's awaitable.hpp needs it.
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <list>
#include <thread>

#include "core/failure.hpp"
#include "core/threads.hpp"

namespace voxherd::view {

namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace net = boost::asio;
using tcp = net::ip::tcp;

// For a request or an answer. Who has not shown the token is to need no more than a header's time.
constexpr auto patience = std::chrono::seconds(30), patience_with_strangers = std::chrono::seconds(5);
// Between two connections while all are in use: each then has time for its request, before newer ones close it.
constexpr auto pause_when_full = std::chrono::milliseconds(2);
// NiiVue needs pictures from data: addresses for its font. Nothing else is loaded from anywhere but this server.
constexpr const char* content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

std::string text_of(beast::string_view s) { return std::string(s.data(), s.size()); }

http_request read_parts(http::request<http::string_body>&& r) {
  http_request q{text_of(r.method_string()), text_of(r.target()), text_of(r[http::field::host]),
                 text_of(r["X-Token"]),      std::move(r.body()), std::nullopt};
  if (r.find(http::field::origin) != r.end()) q.origin = text_of(r[http::field::origin]);
  return q;
}

http::response<http::string_body> make_response(http_answer&& a, bool keep_alive) {
  http::response<http::string_body> r{static_cast<http::status>(a.status), 11};
  r.set(http::field::content_type, a.type);
  r.set("Content-Security-Policy", content_policy);
  r.set("X-Content-Type-Options", "nosniff");
  r.set("Referrer-Policy", "no-referrer");
  r.set("Cross-Origin-Resource-Policy", "same-origin");
  r.set(http::field::cache_control, "no-store");
  if (a.gzipped) r.set(http::field::content_encoding, "gzip");
  r.keep_alive(keep_alive);
  r.body() = std::move(a.body);
  r.prepare_payload();
  return r;
}

/// The answer to what the parser refused; nothing if the connection just ended.
std::optional<http_answer> explain(const beast::error_code& e) {
  if (e == http::error::body_limit) return http_answer{413, "text/plain", "the request is too large\n"};
  if (e == http::error::header_limit) return http_answer{431, "text/plain", "the header is too large\n"};
  const bool ended = e == http::error::end_of_stream || e == http::error::partial_message;
  if (ended || e.category() != http::make_error_code(http::error::end_of_stream).category()) return std::nullopt;
  return http_answer{400, "text/plain", "not an HTTP request\n"};
}

}  // namespace

/// Where a connection waits for its answer.
struct pending_answer {
  explicit pending_answer(net::io_context& c) : io(c), ready(c, net::steady_timer::time_point::max()) {}
  net::io_context& io;
  net::steady_timer ready;
  http_answer answer;
  bool done = false;
};

/// A connection.
struct client {
  beast::tcp_stream& stream;
  bool has_token = false;  ///< one of its requests had the token
  bool is_closed = false;  ///< for a newer one
};

struct http_server::state {
  state(std::string t, handler h, std::function<void()> stop)
      : token(std::move(t)), handle(std::move(h)), on_stop(std::move(stop)) {}

  net::awaitable<http_answer> ask(http_request request) {
    auto pending = std::make_shared<pending_answer>(io);
    handle(request, [pending](http_answer a) {
      auto kept = std::make_shared<http_answer>(std::move(a));
      net::post(pending->io, [pending, kept] {
        pending->answer = std::move(*kept);
        pending->done = true;
        pending->ready.cancel();
      });
    });
    beast::error_code ignored;
    while (!pending->done) co_await pending->ready.async_wait(net::redirect_error(net::use_awaitable, ignored));
    co_return std::move(pending->answer);
  }

  net::awaitable<void> serve(beast::tcp_stream stream) {
    client self{stream};
    const auto place = clients.insert(clients.end(), &self);
    const std::shared_ptr<void> listed(nullptr, [this, place](void*) { clients.erase(place); });
    beast::flat_buffer buffer;
    beast::error_code e;
    for (bool goes_on = true; goes_on && !e;) {
      http::request_parser<http::string_body> parser;
      parser.body_limit(max_body_bytes);
      parser.header_limit(max_header_bytes);
      stream.expires_after(self.has_token ? patience : patience_with_strangers);
      co_await http::async_read(stream, buffer, parser, net::redirect_error(net::use_awaitable, e));
      auto answer = e ? explain(e) : std::nullopt;
      goes_on = !e && parser.get().keep_alive();
      if (e && !answer) break;
      stream.expires_never();  // a solution takes as long as it takes
      if (!answer) {
        http_request request = read_parts(parser.release());
        self.has_token = self.has_token || has_token(request, token);
        answer = co_await ask(std::move(request));
      }
      auto response = make_response(std::move(*answer), goes_on);
      stream.expires_after(patience);
      beast::error_code write_error;
      co_await http::async_write(stream, response, net::redirect_error(net::use_awaitable, write_error));
      if (write_error) break;
    }
    stream.socket().shutdown(tcp::socket::shutdown_send, e);
  }

  /// False if all connections have shown the token.
  bool close_oldest_stranger() {
    const auto oldest =
        std::find_if(clients.begin(), clients.end(), [](const client* c) { return !c->has_token && !c->is_closed; });
    if (oldest == clients.end()) return false;
    (*oldest)->is_closed = true;
    (*oldest)->stream.close();
    return true;
  }

  net::awaitable<void> accept() {
    net::steady_timer pause(io);
    while (acceptor.is_open()) {
      beast::error_code e;
      tcp::socket socket = co_await acceptor.async_accept(net::redirect_error(net::use_awaitable, e));
      const bool is_full = clients.size() >= max_connections;
      if (!e && (!is_full || close_oldest_stranger())) {
        socket.set_option(tcp::no_delay(true), e);
        net::co_spawn(io, serve(beast::tcp_stream(std::move(socket))), net::detached);
      }
      if (!e && !is_full) continue;
      pause.expires_after(pause_when_full);
      co_await pause.async_wait(net::redirect_error(net::use_awaitable, e));
    }
  }

  std::string token;
  handler handle;
  std::function<void()> on_stop;
  std::list<client*> clients;  ///< oldest first; outlives `io`, whose end removes them
  net::io_context io{1};
  tcp::acceptor acceptor{io};
  net::signal_set signals{io, SIGINT, SIGTERM};
  std::jthread thread;
};

http_server::http_server(std::uint16_t port, std::string token, handler handle, std::function<void()> stop)
    : state_(std::make_unique<state>(std::move(token), std::move(handle), std::move(stop))) {
  try {
    const tcp::endpoint here(net::ip::address_v4::loopback(), port);
    state_->acceptor.open(here.protocol());
    state_->acceptor.set_option(net::socket_base::reuse_address(true));
    state_->acceptor.bind(here);
    state_->acceptor.listen();
  } catch (const boost::system::system_error& e) {
    refuse_usage("--port {}: {}; choose another port, or 0 for any free one", port, e.code().message());
  }
  state_->signals.async_wait([this](const beast::error_code& e, int) {
    if (!e) state_->on_stop();
  });
  net::co_spawn(state_->io, state_->accept(), net::detached);
  state_->thread = start_thread("answers the browser", [this] { state_->io.run(); });
}

http_server::~http_server() { stop(); }

void http_server::stop() {
  state_->io.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

std::uint16_t http_server::port() const { return state_->acceptor.local_endpoint().port(); }

void work_queue::post(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  work_.push_back(std::move(work));
  changed_.notify_one();
}

void work_queue::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_one();
}

void work_queue::clear() {
  const std::lock_guard lock(mutex_);
  work_.clear();
}

bool work_queue::run(std::chrono::steady_clock::duration max_idle) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (!changed_.wait_for(lock, max_idle, [&] { return stopped_ || !work_.empty(); })) return false;
    if (stopped_) return true;
    const std::function<void()> next = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    next();
    lock.lock();
  }
}

}  // namespace voxherd::view
