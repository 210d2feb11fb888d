#pragma once

#include <mpi.h>

namespace voxherd {

/// Only for mpi/comm, and for mpi/result, which opens files with MPI-IO. Null handles if MPI has not started.
struct communicators {
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Comm node = MPI_COMM_NULL;  ///< the ranks that share memory with this one
};

}  // namespace voxherd
