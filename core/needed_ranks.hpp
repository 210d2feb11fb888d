#pragma once

namespace voxherd {

/// Which ranks of a job a command needs.
enum class needed_ranks {
  all,        ///< they compute together
  connected,  ///< those that MPI connects, even if the launcher started more
  first,      ///< rank 0 runs it without MPI; the other ranks end at once
};

}  // namespace voxherd
