# tests/FOLDER/*_test.cpp -> program FOLDER_tests, one CTest case per test, label FOLDER.
function(voxherd_gtest folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*_test.cpp)
  file(GLOB reference CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/reference/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${folder}_tests ${sources} ${reference})
  target_include_directories(${folder}_tests PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${folder}_tests PRIVATE voxherd_program GTest::gtest_main)
  target_compile_definitions(${folder}_tests PRIVATE VOXHERD_DATA="${VOXHERD_DATA}")
  gtest_discover_tests(${folder}_tests PROPERTIES LABELS ${folder} DISCOVERY_TIMEOUT 60)
endfunction()

# tests/mpi/*_test.cpp -> programs with their own main, run on 1, 2, 3 and 5 ranks.
function(voxherd_mpi_tests)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/mpi/*_test.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE voxherd_program GTest::gtest)
    foreach(ranks 1 2 3 5)
      add_test(NAME mpi.${name}.${ranks}
        COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe -n ${ranks} $<TARGET_FILE:${name}>)
      set_tests_properties(mpi.${name}.${ranks} PROPERTIES LABELS mpi TIMEOUT 300 PROCESSORS 2
        ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1"
        SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
    endforeach()
  endforeach()
endfunction()

# tests/tools/NAME.cpp -> programs that the cli tests run, in the folder named by VOXHERD_TEST_TOOLS.
function(voxherd_test_tools)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/tools/*.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE voxherd_program)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  endforeach()
endfunction()

# tests/cli/*_test.py -> run by the distribution's python3; exit status 77 shows as skipped, and so does a file of which
# one case was skipped while none failed.
function(voxherd_cli_tests)
  find_program(VOXHERD_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
  file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cli/*_test.py)
  # Most of their time goes into starting programs; these kill runs midway, or compute on several ranks.
  set(alone balance_bench_test cohort_test connect_ranks_test connect_real_test geodesic_real_test kill_resume_test mixed_test
    perfusion_ranks_test points_test scaling_bench_test slurm_command_test)
  foreach(script IN LISTS scripts)
    get_filename_component(name ${script} NAME_WE)
    if(name IN_LIST alone)
      set(processors 2)
    else()
      set(processors 1)
    endif()
    add_test(NAME cli.${name} COMMAND ${VOXHERD_PYTHON} ${script} -v)
    set_tests_properties(cli.${name} PROPERTIES LABELS cli TIMEOUT 600 SKIP_RETURN_CODE 77 PROCESSORS ${processors}
      SKIP_REGULAR_EXPRESSION "OK \\(skipped="
      ENVIRONMENT "VOXHERD=$<TARGET_FILE:voxherd>;VOXHERD_TEST_TOOLS=${PROJECT_BINARY_DIR}/tests;VOXHERD_DATA=${VOXHERD_DATA};OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1")
  endforeach()
endfunction()

# tests/slurm/*_test.py -> each brings up a SLURM cluster of its own in namespaces; skipped where the machine allows none.
function(voxherd_slurm_tests)
  find_program(VOXHERD_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
  file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/slurm/*_test.py)
  foreach(script IN LISTS scripts)
    get_filename_component(name ${script} NAME_WE)
    add_test(NAME slurm.${name} COMMAND ${VOXHERD_PYTHON} ${script} -v)
    set_tests_properties(slurm.${name} PROPERTIES LABELS slurm TIMEOUT 600 SKIP_RETURN_CODE 77
      ENVIRONMENT "VOXHERD=$<TARGET_FILE:voxherd>;VOXHERD_TEST_TOOLS=${PROJECT_BINARY_DIR}/tests")
  endforeach()
endfunction()
