# Files that `cmake --install` installs; --prefix and DESTDIR work as usual.
include(GNUInstallDirs)
set(share ${CMAKE_INSTALL_DATADIR}/voxherd)

install(TARGETS voxherd)
if(NOT MPI_C_LIBRARIES MATCHES "^/usr/lib")
  # On clusters MPI and HDF5 are outside the loader's search path; the distribution's libraries are not.
  set_target_properties(voxherd PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endif()

install(DIRECTORY configs DESTINATION ${share})
# The same layout as in the source tree, so that links between the documents work.
install(FILES README.md CHANGELOG.md ARCHITECTURE.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Licence in the place and format that Debian requires.
install(FILES cmake/packaging/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Batch scripts and the modulefile contain their installation folders, which are known only during installation.
configure_file(cmake/packaging/with_prefix.cmake.in ${PROJECT_BINARY_DIR}/with_prefix.cmake @ONLY)
install(SCRIPT ${PROJECT_BINARY_DIR}/with_prefix.cmake)
get_property(VOXHERD_COMMANDS GLOBAL PROPERTY VOXHERD_COMMANDS)
configure_file(cmake/packaging/manual.cmake.in ${PROJECT_BINARY_DIR}/manual.cmake @ONLY)
install(SCRIPT ${PROJECT_BINARY_DIR}/manual.cmake)
