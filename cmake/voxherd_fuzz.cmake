# tests/fuzz/targets/NAME.cpp: programs for libFuzzer (clang, preset fuzz, target fuzz), and the replay of the corpora in
# tests/fuzz/corpus/NAME as unit tests.
file(GLOB fuzz_targets CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/targets/*.cpp)

# What the targets read with, compiled again for the fuzzer: the rest of the program is not needed.
set(fuzz_patterns core/*.cpp mpi/comm/*.cpp mpi/result/*.cpp mpi/run/*.cpp src/io/*.cpp src/io/gzip/*.cpp src/io/surfaces/*.cpp
  src/io/cifti/*.cpp src/io/nifti/*.cpp src/io/tracts/*.cpp src/scan/*.cpp src/scan/warps/*.cpp src/export/*.cpp
  src/batch/cohort/manifest.cpp src/batch/bids/dataset_files.cpp src/view/connection_request.cpp src/view/fibre_choice.cpp
  src/view/request_gate.cpp src/view/request_json.cpp src/analyses/track/mask_files.cpp src/analyses/track/tract_protocols.cpp
  src/analyses/perfusion/frames.cpp src/analyses/perfusion/findings.cpp src/analyses/perfusion/curve_table.cpp
  src/analyses/perfusion/text_values.cpp)

function(voxherd_fuzzers)
  set(sanitizers fuzzer,address,undefined)
  string(REPLACE fuzzer fuzzer-no-link without_main ${sanitizers})
  list(TRANSFORM fuzz_patterns PREPEND ${PROJECT_SOURCE_DIR}/)
  file(GLOB sources CONFIGURE_DEPENDS ${fuzz_patterns})
  list(FILTER sources EXCLUDE REGEX "/${other_gzip_library}_(inflater|deflater).cpp$")
  add_library(voxherd_fuzzed STATIC EXCLUDE_FROM_ALL ${sources})
  target_include_directories(voxherd_fuzzed PUBLIC ${PROJECT_SOURCE_DIR})
  target_include_directories(voxherd_fuzzed SYSTEM PRIVATE ${XXHASH_INCLUDE_DIR})
  target_compile_definitions(voxherd_fuzzed PRIVATE VOXHERD_VERSION="${PROJECT_VERSION}" VOXHERD_CODE_URL="")
  target_compile_options(voxherd_fuzzed PUBLIC -fsanitize=${without_main} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_libraries(voxherd_fuzzed PUBLIC voxherd_flags nlohmann_json::nlohmann_json Boost::program_options fmt::fmt spdlog::spdlog
    gzip_library EXPAT::EXPAT Threads::Threads parallel_hdf5 MPI::MPI_C)
  add_custom_target(fuzz)
  foreach(source IN LISTS fuzz_targets)
    get_filename_component(name ${source} NAME_WE)
    add_executable(fuzz_${name} EXCLUDE_FROM_ALL ${source})
    target_link_libraries(fuzz_${name} PRIVATE voxherd_fuzzed)
    set(mutator ${PROJECT_SOURCE_DIR}/tests/fuzz/mutators/${name}.cpp)
    if(EXISTS ${mutator})
      target_sources(fuzz_${name} PRIVATE ${mutator})
      target_include_directories(fuzz_${name} SYSTEM PRIVATE ${XXHASH_INCLUDE_DIR})
    endif()
    # Runs elsewhere with the libraries in lib/ (tests/fuzz/README.md).
    target_link_options(fuzz_${name} PRIVATE -fsanitize=${sanitizers} -Wl,--as-needed)
    set_target_properties(fuzz_${name} PROPERTIES BUILD_RPATH $ORIGIN/lib RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
    add_dependencies(fuzz fuzz_${name})
  endforeach()
endfunction()

# All targets in one unit, each with its own name.
function(voxherd_fuzz_replay)
  set(unit "")
  foreach(source IN LISTS fuzz_targets)
    get_filename_component(name ${source} NAME_WE)
    string(APPEND unit "#define LLVMFuzzerTestOneInput fuzz_${name}\n#include \"${source}\"\n#undef LLVMFuzzerTestOneInput\n")
    string(APPEND list "TARGET(${name}) ")
    file(GLOB inputs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name}/*)
    add_test(NAME unit.fuzz_${name} COMMAND fuzz_replay ${name} ${inputs})
    set_tests_properties(unit.fuzz_${name} PROPERTIES LABELS "unit;fuzz" TIMEOUT 60)
  endforeach()
  file(CONFIGURE OUTPUT fuzz_targets.cpp CONTENT "${unit}")
  add_executable(fuzz_replay ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.cpp ${CMAKE_CURRENT_BINARY_DIR}/fuzz_targets.cpp)
  target_compile_definitions(fuzz_replay PRIVATE "VOXHERD_FUZZ_TARGETS=${list}")
  target_link_libraries(fuzz_replay PRIVATE voxherd_program ZLIB::ZLIB)
  voxherd_test_program(fuzz_replay fuzz)
  add_dependencies(cpp_tests fuzz_replay)
endfunction()

option(VOXHERD_FUZZ "build the fuzzers instead of the replay of their corpora; needs clang" OFF)
if(VOXHERD_FUZZ)
  voxherd_fuzzers()
else()
  voxherd_fuzz_replay()
endif()
