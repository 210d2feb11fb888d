#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mpi/comm/session.hpp"

namespace voxherd {

/// Messages from rank to rank on a communicator of its own: no message of one channel is ever received by another. Only
/// close() waits.
class channel {
 public:
  explicit channel(const session& s);  ///< collective
  ~channel();
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  void send(int to, int tag, std::string bytes);
  /// Forgets delivered messages; true when all own messages have been delivered.
  bool deliver();

  struct message {
    int from = 0, tag = 0;
    std::string bytes;
  };
  std::optional<message> receive();  ///< the next message that has arrived

  /// Receives and drops what is still on its way. Afterwards the channel cannot be used. Collective; a channel that is
  /// not closed, because of a failure, keeps its communicator until the program ends.
  void close();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace voxherd
