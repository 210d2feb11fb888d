# What `cmake --install` puts where; --prefix and DESTDIR work as for any CMake project.
include(GNUInstallDirs)
set(share ${CMAKE_INSTALL_DATADIR}/voxherd)

install(TARGETS voxherd)
if(NOT MPI_C_LIBRARIES MATCHES "^/usr/lib")
  # On clusters MPI and HDF5 lie where the loader does not look; the distribution's do not.
  set_target_properties(voxherd PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endif()

install(DIRECTORY configs DESTINATION ${share})
# As they lie in the tree, so that their links to one another hold.
install(FILES README.md CHANGELOG.md ARCHITECTURE.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Debian's place and form for the licence.
install(FILES cmake/packaging/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Batch scripts and the modulefile name the folders they are installed in, which are known when they are installed.
configure_file(cmake/packaging/with_prefix.cmake.in ${PROJECT_BINARY_DIR}/with_prefix.cmake @ONLY)
install(SCRIPT ${PROJECT_BINARY_DIR}/with_prefix.cmake)
