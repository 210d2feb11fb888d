# Tests are in tests/SUBJECT/KIND. Every test has its KIND and its SUBJECT as labels in ctest; the target test_SUBJECT builds what
# the subject's tests need, as `script/test SUBJECT` does. PROCESSORS counts half cores, as script/test does, because most cli tests
# wait for MPI to start and to end half of the time. Tests with the largest COST start first.

# For mpirun in tests. Open MPI takes these transports on one machine anyway; naming them saves it a search in each process. The
# nodes of cluster tests are not one machine.
set(mpi_as_root "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1")
set(mpi_on_one_machine "${mpi_as_root};OMPI_MCA_pml=ob1;OMPI_MCA_btl=vader,self")

# Slow reference implementations in double precision that tests and benchmarks compare with: tests/SUBJECT/reference as the
# library SUBJECT_reference, which is linked with those of the subjects in SUBJECT_compares_with.
set(ballstick_compares_with portable)
set(connect_compares_with geodesic)
set(geodesic_compares_with portable tensor)
set(run_compares_with tensor)
set(tensor_field_compares_with geodesic)

# The library that a subject's C++ tests are linked with, if it is not the whole program: the lowest one that has what they test.
set(core_needs voxherd_run)
set(io_needs voxherd_io)
set(noddi_needs voxherd_scan)
set(portable_needs voxherd_kernels)
set(result_needs voxherd_run parallel_hdf5 MPI::MPI_C)
set(scan_needs voxherd_scan)
set(tensor_needs voxherd_kernels)
set(tensor_field_needs voxherd_scan)

function(voxherd_link_subject program subject)
  set(library voxherd_program)
  if(DEFINED ${subject}_needs)
    set(library ${${subject}_needs})
  endif()
  target_link_libraries(${program} PRIVATE ${library} ${ARGN})
endfunction()

# Few large units: parsing the headers takes longer than compiling what follows.
function(voxherd_few_units target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
  if(DEFINED VOXHERD_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${VOXHERD_UNITY})
  endif()
endfunction()

function(voxherd_reference_libraries)
  find_package(GTest REQUIRED)
  file(GLOB folders RELATIVE ${PROJECT_SOURCE_DIR}/tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*/reference)
  add_library(voxherd_reference INTERFACE)
  foreach(folder IN LISTS folders)
    get_filename_component(subject ${folder} DIRECTORY)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*.cpp)
    if(sources)
      add_library(${subject}_reference STATIC EXCLUDE_FROM_ALL ${sources})
      voxherd_few_units(${subject}_reference)
      target_compile_definitions(${subject}_reference PUBLIC VOXHERD_DATA="${VOXHERD_DATA}")
      target_compile_options(${subject}_reference PRIVATE $<$<CONFIG:Release>:-O2>)
      target_link_libraries(${subject}_reference PUBLIC voxherd_run voxherd_kernels GTest::gtest)
      foreach(other IN LISTS ${subject}_compares_with)
        target_link_libraries(${subject}_reference PUBLIC ${other}_reference)
      endforeach()
      target_link_libraries(voxherd_reference INTERFACE ${subject}_reference)
    endif()
  endforeach()
endfunction()

# A program of tests, or one that cli tests use, for the target test_SUBJECT. The optimiser is not worth its time here. The libraries
# that a program does not need are not loaded when it starts.
function(voxherd_test_program name subject)
  voxherd_few_units(${name})
  target_compile_definitions(${name} PRIVATE VOXHERD_DATA="${VOXHERD_DATA}")
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_options(${name} PRIVATE LINKER:--as-needed)
  voxherd_silence_system_headers(${name})
  add_dependencies(test_${subject} ${name})
endfunction()

