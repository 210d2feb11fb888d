# For mpirun in tests. Open MPI takes these transports on one machine anyway; naming them saves it a search in each process.
set(mpi_on_one_machine "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1;OMPI_MCA_pml=ob1;OMPI_MCA_btl=vader,self")

# Slow reference implementations in double precision that tests and benchmarks compare with.
function(voxherd_reference_library)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*/reference/*.cpp)
  add_library(voxherd_reference STATIC EXCLUDE_FROM_ALL ${sources})
  target_compile_definitions(voxherd_reference PUBLIC VOXHERD_DATA="${VOXHERD_DATA}")
  target_link_libraries(voxherd_reference PUBLIC voxherd_program)
endfunction()

# Builds tests/*/KIND/*_test.cpp as one program KIND_tests. Each test is a CTest case with the label KIND.
function(voxherd_gtest kind)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/${kind}/*_test.cpp)
  add_executable(${kind}_tests ${sources})
  target_link_libraries(${kind}_tests PRIVATE voxherd_reference GTest::gtest_main)
  voxherd_precompile_headers(${kind}_tests <gtest/gtest.h>)
  gtest_discover_tests(${kind}_tests PROPERTIES LABELS ${kind} DISCOVERY_TIMEOUT 60)
endfunction()

# Builds each tests/*/mpi/*_test.cpp as a program with its own main, run on 1, 2, 3 and 5 ranks. Exit status 77: skipped.
function(voxherd_mpi_tests)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/mpi/*_test.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE voxherd_program GTest::gtest)
    foreach(ranks 1 2 3 5)
      add_test(NAME mpi.${name}.${ranks}
        COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe -n ${ranks} $<TARGET_FILE:${name}>)
      set_tests_properties(mpi.${name}.${ranks} PROPERTIES LABELS mpi TIMEOUT 300 PROCESSORS 2
        ENVIRONMENT "${mpi_on_one_machine}"
        SKIP_RETURN_CODE 77)
    endforeach()
  endforeach()
endfunction()

# Builds each tests/support/tools/NAME.cpp as a program for the cli tests, in the folder VOXHERD_TEST_TOOLS.
function(voxherd_test_tools)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/support/tools/*.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE voxherd_program GTest::gtest)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  endforeach()
  # It replaces the functions with which analyses and their steps are run: run(session, analysis, run_settings,
  # device_hooks), and run_received(), which has a batch_receiver as well.
  set(run_arguments RKNS_7sessionERNS_8analysisERKNS_12run_settingsERKNS_12device_hooksE)
  set(receiver RKSt8functionIFvRKNS_5batchESt4spanIKSF_IKSt4byteLm18446744073709551615EELm18446744073709551615EEEE)
  target_link_options(device_faults PRIVATE LINKER:--wrap=_ZN7voxherd3runE${run_arguments}
    LINKER:--wrap=_ZN7voxherd12run_receivedE${run_arguments}${receiver})
endfunction()

# Builds each tests/support/preload/NAME.cpp as NAME.so for LD_PRELOAD, in the folder VOXHERD_TEST_TOOLS.
function(voxherd_preloaded_libraries)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/support/preload/*.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_library(${name} MODULE ${source})
    target_link_libraries(${name} PRIVATE ${CMAKE_DL_LIBS})
    set_target_properties(${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  endforeach()
endfunction()

# tests/SUBJECT/cli/*_test.py -> run by the distribution's python3 and tests/support/run_cases.py. Exit status 77 shows as
# skipped: some cases were skipped and none failed.
function(voxherd_cli_tests)
  find_program(VOXHERD_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
  file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/cli/*_test.py)
  # Most cli tests spend their time starting programs. These stop runs midway or compute on several ranks.
  set(use_all_cores bad_inputs_test balance_bench_test changed_inputs_test cohort_test connect_ranks_test connect_real_test
    device_faults_test geodesic_real_test kill_resume_test mixed_test output_files_test
    perfusion_ranks_test points_test run_all_test scaling_bench_test slurm_command_test stall_test track_test write_error_test)
  set(build_programs example_analysis_test)  # take minutes: label slow
  foreach(script IN LISTS scripts)
    get_filename_component(name ${script} NAME_WE)
    if(name IN_LIST use_all_cores)
      set(processors 2)
    else()
      set(processors 1)
    endif()
    set(labels cli)
    set(timeout 600)
    if(name IN_LIST build_programs)
      set(labels slow)
      set(timeout 3600)
      set(processors 2)
    endif()
    add_test(NAME cli.${name} COMMAND ${VOXHERD_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/support/run_cases.py ${script} -v)
    set_tests_properties(cli.${name} PROPERTIES LABELS ${labels} TIMEOUT ${timeout} SKIP_RETURN_CODE 77 PROCESSORS ${processors}
      ENVIRONMENT "PYTHONPATH=${CMAKE_CURRENT_SOURCE_DIR}/support;VOXHERD=$<TARGET_FILE:voxherd>;VOXHERD_TEST_TOOLS=${PROJECT_BINARY_DIR}/tests;VOXHERD_DATA=${VOXHERD_DATA};${mpi_on_one_machine}")
  endforeach()
endfunction()

# Random faults (tests/faults): a short leg with a fixed seed, and a long one with a new seed each time (label slow).
function(voxherd_fault_tests)
  find_program(VOXHERD_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
  set(program ${VOXHERD_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/faults/run_faults.py --program $<TARGET_FILE:voxherd> --tools ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME faults.short COMMAND ${program} --count 28 --seed 14)
  add_test(NAME faults.long COMMAND ${program} --count 500 --report ${PROJECT_BINARY_DIR}/faults.csv)
  set_tests_properties(faults.short PROPERTIES LABELS faults TIMEOUT 1200)
  set_tests_properties(faults.long PROPERTIES LABELS slow TIMEOUT 21600)
  set_tests_properties(faults.short faults.long PROPERTIES SKIP_RETURN_CODE 77 PROCESSORS 2
    ENVIRONMENT "PYTHONPATH=${CMAKE_CURRENT_SOURCE_DIR}/support")
endfunction()

# Runs each tests/*/KIND/*_test.py with the label KIND; skipped if its tools are missing or namespaces are not permitted.
function(voxherd_system_tests kind timeout processors environment)
  find_program(VOXHERD_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
  file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/${kind}/*_test.py)
  foreach(script IN LISTS scripts)
    get_filename_component(name ${script} NAME_WE)
    add_test(NAME ${kind}.${name} COMMAND ${VOXHERD_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/support/run_cases.py ${script} -v)
    set_tests_properties(${kind}.${name} PROPERTIES LABELS ${kind} TIMEOUT ${timeout} PROCESSORS ${processors} SKIP_RETURN_CODE 77
      ENVIRONMENT "PYTHONPATH=${CMAKE_CURRENT_SOURCE_DIR}/support;VOXHERD=$<TARGET_FILE:voxherd>;${environment}")
  endforeach()
endfunction()

# They start their own SLURM clusters in namespaces.
function(voxherd_slurm_tests)
  voxherd_system_tests(slurm 600 1 "VOXHERD_TEST_TOOLS=${PROJECT_BINARY_DIR}/tests")
endfunction()

# They make a container image from Debian's packages.
function(voxherd_packaging_tests)
  voxherd_system_tests(packaging 900 2
    "${mpi_on_one_machine}")
endfunction()
