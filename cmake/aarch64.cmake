# For aarch64 on another machine: Debian's cross compiler, and a folder that contains the arm64 packages of the libraries, which
# `script/check aarch64` makes. -DVOXHERD_SYSROOT=FOLDER is required.
if(NOT IS_DIRECTORY "${VOXHERD_SYSROOT}")
  message(FATAL_ERROR "VOXHERD_SYSROOT=\"${VOXHERD_SYSROOT}\" is not a folder; script/check aarch64 makes one")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES VOXHERD_SYSROOT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_SYSROOT ${VOXHERD_SYSROOT})
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Runs programs and tests.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${VOXHERD_SYSROOT})

# CMake would ask the compiler wrappers, which know only the libraries of the machine that builds.
set(ENV{PKG_CONFIG_LIBDIR} ${VOXHERD_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(MPI_SKIP_COMPILER_WRAPPER ON)
set(MPI_C_LIB_NAMES mpi)
set(MPI_C_HEADER_DIR ${VOXHERD_SYSROOT}/usr/lib/aarch64-linux-gnu/openmpi/include)
set(MPI_mpi_LIBRARY ${VOXHERD_SYSROOT}/usr/lib/aarch64-linux-gnu/openmpi/lib/libmpi.so)
set(HDF5_C_COMPILER_EXECUTABLE false)
set(HDF5_C_INCLUDE_DIR ${VOXHERD_SYSROOT}/usr/include/hdf5/openmpi)
set(CMAKE_INCLUDE_PATH /usr/include/hdf5/openmpi)
set(CMAKE_LIBRARY_PATH /usr/lib/aarch64-linux-gnu/hdf5/openmpi)