# Builds tests/SUBJECT/{unit,science,gpu}/*_test.cpp as one program SUBJECT_tests. Each case is one of ctest's.
function(voxherd_gtest subject)
  file(GLOB sources CONFIGURE_DEPENDS ${subject}/unit/*_test.cpp ${subject}/science/*_test.cpp ${subject}/gpu/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  set(program ${subject}_tests)
  add_executable(${program} ${sources})
  voxherd_test_program(${program} ${subject})
  add_dependencies(cpp_tests ${program})
  foreach(other ${subject} ${${subject}_compares_with})
    if(TARGET ${other}_reference)
      target_link_libraries(${program} PRIVATE ${other}_reference)
    endif()
  endforeach()
  voxherd_link_subject(${program} ${subject} GTest::gtest_main)
  set(cases ${CMAKE_CURRENT_BINARY_DIR}/${program}_cases.cmake)
  add_custom_command(TARGET ${program} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${program}> -DSUBJECT=${subject} -DOUTPUT=${cases}
      "-DEMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}"
      -P ${PROJECT_SOURCE_DIR}/cmake/list_cases.cmake
    BYPRODUCTS ${cases} VERBATIM)
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${cases})
  if(NOT EXISTS ${cases})
    file(WRITE ${cases} "add_test(${program}_is_not_built ${program})\n")
  endif()
endfunction()

# Builds tests/SUBJECT/mpi/*_test.cpp as one program SUBJECT_mpi_tests, run on 1, 2, 3 and 5 ranks. Exit status 77: skipped.
function(voxherd_mpi_tests subject)
  file(GLOB sources CONFIGURE_DEPENDS ${subject}/mpi/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  set(program ${subject}_mpi_tests)
  add_executable(${program} ${sources} support/rank_main.cpp)
  voxherd_test_program(${program} ${subject})
  voxherd_link_subject(${program} ${subject} GTest::gtest)
  foreach(ranks 1 2 3 5)
    add_test(NAME mpi.${subject}.${ranks}
      COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe -n ${ranks} $<TARGET_FILE:${program}>)
    set_tests_properties(mpi.${subject}.${ranks} PROPERTIES LABELS "mpi;${subject}" TIMEOUT 300 PROCESSORS 2 COST 2
      ENVIRONMENT "${mpi_on_one_machine}" SKIP_RETURN_CODE 77)
  endforeach()
endfunction()

# Builds each tests/SUBJECT/tools/NAME.cpp as a program for cli tests, and each tests/SUBJECT/preload/NAME.cpp as NAME.so for
# LD_PRELOAD, in the folder VOXHERD_TEST_TOOLS.
function(voxherd_test_tools subject)
  file(GLOB sources CONFIGURE_DEPENDS ${subject}/tools/*.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    voxherd_test_program(${name} ${subject})
    voxherd_link_subject(${name} ${subject} GTest::gtest)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${subject}/preload/*.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_library(${name} MODULE ${source})
    target_link_libraries(${name} PRIVATE ${CMAKE_DL_LIBS})
    set_target_properties(${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_dependencies(test_${subject} ${name})
  endforeach()
endfunction()

# Runs tests/SUBJECT/KIND/*_test.py with the distribution's python3 and tests/support/run_cases.py. Exit status 77 shows as
# skipped: some cases were skipped and none failed, or what all need is missing.
function(voxherd_python_tests subject kind)
  # These stop runs midway, compute on several ranks, or compute for long.
  set(use_a_core bad_inputs_test balance_bench_test changed_inputs_test cohort_test connect_ranks_test connect_real_test
    device_faults_test geodesic_real_test image_test kill_resume_test mixed_test output_files_test
    perfusion_ranks_test points_test run_all_test scaling_bench_test slurm_command_test stall_test track_test write_error_test)
  set(build_programs archive_build_test example_analysis_test)  # take minutes: label slow
  set(mpi "${mpi_on_one_machine}")
  if(kind STREQUAL cluster)
    set(mpi "${mpi_as_root}")
  endif()
  file(GLOB scripts CONFIGURE_DEPENDS ${subject}/${kind}/*_test.py)
  foreach(script IN LISTS scripts)
    get_filename_component(name ${script} NAME_WE)
    set(test ${kind}.${name})
    add_test(NAME ${test} COMMAND ${VOXHERD_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/support/run_cases.py ${script} -v)
    set_tests_properties(${test} PROPERTIES LABELS "${kind};${subject}" TIMEOUT 900 COST 1 SKIP_RETURN_CODE 77
      ENVIRONMENT "PYTHONPATH=${CMAKE_CURRENT_SOURCE_DIR}/support:${CMAKE_CURRENT_SOURCE_DIR}/${subject}/support;VOXHERD=$<TARGET_FILE:voxherd>;VOXHERD_TEST_TOOLS=${PROJECT_BINARY_DIR}/tests;VOXHERD_DATA=${VOXHERD_DATA};${mpi}")
    if(name IN_LIST use_a_core AND NOT kind STREQUAL cluster)
      set_tests_properties(${test} PROPERTIES PROCESSORS 2 COST 2)
    endif()
    if(name IN_LIST build_programs)
      set_tests_properties(${test} PROPERTIES LABELS "slow;${subject}" TIMEOUT 3600 PROCESSORS 4)
    endif()
  endforeach()
endfunction()

# All tests of a subject. Tests in Python start the program, and most of them these two tools.
function(voxherd_subject subject)
  add_custom_target(test_${subject})
  file(GLOB scripts CONFIGURE_DEPENDS ${subject}/cli/*_test.py ${subject}/cluster/*_test.py ${subject}/image/*_test.py)
  if(scripts OR subject STREQUAL faults)
    add_dependencies(test_${subject} voxherd option_reader toy_run)
  endif()
  voxherd_gtest(${subject})
  voxherd_mpi_tests(${subject})
  voxherd_test_tools(${subject})
  foreach(kind cli cluster image)
    voxherd_python_tests(${subject} ${kind})
  endforeach()
endfunction()

# Random faults and bad inputs (tests/faults): a short leg with a fixed seed, and a long one with a new seed each time (label
# slow).
function(voxherd_fault_tests)
  set(program ${VOXHERD_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/faults/run_faults.py --program $<TARGET_FILE:voxherd> --tools ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME faults.short COMMAND ${program} --count 28 --seed 14)
  add_test(NAME faults.long COMMAND ${program} --count 500 --report ${PROJECT_BINARY_DIR}/faults.csv)
  add_test(NAME faults.inputs_short COMMAND ${program} --inputs --count 160 --seed 14)
  add_test(NAME faults.inputs_long COMMAND ${program} --inputs --count 1000 --report ${PROJECT_BINARY_DIR}/bad_inputs.csv)
  set_tests_properties(faults.short faults.inputs_short PROPERTIES LABELS faults TIMEOUT 2400)
  set_tests_properties(faults.long faults.inputs_long PROPERTIES LABELS "slow;faults" TIMEOUT 21600)
  set_tests_properties(faults.short faults.long faults.inputs_short faults.inputs_long PROPERTIES SKIP_RETURN_CODE 77 PROCESSORS 2 COST 3
    ENVIRONMENT "PYTHONPATH=${CMAKE_CURRENT_SOURCE_DIR}/support")
endfunction()
