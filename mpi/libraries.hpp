#pragma once

#include <string>

namespace voxherd {

std::string mpi_library();   ///< name and version, as "Open MPI v4.1.4"
std::string hdf5_library();  ///< version, as "1.10.8"

}  // namespace voxherd
