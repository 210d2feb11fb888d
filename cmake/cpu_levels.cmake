# CPU kernels for one processor ("native", "armv8-a", "x86-64-v3", ...), or for several levels of x86-64 in one program that
# chooses when it starts.
#
# With several levels every unit of the library is compiled once per level. The units of a level are linked into one object
# in which everything is local, inline functions and instantiations too: code of one level can never replace the same
# function of another level or of the rest of the program. Only the library's own functions stay visible, with the level
# appended to their names; functions with the original names jump to the level that was chosen (cpu_levels/dispatch.cpp.in).

# Flags of everything that must compute the same bytes as the kernels. Loops that call libm are vectorised only without errno and
# floating-point traps.
set(VOXHERD_KERNEL_OPTIONS $<$<CONFIG:Release>:-O3> -fno-math-errno -fno-trapping-math)
set(local_symbols "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns about its own AVX-512 and standard headers (GCC bug 105593).
  list(APPEND VOXHERD_KERNEL_OPTIONS -Wno-uninitialized -Wno-maybe-uninitialized -Wno-array-bounds)
  set(local_symbols -fno-gnu-unique)  # unique symbols cannot be made local
endif()
list(GET VOXHERD_CPU_ARCH 0 lowest_level)
add_library(voxherd_kernel_flags INTERFACE)
target_compile_options(voxherd_kernel_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-march=${lowest_level} ${VOXHERD_KERNEL_OPTIONS}>)

function(voxherd_cpu_levels target)
  list(LENGTH VOXHERD_CPU_ARCH level_count)
  if(level_count EQUAL 1)
    set(CPU_LEVEL ${VOXHERD_CPU_ARCH})
    configure_file(${PROJECT_SOURCE_DIR}/cmake/cpu_levels/one_level.cpp.in cpu_level.cpp @ONLY)
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/cpu_level.cpp)
    target_link_libraries(${target} PRIVATE voxherd_kernel_flags)
    return()
  endif()
  foreach(level IN LISTS VOXHERD_CPU_ARCH)
    if(NOT level MATCHES "^x86-64-v[234]$")
      message(FATAL_ERROR "VOXHERD_CPU_ARCH=\"${VOXHERD_CPU_ARCH}\": a list may contain x86-64-v2, x86-64-v3 and x86-64-v4, "
        "not ${level}")
    endif()
  endforeach()
  list(SORT VOXHERD_CPU_ARCH)

  get_target_property(others ${target} SOURCES)
  set(sources ${others})
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(FILTER others EXCLUDE REGEX "\\.cpp$")
  set_property(TARGET ${target} PROPERTY SOURCES ${others})
  set(script ${PROJECT_SOURCE_DIR}/cmake/cpu_levels/combine.cmake)
  foreach(level IN LISTS VOXHERD_CPU_ARCH)
    set(objects ${target}_${level})
    add_library(${objects} OBJECT ${sources})
    target_include_directories(${objects} SYSTEM PRIVATE ${RANDOM123_INCLUDE_DIR})
    target_link_libraries(${objects} PRIVATE voxherd_core OpenMP::OpenMP_CXX)
    target_compile_options(${objects} PRIVATE -march=${level} ${VOXHERD_KERNEL_OPTIONS} ${local_symbols})
    file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${level}.objects
      CONTENT "$<JOIN:$<TARGET_OBJECTS:${objects}>,\n>\n")
    add_custom_command(OUTPUT ${level}.o ${level}.symbols
      COMMAND ${CMAKE_COMMAND} -DLEVEL=${level} -DCOMPILER=${CMAKE_CXX_COMPILER} -DNM=${CMAKE_NM} -DOBJCOPY=${CMAKE_OBJCOPY}
        -P ${script}
      DEPENDS ${script} ${objects} $<TARGET_OBJECTS:${objects}> ${CMAKE_CURRENT_BINARY_DIR}/${level}.objects
      COMMENT "Combining the CPU kernels for ${level}" VERBATIM)
    set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/${level}.o PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${level}.o)
    list(APPEND symbols ${CMAKE_CURRENT_BINARY_DIR}/${level}.symbols)
  endforeach()

  set(script ${PROJECT_SOURCE_DIR}/cmake/cpu_levels/dispatch.cmake)
  set(template ${PROJECT_SOURCE_DIR}/cmake/cpu_levels/dispatch.cpp.in)
  list(JOIN VOXHERD_CPU_ARCH "," levels)
  add_custom_command(OUTPUT cpu_level.cpp
    COMMAND ${CMAKE_COMMAND} -DLEVELS=${levels} -DTEMPLATE=${template} -P ${script}
    DEPENDS ${script} ${template} ${symbols} VERBATIM)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/cpu_level.cpp)
endfunction()
