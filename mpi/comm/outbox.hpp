#pragma once

#include <mpi.h>

#include <list>
#include <string>

namespace voxherd {

/// Messages on their way out. The sender never waits for the receiver.
class outbox {
 public:
  explicit outbox(MPI_Comm world) : world_(world) {}
  outbox(const outbox&) = delete;
  outbox& operator=(const outbox&) = delete;

  void send(int to, int tag, std::string bytes) {
    letter& l = letters_.emplace_back();
    l.bytes = std::move(bytes);
    MPI_Isend(l.bytes.data(), static_cast<int>(l.bytes.size()), MPI_BYTE, to, tag, world_, &l.request);
  }

  /// Forgets what has been delivered; true when nothing is left.
  bool deliver() {
    letters_.remove_if([](letter& l) {
      int done = 0;
      MPI_Test(&l.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
    return letters_.empty();
  }

 private:
  struct letter {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  MPI_Comm world_;
  std::list<letter> letters_;
};

}  // namespace voxherd
