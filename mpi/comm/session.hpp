#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/failure.hpp"
#include "core/needed_ranks.hpp"
#include "mpi/comm/value_bytes.hpp"

namespace voxherd {

enum class reduction { sum, min, max };

struct communicators;

/// The ranks of a run: MPI from Init_thread(FUNNELED) to Finalize, or one rank without MPI if there is no launcher, if
/// the launcher started only this process, or if only the first rank is needed. Only the thread that made it may call
/// it.
class session {
 public:
  /// Throws failure (interrupted) if MPI cannot start, (usage) if all ranks are needed and MPI connects fewer.
  session(int* argc, char*** argv, needed_ranks needed = needed_ranks::all);
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }
  int node_rank() const { return node_rank_; }  ///< rank among those of the same node
  int node_size() const { return node_size_; }
  const std::string& host() const { return host_; }
  /// Number of processes that the launcher started: more than size() if MPI does not connect them. 0 if it is not
  /// known.
  long launched() const { return launched_; }

  /// Notes that a stage of the command ended now, for the account of where its time went.
  void note_stage(const std::string& name) const;
  struct stage {
    std::string name;
    double ended;  ///< seconds since this process was started
  };
  const std::vector<stage>& stages() const { return stages_; }

  /// Runs `work` on rank 0. If it throws, every rank throws the same failure.
  void on_root(const std::function<void()>& work) const;

  /// Runs `work` on every rank. If any throws, every rank throws the failure of the lowest such rank,
  /// with rank and host named when not all ranks failed.
  void agree(const std::function<void()>& work) const;

  /// Ends all ranks at once, without waiting for any of them.
  [[noreturn]] void end_all_ranks(exit_status status) const;

  struct common_ending {
    exit_status status;  ///< the largest of all ranks
    bool reports;        ///< this rank prints its message: it is the lowest that failed
  };
  /// The end of a program, or of work after which no rank may continue alone. A rank that has `failed` waits so many
  /// seconds for the other ranks, which may be waiting for it; then it calls `before_end` and ends all ranks.
  common_ending agree_on_ending(exit_status own, bool failed, double wait_seconds,
                                const std::function<void()>& before_end) const;

  /// Runs work after whose failure ranks may wait for ever for others, as in a library's collective calls: if it throws
  /// on any rank, that rank calls `before_end`, one message is printed and all ranks end within seconds. A single rank
  /// throws.
  void agree_or_end(const std::function<void()>& work, const std::function<void()>& before_end = {}) const;

  void barrier() const;

  /// Rank 0's value for every rank: anything that mpi/comm/value_bytes.hpp can turn into bytes.
  template <class T>
  void broadcast(T& value) const;
  /// What `read` returns, called only on rank 0, for every rank. If it throws, every rank throws the same failure.
  template <class Read>
  std::invoke_result_t<const Read&> from_root(const Read& read) const;
  void broadcast_to_node(std::string& text) const;  ///< from the node's rank 0 to its other ranks

  /// Combines each value over all ranks, in place. T: int, std::uint8_t or std::uint64_t. Collective.
  template <class T>
  void all_reduce(reduction how, std::span<T> values) const;
  template <class T>
  T all_reduce(reduction how, T value) const;

  std::vector<std::string> gather(const std::string& text) const;  ///< one entry per rank, on rank 0

  /// All ranks' values in rank order, on every rank or only on rank 0. Any number of values per rank, also more than
  /// 2 GB. Collective.
  template <class T>
  std::vector<T> all_gather(const std::vector<T>& own) const;
  template <class T>
  std::vector<T> gather_to_root(const std::vector<T>& own) const;
  /// One value of each rank of this node, in rank order. Collective within the node.
  template <class T>
  std::vector<T> node_all_gather(const T& own) const;

  /// Each rank sends own[r] to rank r, and receives what the others sent to it, in rank order. Collective.
  template <class T>
  std::vector<T> exchange(const std::vector<std::vector<T>>& own) const;

