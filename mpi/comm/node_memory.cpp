#include "mpi/comm/node_memory.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "core/failure.hpp"
#include "core/text.hpp"

namespace voxherd {

namespace {

[[noreturn]] void refuse(const std::string& purpose, std::size_t bytes, int code, const char* what_to_do) {
  fail_on_disk("{}: cannot allocate {} of shared memory: {}; {}", purpose, readable_bytes(static_cast<double>(bytes)),
               std::strerror(code), what_to_do);
}

/// A name that no other run on the node uses, the same on all ranks of the node.
std::string shared_name(const session& s) {
  static std::atomic<unsigned> made{0};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  std::string name = fmt::format("/voxherd.{}.{}.{}", ::getpid(), made++, now);
  s.broadcast_to_node(name);
  return name;
}

std::byte* map(int descriptor, std::size_t bytes, int flags, const std::string& purpose) {
  void* start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
  if (start == MAP_FAILED) refuse(purpose, bytes, errno, "use more nodes or a smaller mask");
  return static_cast<std::byte*>(start);
}

int create_shared(const std::string& name, std::size_t bytes, const std::string& purpose) {
  const int descriptor = ::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (descriptor < 0) refuse(purpose, bytes, errno, "is /dev/shm writable?");
  // Asking for the pages now turns a later SIGBUS into a message.
  const int code = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  if (code != 0) {
    ::close(descriptor);
    ::shm_unlink(name.c_str());
    refuse(purpose, bytes, code, "enlarge /dev/shm, give uncompressed images, or run one rank per node");
  }
  return descriptor;
}

}  // namespace

node_memory::node_memory(const session& s, std::size_t bytes, const std::string& purpose) : size_(bytes) {
  // Nodes differ in their number of ranks, so both cases take part in the same collectives.
  const bool only_rank = s.node_size() == 1;
  const std::string name = only_rank ? std::string() : shared_name(s);
  int descriptor = -1;
  try {
    s.agree([&] {
      if (bytes == 0) return;
      if (only_rank) {
        start_ = map(-1, bytes, MAP_PRIVATE | MAP_ANONYMOUS, purpose);
        (void)::madvise(start_, bytes, MADV_HUGEPAGE);  // 512 times fewer page faults
      }
      if (!only_rank && s.node_rank() == 0) descriptor = create_shared(name, bytes, purpose);
    });
    s.agree([&] {
      if (bytes == 0 || only_rank) return;
      if (descriptor < 0) descriptor = ::shm_open(name.c_str(), O_RDWR, 0600);
      if (descriptor < 0) refuse(purpose, bytes, errno, "do the ranks of this node share /dev/shm?");
      start_ = map(descriptor, bytes, MAP_SHARED, purpose);
    });
  } catch (...) {
    if (!only_rank && s.node_rank() == 0) ::shm_unlink(name.c_str());
    if (descriptor >= 0) ::close(descriptor);
    throw;
  }
  // Every rank of the node has it open: without its name it is freed with the last of them, however they end.
  if (!only_rank && s.node_rank() == 0) ::shm_unlink(name.c_str());
  if (descriptor >= 0) ::close(descriptor);
}

node_memory::~node_memory() {
  if (start_ != nullptr) ::munmap(start_, size_);
}

node_memory::node_memory(node_memory&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)), size_(std::exchange(other.size_, 0)) {}

}  // namespace voxherd
