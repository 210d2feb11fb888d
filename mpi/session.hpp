#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <string>
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

 private:
  MPI_Comm world_ = MPI_COMM_NULL;
  MPI_Comm node_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, node_rank_ = 0, node_size_ = 1;
  std::string host_;
};

template <class T>
void session::broadcast(std::vector<T>& values) const {
  unsigned long long count = values.size();
  broadcast_bytes(&count, sizeof count);
  values.resize(count);
  broadcast_bytes(values.data(), count * sizeof(T));
}

}  // namespace voxherd
