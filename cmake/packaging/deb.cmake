# Debian package: `cmake --build --preset release --target package`, or `cpack` in any build folder.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME voxherd)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
# The contact of all packages. This address does not exist: the owner sets a real one here.
set(CPACK_PACKAGE_CONTACT "voxherd maintainers <maintainers@voxherd.invalid>" CACHE STRING "maintainer of the .deb")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# CPack installs the files with DESTDIR, so files that contain the prefix refer to /usr, not to the packing folder.
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# Library dependencies are determined from the linked libraries, so they match the build machine's distribution.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# mpirun of the linked MPI. Under SLURM srun is sufficient.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS openmpi-bin)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS slurm-client)

if(VOXHERD_CPU_ARCH STREQUAL "native")
  set(needs "CPU kernels: only for the type of processor that this package was built on (VOXHERD_CPU_ARCH=native).")
else()
  list(JOIN VOXHERD_CPU_ARCH " and " levels)
  set(needs "CPU kernels: for ${levels}; older processors cannot run them.")
endif()
if(VOXHERD_HAS_CUDA)
  list(JOIN CMAKE_CUDA_ARCHITECTURES ", " gpus)
  string(APPEND needs "\nGPU kernels: for ${gpus} (compute capability times ten; without -real also for newer ones). "
    "They need a driver for CUDA ${CUDAToolkit_VERSION_MAJOR} or newer; without it CPU cores are used.")
  string(APPEND CPACK_DEBIAN_PACKAGE_SUGGESTS ", libcuda1")
else()
  string(APPEND needs "\nGPU kernels: none, this package was built without CUDA.")
endif()
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Fibre orientations with uncertainty, tensors, geodesics and connectomes from diffusion MRI, and liver perfusion,\
 on all cores or GPUs of one machine or, with MPI and SLURM, of many.
${needs}")
include(CPack)
