# Compiler flags are attached to these interface targets, never set by hand.
add_library(voxherd_flags INTERFACE)
target_compile_options(voxherd_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow>)

set(VOXHERD_SANITIZE "" CACHE STRING "sanitizers, e.g. address,undefined")
if(VOXHERD_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX,C>:-fsanitize=${VOXHERD_SANITIZE}> $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${VOXHERD_SANITIZE})
endif()
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
endif()

# Precompiled headers: parsing these takes longer than compiling most sources that include them.
set(VOXHERD_COMMON_HEADERS <algorithm> <cstdint> <functional> <memory> <string> <vector> <fmt/core.h> <nlohmann/json.hpp>)

# GCC forgets that precompiled headers are system headers, and 12 and 13 warn about their own std::string (GCC bugs 105329, 105651).
function(voxherd_silence_system_headers target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow>)
  endif()
endfunction()

function(voxherd_precompile_headers target)
  target_precompile_headers(${target} PRIVATE ${VOXHERD_COMMON_HEADERS} ${ARGN})
  voxherd_silence_system_headers(${target})
endfunction()

# Both targets need the same compiler flags.
function(voxherd_reuse_precompiled_headers target from)
  target_precompile_headers(${target} REUSE_FROM ${from})
  voxherd_silence_system_headers(${target})
endfunction()
