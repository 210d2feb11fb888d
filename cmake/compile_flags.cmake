# Compiler flags are attached to these interface targets, never set by hand.
add_library(voxherd_flags INTERFACE)
target_compile_options(voxherd_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow>)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  # Notes on how older versions of GCC passed vectors.
  target_compile_options(voxherd_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-psabi>)
endif()

# The fuzzers, which clang compiles, need no kernels.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang|LLVM" AND NOT CMAKE_CROSSCOMPILING AND NOT VOXHERD_FUZZ)
  include(CheckCXXSourceRuns)
  list(GET VOXHERD_CPU_ARCH 0 level)
  set(CMAKE_REQUIRED_FLAGS "-std=c++20 -O0 -march=${level}")
  check_cxx_source_runs("#include <cstdint>
    #include <experimental/simd>
    int main() {
      volatile std::int64_t stored = -(std::int64_t{1} << 57);
      const std::experimental::native_simd<std::int64_t> lanes(stored);
      return (lanes >> 52)[0] == -32 ? 0 : 1;
    }" VOXHERD_SIMD_SHIFTS)
  unset(CMAKE_REQUIRED_FLAGS)
  if(NOT VOXHERD_SIMD_SHIFTS)
    message(FATAL_ERROR "${CMAKE_CXX_COMPILER} with this standard library shifts signed SIMD numbers wrongly, and most results would be "
      "wrong (clang 16 with libstdc++ 12 does); use g++")
  endif()
endif()

set(VOXHERD_SANITIZE "" CACHE STRING "sanitizers, e.g. address,undefined")
if(VOXHERD_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX,C>:-fsanitize=${VOXHERD_SANITIZE}> $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${VOXHERD_SANITIZE})
  # The contracts of kernels (kernels/portable/contract.hpp), whatever the build type.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-UNDEBUG>)
endif()
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
endif()

# Where loops over image data are.
add_library(voxherd_fast_loops INTERFACE)
target_compile_options(voxherd_fast_loops INTERFACE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O3>)

# Parsing the headers of libraries takes longer than compiling most sources, so that the sources of a folder are compiled
# together, up to 12 at a time.
function(voxherd_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${VOXHERD_UNITY} UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(folder ${source} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    math(EXPR count_${folder} "0${count_${folder}} + 1")
    math(EXPR part "${count_${folder}} / 12")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${part})
  endforeach()
endfunction()

# GCC 12 and 13 warn about their own std::string (GCC bugs 105329, 105651).
function(voxherd_silence_system_headers target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow>)
  endif()
endfunction()
