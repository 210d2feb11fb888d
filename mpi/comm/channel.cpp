#include "mpi/comm/channel.hpp"

#include <deque>
#include <list>
#include <numeric>

#include "mpi/comm/communicators.hpp"
#include "mpi/comm/session.hpp"

namespace voxherd {

struct channel::state {
  struct letter {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  explicit state(const session& session) : s(session), sent(static_cast<std::size_t>(session.size())) {
    if (session.size() > 1) MPI_Comm_dup(s.handles().world, &ranks);
  }

  const session& s;
  MPI_Comm ranks = MPI_COMM_NULL;  ///< null for a single rank, whose messages to itself need no MPI
  std::list<letter> letters;
  std::deque<message> own;          ///< a single rank's
  std::vector<std::uint64_t> sent;  ///< messages to each rank
  std::uint64_t received = 0;
};

channel::channel(const session& s) : state_(std::make_unique<state>(s)) {}
channel::~channel() = default;

void channel::send(int to, int tag, std::string bytes) {
  ++state_->sent[static_cast<std::size_t>(to)];
  if (state_->ranks == MPI_COMM_NULL) return state_->own.push_back({to, tag, std::move(bytes)});
  state::letter& l = state_->letters.emplace_back();
  l.bytes = std::move(bytes);
  MPI_Isend(l.bytes.data(), static_cast<int>(l.bytes.size()), MPI_BYTE, to, tag, state_->ranks, &l.request);
}

bool channel::deliver() {
  state_->letters.remove_if([](state::letter& l) {
    int done = 0;
    MPI_Test(&l.request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
  return state_->letters.empty();
}

std::optional<channel::message> channel::receive() {
  if (state_->ranks == MPI_COMM_NULL) {
    if (state_->own.empty()) return std::nullopt;
    message m = std::move(state_->own.front());
    state_->own.pop_front();
    ++state_->received;
    return m;
  }
  int arrived = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, state_->ranks, &arrived, &status);
  if (arrived == 0) return std::nullopt;
  int length = 0;
  MPI_Get_count(&status, MPI_BYTE, &length);
  message m{status.MPI_SOURCE, status.MPI_TAG, std::string(static_cast<std::size_t>(length), '\0')};
  MPI_Recv(m.bytes.data(), length, MPI_BYTE, m.from, m.tag, state_->ranks, MPI_STATUS_IGNORE);
  ++state_->received;
  return m;
}

void channel::close() {
  // Open MPI hands a message for a communicator that was freed to the next one of the same number: none may be left.
  const std::vector<std::uint64_t> expected = state_->s.exchange_counts(state_->sent);
  const auto all = std::accumulate(expected.begin(), expected.end(), std::uint64_t{0});
  while (!deliver() || state_->received < all) (void)receive();
  if (state_->ranks != MPI_COMM_NULL) MPI_Comm_free(&state_->ranks);
}

}  // namespace voxherd