  /// The same for bytes: every rank has `own_bytes`; rank r's are stored in `all` after those of the ranks before it.
  /// `all` on ranks other than 0 is used only for target::every_rank. No message is larger than `piece`.
  enum class target { every_rank, root };
  static constexpr std::size_t max_piece = std::size_t{1} << 30;
  std::vector<std::uint64_t> gather_counts(std::uint64_t own) const;  ///< one entry per rank, on every rank
  void gather_bytes(const void* own, const std::vector<std::uint64_t>& bytes, void* all, target to,
                    std::size_t piece = max_piece) const;
  /// own[r] is sent to rank r; what rank r sent is stored in `all` after what the ranks before it sent. `all_bytes`:
  /// from each rank, as exchange_counts() returns for the own counts.
  std::vector<std::uint64_t> exchange_counts(const std::vector<std::uint64_t>& own) const;
  void exchange_bytes(const std::vector<const void*>& own, const std::vector<std::uint64_t>& own_bytes, void* all,
                      const std::vector<std::uint64_t>& all_bytes, std::size_t piece = max_piece) const;

  const communicators& handles() const { return *handles_; }  ///< MPI's; mpi/comm/communicators.hpp

 private:
  template <class T>
  std::vector<T> gathered(const std::vector<T>& own, target to) const;
  void broadcast_text(std::string& text) const;
  void broadcast_bytes(void* data, std::size_t bytes) const;  ///< any size, in pieces that MPI can count
  void node_gather_bytes(const void* own, std::size_t bytes, void* all) const;
  void finish();  ///< ends MPI

  std::unique_ptr<communicators> handles_;
  int rank_ = 0, size_ = 1, node_rank_ = 0, node_size_ = 1;
  long launched_ = 0;
  std::string host_;
  double started_ = 0;  ///< start of the process, on steady_clock
  mutable std::vector<stage> stages_;
};

template <class T>
void session::broadcast(T& value) const {
  if (size_ == 1) return;
  if (is_root()) {
    value_writer bytes;
    put_value(bytes, value);
    broadcast_text(bytes.small());
    for (const std::span<std::byte> array : bytes.large()) broadcast_bytes(array.data(), array.size());
  } else {
    std::string small;
    broadcast_text(small);
    value_reader bytes(std::move(small));
    put_value(bytes, value);
    for (const std::span<std::byte> array : bytes.large()) broadcast_bytes(array.data(), array.size());
  }
}

template <class Read>
std::invoke_result_t<const Read&> session::from_root(const Read& read) const {
  std::invoke_result_t<const Read&> value{};
  on_root([&] { value = read(); });
  broadcast(value);
  return value;
}

template <class T>
T session::all_reduce(reduction how, T value) const {
  all_reduce(how, std::span<T>(&value, 1));
  return value;
}

template <class T>
std::vector<T> session::gathered(const std::vector<T>& own, target to) const {
  static_assert(std::is_trivially_copyable_v<T>, "only the bytes of the values are sent");
  const std::vector<std::uint64_t> bytes = gather_counts(own.size() * sizeof(T));
  const bool receives = to == target::every_rank || is_root();
  std::vector<T> all(receives ? std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}) / sizeof(T) : 0);
  gather_bytes(own.data(), bytes, all.data(), to);
  return all;
}

template <class T>
std::vector<T> session::all_gather(const std::vector<T>& own) const {
  return gathered(own, target::every_rank);
}

template <class T>
std::vector<T> session::gather_to_root(const std::vector<T>& own) const {
  return gathered(own, target::root);
}

template <class T>
std::vector<T> session::node_all_gather(const T& own) const {
  static_assert(std::is_trivially_copyable_v<T>, "only the bytes of the value are sent");
  std::vector<T> all(static_cast<std::size_t>(node_size_));
  node_gather_bytes(&own, sizeof own, all.data());
  return all;
}

template <class T>
std::vector<T> session::exchange(const std::vector<std::vector<T>>& own) const {
  static_assert(std::is_trivially_copyable_v<T>, "only the bytes of the values are sent");
  std::vector<const void*> data;
  std::vector<std::uint64_t> bytes;
  for (const std::vector<T>& part : own) {
    data.push_back(part.data());
    bytes.push_back(part.size() * sizeof(T));
  }
  const std::vector<std::uint64_t> theirs = exchange_counts(bytes);
  std::vector<T> all(std::accumulate(theirs.begin(), theirs.end(), std::uint64_t{0}) / sizeof(T));
  exchange_bytes(data, bytes, all.data(), theirs);
  return all;
}

std::string mpi_library();  ///< name and version, as "Open MPI v4.1.4"

}  // namespace voxherd
