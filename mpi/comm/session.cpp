#include "mpi/comm/session.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "core/clock.hpp"
#include "core/current_failure.hpp"
#include "core/error_output.hpp"
#include "core/removed_at_end.hpp"
#include "core/text.hpp"
#include "core/unexpected_exit.hpp"
#include "mpi/comm/communicators.hpp"
#include "mpi/comm/launcher.hpp"
#include "mpi/comm/mpi_start.hpp"

namespace voxherd {

namespace {

constexpr int tag_gather = 1, tag_exchange = 2;

struct outcome {
  int status = 0;  ///< 0 for success, else an exit_status
  std::string message;
};

outcome attempt(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (...) {
    const failure f = current_failure();
    return {static_cast<int>(f.status), f.what()};
  }
}

MPI_Datatype mpi_type(int) { return MPI_INT; }
MPI_Datatype mpi_type(std::uint8_t) { return MPI_UINT8_T; }
MPI_Datatype mpi_type(std::uint64_t) { return MPI_UINT64_T; }

MPI_Op operation(reduction how) { return how == reduction::sum ? MPI_SUM : how == reduction::min ? MPI_MIN : MPI_MAX; }

/// Start of this process on steady_clock: the time before main (loading libraries) counts too. The kernel reports it in
/// ticks (usually 10 ms) since it booted; where it does not, the current time.
double process_start() {
  std::ifstream file("/proc/self/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  // The second field is the program's name, which may contain blanks; starttime is the 22nd (proc(5)).
  std::istringstream rest(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  std::string field;
  for (int i = 3; i <= 22; ++i) rest >> field;
  timespec since_boot{};
  if (!rest || clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) return steady_seconds();
  const double now = static_cast<double>(since_boot.tv_sec) + 1e-9 * static_cast<double>(since_boot.tv_nsec);
  const double age = now - std::strtod(field.c_str(), nullptr) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return steady_seconds() - std::max(0.0, age);
}

/// A file must not get the number of a closed standard stream: messages would be written into it.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0) (void)open("/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY);
  }
}

}  // namespace

session::session(int* argc, char*** argv, needed_ranks needed)
    : handles_(std::make_unique<communicators>()), started_(process_start()) {
  open_standard_streams();
  // A write beyond `ulimit -f` then fails with EFBIG, which is reported, instead of killing the process.
  std::signal(SIGXFSZ, SIG_IGN);
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, HOST_NAME_MAX);
  host_ = name;
  // Alone, this process is the only rank: MPI would open ports for other machines, and start a program that needs PATH.
  if (needed == needed_ranks::first || !is_one_of_ranks(environment_variable)) return;
  claim_mpi_start(environment_variable);
  // MPI changes what the environment says.
  launched_ = launched_processes(environment_variable);
  const bool speaks = launched_rank(environment_variable) == 0;
  {
    const start_guard guard;
    int provided = 0;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &handles_->world);
  MPI_Comm_rank(handles_->world, &rank_);
  MPI_Comm_size(handles_->world, &size_);
  // SLURM_LOCALID is 0 for every rank under mpirun; only MPI itself knows who shares a node.
  MPI_Comm_split_type(handles_->world, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &handles_->node);
  MPI_Comm_rank(handles_->node, &node_rank_);
  MPI_Comm_size(handles_->node, &node_size_);
  note_stage("MPI started");
  if (needed != needed_ranks::all || launched_ <= size_) return;
  finish();
  refuse_usage(speaks ? unconnected_text(launched_) : "");
}

void session::note_stage(const std::string& name) const { stages_.push_back({name, steady_seconds() - started_}); }

session::~session() {
  if (handles_->world == MPI_COMM_NULL) return;
  // A rank that leaves by an exception must not wait for others that may never arrive.
  if (std::uncaught_exceptions() > 0) end_all_ranks(exit_status::internal_error);
  finish();
}

void session::finish() {
  MPI_Comm_free(&handles_->node);
  MPI_Comm_free(&handles_->world);
  MPI_Finalize();
}

void session::end_all_ranks(exit_status status) const {
  if (handles_->world == MPI_COMM_NULL) end_process(status);
  unexpected_exit::allow_all();
  removed_at_end::remove_all();
  MPI_Abort(handles_->world, static_cast<int>(status));
  std::abort();  // not reached
}

