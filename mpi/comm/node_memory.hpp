#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "mpi/comm/session.hpp"

namespace voxherd {

/// Memory shared by all ranks of a node: one copy however many ranks there are. Plain memory when a node has one rank;
/// no MPI window is involved, so it does not depend on the transport's one-sided support.
class node_memory {
 public:
  /// Collective over all ranks; every rank gives the same `bytes`. The memory is zero. Throws failure (disk, on all
  /// ranks) when a node has too little; `purpose` says in the message what it is for.
  node_memory(const session& s, std::size_t bytes, const std::string& purpose);
  ~node_memory();
  node_memory(node_memory&& other) noexcept;
  node_memory(const node_memory&) = delete;
  node_memory& operator=(const node_memory&) = delete;

  /// Only the node's rank 0 writes here, by convention; the others read after a barrier.
  std::span<std::byte> bytes() const { return {start_, size_}; }

 private:
  std::byte* start_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace voxherd
