#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

namespace voxherd {

/// MPI from Init_thread(FUNNELED) to Finalize. Only the thread that made it may call it.
class session {
 public:
  session(int* argc, char*** argv);
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }
  int node_rank() const { return node_rank_; }  ///< rank among those of the same node
  int node_size() const { return node_size_; }
  MPI_Comm world() const { return world_; }
  MPI_Comm node() const { return node_; }
  const std::string& host() const { return host_; }

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

  void barrier() const;
  void broadcast(std::string& text) const;
  template <class T>
  void broadcast(std::vector<T>& values) const;                    ///< trivially copyable T, resized on the other ranks
  void broadcast_bytes(void* data, std::size_t bytes) const;       ///< any size, in pieces MPI can count
  std::vector<std::string> gather(const std::string& text) const;  ///< one entry a rank, on rank 0

  /// All ranks' values in the order of ranks, on every rank or on rank 0 alone. Trivially copyable T, any number of
  /// values a rank, more than 2 GB too. Collective.
  template <class T>
  std::vector<T> all_gather(const std::vector<T>& own) const;
  template <class T>
  std::vector<T> gather_to_root(const std::vector<T>& own) const;

  /// Each rank sends own[r] to rank r, and gets what the others sent to it, in the order of ranks. Collective.
  template <class T>
  std::vector<T> exchange(const std::vector<std::vector<T>>& own) const;

  /// The same for bytes: every rank has `own_bytes`, rank r's land in `all` after those of the ranks before it.
  /// `all` on ranks other than 0 is used for target::every_rank alone. No message is larger than `piece`.
  enum class target { every_rank, root };
  static constexpr std::size_t largest_piece = std::size_t{1} << 30;
  std::vector<std::uint64_t> counts_of(std::uint64_t own) const;  ///< one entry a rank, on every rank
  void gather_bytes(const void* own, const std::vector<std::uint64_t>& bytes, void* all, target to,
                    std::size_t piece = largest_piece) const;
  /// own[r] is sent to rank r; what rank r sent lands in `all` after what the ranks before it did. `all_bytes`: of each
  /// rank, as exchange_counts() tells from the own counts.
  std::vector<std::uint64_t> exchange_counts(const std::vector<std::uint64_t>& own) const;
  void exchange_bytes(const std::vector<const void*>& own, const std::vector<std::uint64_t>& own_bytes, void* all,
                      const std::vector<std::uint64_t>& all_bytes, std::size_t piece = largest_piece) const;

 private:
  template <class T>
  std::vector<T> gathered(const std::vector<T>& own, target to) const;

  MPI_Comm world_ = MPI_COMM_NULL;
  MPI_Comm node_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, node_rank_ = 0, node_size_ = 1;
  std::string host_;
  double started_ = 0;  ///< of the process, on steady_clock
  mutable std::vector<stage> stages_;
};

template <class T>
std::vector<T> session::gathered(const std::vector<T>& own, target to) const {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::vector<std::uint64_t> bytes = counts_of(own.size() * sizeof(T));
  const bool gets = to == target::every_rank || is_root();
  std::vector<T> all(gets ? std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}) / sizeof(T) : 0);
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
std::vector<T> session::exchange(const std::vector<std::vector<T>>& own) const {
  static_assert(std::is_trivially_copyable_v<T>);
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

template <class T>
void session::broadcast(std::vector<T>& values) const {
  unsigned long long count = values.size();
  broadcast_bytes(&count, sizeof count);
  values.resize(count);
  broadcast_bytes(values.data(), count * sizeof(T));
}

std::string mpi_library();  ///< name and version, as "Open MPI v4.1.4"

}  // namespace voxherd