session::common_ending session::agree_on_ending(exit_status own, bool failed, double wait_seconds,
                                                const std::function<void()>& before_end) const {
  if (size_ == 1) return {own, failed};
  std::array<int, 2> mine{-static_cast<int>(own), failed ? rank_ : INT_MAX}, all{};
  MPI_Request request;
  // Not on `world`, where another rank may be in the middle of a different collective call.
  MPI_Iallreduce(mine.data(), all.data(), 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
  const double start = steady_seconds();
  for (int done = 0; done == 0; usleep(500)) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0 && failed && steady_seconds() - start > wait_seconds) {
      before_end();
      end_all_ranks(own);
    }
  }
  return {static_cast<exit_status>(-all[0]), all[1] == rank_};
}

void session::agree_or_end(const std::function<void()>& work, const std::function<void()>& before_end) const {
  constexpr double wait_seconds = 5;
  std::optional<failure> own;
  try {
    work();
  } catch (...) {
    own = current_failure();
  }
  if (own && size_ == 1) throw failure(*own);
  const auto print = [&] {
    if (before_end) before_end();
    print_error(fmt::format("{} (on rank {} of {}, host {})", own->what(), rank_, size_, host_));
  };
  const common_ending all =
      agree_on_ending(own ? own->status : exit_status::complete, own.has_value(), wait_seconds, print);
  if (all.status == exit_status::complete) return;
  if (all.reports) {
    print();
    usleep(50000);  // in which the others remove their files
    end_all_ranks(all.status);
  }
  removed_at_end::remove_all();
  while (true) pause();  // the rank that reports ends this one
}

void session::barrier() const {
  if (size_ > 1) MPI_Barrier(handles_->world);
}

void session::broadcast_bytes(void* data, std::size_t bytes) const {
  if (size_ == 1) return;
  constexpr std::size_t piece = std::size_t{1} << 30;
  for (std::size_t at = 0; at < bytes; at += piece) {
    MPI_Bcast(static_cast<char*>(data) + at, static_cast<int>(std::min(piece, bytes - at)), MPI_BYTE, 0,
              handles_->world);
  }
}

void session::broadcast_text(std::string& text) const {
  std::uint64_t length = text.size();
  broadcast_bytes(&length, sizeof length);
  text.resize(length);
  broadcast_bytes(text.data(), length);
}

void session::broadcast_to_node(std::string& text) const {
  if (node_size_ == 1) return;
  std::uint64_t length = text.size();
  MPI_Bcast(&length, 1, MPI_UINT64_T, 0, handles_->node);
  text.resize(length);
  MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, handles_->node);
}

template <class T>
void session::all_reduce(reduction how, std::span<T> values) const {
  if (size_ == 1) return;
  constexpr std::size_t piece = std::size_t{1} << 27;
  for (std::size_t at = 0; at < values.size(); at += piece) {
    const auto part = values.subspan(at, std::min(piece, values.size() - at));
    MPI_Allreduce(MPI_IN_PLACE, part.data(), static_cast<int>(part.size()), mpi_type(T()), operation(how),
                  handles_->world);
  }
}
template void session::all_reduce(reduction, std::span<int>) const;
template void session::all_reduce(reduction, std::span<std::uint8_t>) const;
template void session::all_reduce(reduction, std::span<std::uint64_t>) const;

void session::on_root(const std::function<void()>& work) const {
  outcome o;
  if (is_root()) o = attempt(work);
  broadcast(o.status);
  if (o.status == 0) return;
  broadcast(o.message);
  throw failure(static_cast<exit_status>(o.status), o.message);
}

void session::agree(const std::function<void()>& work) const {
  outcome o = attempt(work);
  if (size_ == 1 && o.status != 0) throw failure(static_cast<exit_status>(o.status), o.message);
  if (size_ == 1) return;
  int first = o.status == 0 ? INT_MAX : rank_;
  int failed = o.status == 0 ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, handles_->world);
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, handles_->world);
  if (failed == 0) return;
  if (failed < size_) o.message = fmt::format("{} (on rank {} of {}, host {})", o.message, first, size_, host_);
  std::uint64_t length = o.message.size();
  MPI_Bcast(&o.status, 1, MPI_INT, first, handles_->world);
  MPI_Bcast(&length, 1, MPI_UINT64_T, first, handles_->world);
  o.message.resize(length);
  MPI_Bcast(o.message.data(), static_cast<int>(length), MPI_CHAR, first, handles_->world);
  throw failure(static_cast<exit_status>(o.status), o.message);
}

std::vector<std::uint64_t> session::gather_counts(std::uint64_t own) const {
  if (size_ == 1) return {own};
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(size_));
  MPI_Allgather(&own, 1, MPI_UINT64_T, counts.data(), 1, MPI_UINT64_T, handles_->world);
  return counts;
}

