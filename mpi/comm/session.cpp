#include "mpi/comm/session.hpp"

#include <fmt/core.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/clock.hpp"
#include "core/failure.hpp"

namespace voxherd {

namespace {

constexpr int tag_gather = 3, tag_exchange = 4;  // batch_queue has 1 and 2

struct outcome {
  int status = 0;  ///< 0 for success, else an exit_status
  std::string message;
};

outcome attempt(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const failure& f) {
    return {static_cast<int>(f.status), f.what()};
  } catch (const std::exception& e) {
    return {static_cast<int>(exit_status::ours), e.what()};
  }
}

/// When this process was started, on steady_clock: what comes before main (loading libraries) counts too. The kernel
/// says it in ticks since it booted, 10 ms as a rule; now, where it does not.
double process_start() {
  std::ifstream file("/proc/self/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  // The second field is the program's name, which may hold blanks; starttime is the 22nd (proc(5)).
  std::istringstream rest(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  std::string field;
  for (int i = 3; i <= 22; ++i) rest >> field;
  timespec since_boot{};
  if (!rest || clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) return steady_seconds();
  const double now = static_cast<double>(since_boot.tv_sec) + 1e-9 * static_cast<double>(since_boot.tv_nsec);
  const double age = now - std::strtod(field.c_str(), nullptr) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return steady_seconds() - std::max(0.0, age);
}

}  // namespace

session::session(int* argc, char*** argv) : started_(process_start()) {
  int provided = 0;
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_dup(MPI_COMM_WORLD, &world_);
  MPI_Comm_rank(world_, &rank_);
  MPI_Comm_size(world_, &size_);
  // SLURM_LOCALID is 0 for every rank under mpirun; only MPI itself knows who shares a node.
  MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node_);
  MPI_Comm_rank(node_, &node_rank_);
  MPI_Comm_size(node_, &node_size_);
  char name[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  MPI_Get_processor_name(name, &length);
  host_.assign(name, static_cast<std::size_t>(length));
  note_stage("MPI started");
}

void session::note_stage(const std::string& name) const { stages_.push_back({name, steady_seconds() - started_}); }

session::~session() {
  // A rank that leaves by an exception must not wait for others that may never come.
  if (std::uncaught_exceptions() > 0) MPI_Abort(world_, static_cast<int>(exit_status::ours));
  MPI_Comm_free(&node_);
  MPI_Comm_free(&world_);
  MPI_Finalize();
}

void session::barrier() const { MPI_Barrier(world_); }

void session::broadcast_bytes(void* data, std::size_t bytes) const {
  constexpr std::size_t piece = std::size_t{1} << 30;
  for (std::size_t at = 0; at < bytes; at += piece) {
    MPI_Bcast(static_cast<char*>(data) + at, static_cast<int>(std::min(piece, bytes - at)), MPI_BYTE, 0, world_);
  }
}

void session::broadcast(std::string& text) const {
  std::vector<char> bytes(text.begin(), text.end());
  broadcast(bytes);
  text.assign(bytes.begin(), bytes.end());
}

void session::on_root(const std::function<void()>& work) const {
  outcome o;
  if (is_root()) o = attempt(work);
  broadcast_bytes(&o.status, sizeof o.status);
  if (o.status == 0) return;
  broadcast(o.message);
  throw failure(static_cast<exit_status>(o.status), o.message);
}

void session::agree(const std::function<void()>& work) const {
  outcome o = attempt(work);
  int first = o.status == 0 ? INT_MAX : rank_;
  int failed = o.status == 0 ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, world_);
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, world_);
  if (failed == 0) return;
  if (failed < size_) o.message = fmt::format("{} (on rank {} of {}, host {})", o.message, first, size_, host_);
  std::uint64_t length = o.message.size();
  MPI_Bcast(&o.status, 1, MPI_INT, first, world_);
  MPI_Bcast(&length, 1, MPI_UINT64_T, first, world_);
  o.message.resize(length);
  MPI_Bcast(o.message.data(), static_cast<int>(length), MPI_CHAR, first, world_);
  throw failure(static_cast<exit_status>(o.status), o.message);
}

std::vector<std::uint64_t> session::counts_of(std::uint64_t own) const {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(size_));
  MPI_Allgather(&own, 1, MPI_UINT64_T, counts.data(), 1, MPI_UINT64_T, world_);
  return counts;
}

void session::gather_bytes(const void* own, const std::vector<std::uint64_t>& bytes, void* all, target to,
                           std::size_t piece) const {
  // Rank by rank: what counts is the sum of the bytes, which each receiver has to take anyway.
  auto* place = static_cast<char*>(all);
  for (int r = 0; r < size_; ++r) {
    const std::uint64_t length = bytes[static_cast<std::size_t>(r)];
    if (r == rank_ && length > 0 && place != nullptr) std::memcpy(place, own, length);
    for (std::uint64_t at = 0; at < length; at += piece) {
      const int count = static_cast<int>(std::min<std::uint64_t>(piece, length - at));
      if (to == target::every_rank) {
        MPI_Bcast(place + at, count, MPI_BYTE, r, world_);
      } else if (r > 0 && is_root()) {
        MPI_Recv(place + at, count, MPI_BYTE, r, tag_gather, world_, MPI_STATUS_IGNORE);
      } else if (r > 0 && r == rank_) {
        MPI_Send(static_cast<const char*>(own) + at, count, MPI_BYTE, 0, tag_gather, world_);
      }
    }
    if (to == target::every_rank || is_root()) place += length;
  }
}

std::vector<std::uint64_t> session::exchange_counts(const std::vector<std::uint64_t>& own) const {
  std::vector<std::uint64_t> theirs(own.size());
  MPI_Alltoall(own.data(), 1, MPI_UINT64_T, theirs.data(), 1, MPI_UINT64_T, world_);
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
        MPI_Irecv(place + at, count, MPI_BYTE, r, tag_exchange, world_, request);
      });
    }
    place += all_bytes[from];
  }
  for (int step = 1; step < size_; ++step) {  // each rank begins with another, so that none is sent to by all at once
    const auto to = static_cast<std::size_t>((rank_ + step) % size_);
    in_pieces(own_bytes[to], [&](std::uint64_t at, int count, MPI_Request* request) {
      MPI_Isend(static_cast<const char*>(own[to]) + at, count, MPI_BYTE, static_cast<int>(to), tag_exchange, world_,
                request);
    });
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

std::vector<std::string> session::gather(const std::string& text) const {
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<std::size_t>(size_)), starts(static_cast<std::size_t>(size_));
  MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, world_);
  int total = 0;
  for (int r = 0; r < size_; ++r) {
    starts[static_cast<std::size_t>(r)] = total;
    total += lengths[static_cast<std::size_t>(r)];
  }
  std::string all(is_root() ? static_cast<std::size_t>(total) : 0, '\0');
  MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR, 0, world_);
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