void session::node_gather_bytes(const void* own, std::size_t bytes, void* all) const {
  const int count = static_cast<int>(bytes);
  if (node_size_ == 1) std::memcpy(all, own, bytes);
  if (node_size_ == 1) return;
  MPI_Allgather(own, count, MPI_BYTE, all, count, MPI_BYTE, handles_->node);
}

void session::gather_bytes(const void* own, const std::vector<std::uint64_t>& bytes, void* all, target to,
                           std::size_t piece) const {
  // Rank by rank: the time is that of the sum of the bytes, which each receiver has to take in any case.
  auto* place = static_cast<char*>(all);
  for (int r = 0; r < size_; ++r) {
    const std::uint64_t length = bytes[static_cast<std::size_t>(r)];
    if (r == rank_ && length > 0 && place != nullptr) std::memcpy(place, own, length);
    if (size_ == 1) return;
    for (std::uint64_t at = 0; at < length; at += piece) {
      const int count = static_cast<int>(std::min<std::uint64_t>(piece, length - at));
      if (to == target::every_rank) {
        MPI_Bcast(place + at, count, MPI_BYTE, r, handles_->world);
      } else if (r > 0 && is_root()) {
        MPI_Recv(place + at, count, MPI_BYTE, r, tag_gather, handles_->world, MPI_STATUS_IGNORE);
      } else if (r > 0 && r == rank_) {
        MPI_Send(static_cast<const char*>(own) + at, count, MPI_BYTE, 0, tag_gather, handles_->world);
      }
    }
    if (to == target::every_rank || is_root()) place += length;
  }
}

std::vector<std::uint64_t> session::exchange_counts(const std::vector<std::uint64_t>& own) const {
  if (size_ == 1) return own;
  std::vector<std::uint64_t> theirs(own.size());
  MPI_Alltoall(own.data(), 1, MPI_UINT64_T, theirs.data(), 1, MPI_UINT64_T, handles_->world);
  return theirs;
}

void session::exchange_bytes(const std::vector<const void*>& own, const std::vector<std::uint64_t>& own_bytes,
                             void* all, const std::vector<std::uint64_t>& all_bytes, std::size_t piece) const {
  std::vector<MPI_Request> requests;
  const auto in_pieces = [&](std::uint64_t length, const auto& begin) {
    for (std::uint64_t at = 0; at < length; at += piece) {
      requests.emplace_back();
      begin(at, static_cast<int>(std::min<std::uint64_t>(piece, length - at)), &requests.back());
    }
  };
  auto* place = static_cast<char*>(all);
  for (int r = 0; r < size_; ++r) {
    const auto from = static_cast<std::size_t>(r);
    if (r == rank_) {
      if (all_bytes[from] > 0) std::memcpy(place, own[from], all_bytes[from]);
    } else {
      in_pieces(all_bytes[from], [&](std::uint64_t at, int count, MPI_Request* request) {
        MPI_Irecv(place + at, count, MPI_BYTE, r, tag_exchange, handles_->world, request);
      });
    }
    place += all_bytes[from];
  }
  // Each rank starts with another one, so that not all send to the same rank at once.
  for (int step = 1; step < size_; ++step) {
    const auto to = static_cast<std::size_t>((rank_ + step) % size_);
    in_pieces(own_bytes[to], [&](std::uint64_t at, int count, MPI_Request* request) {
      MPI_Isend(static_cast<const char*>(own[to]) + at, count, MPI_BYTE, static_cast<int>(to), tag_exchange,
                handles_->world, request);
    });
  }
  if (!requests.empty()) MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

std::vector<std::string> session::gather(const std::string& text) const {
  if (size_ == 1) return {text};
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<std::size_t>(size_)), starts(static_cast<std::size_t>(size_));
  MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, handles_->world);
  int total = 0;
  for (int r = 0; r < size_; ++r) {
    starts[static_cast<std::size_t>(r)] = total;
    total += lengths[static_cast<std::size_t>(r)];
  }
  std::string all(is_root() ? static_cast<std::size_t>(total) : 0, '\0');
  MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR, 0, handles_->world);
  std::vector<std::string> texts;
  for (int r = 0; is_root() && r < size_; ++r) {
    const auto i = static_cast<std::size_t>(r);
    texts.push_back(all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
  }
  return texts;
}

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all(text, static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));
}

}  // namespace voxherd
