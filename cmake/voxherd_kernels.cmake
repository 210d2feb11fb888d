# Units of kernel code that differ only in names: kernels/launchers/*.in; kernels/CMakeLists.txt lists them.
set(VOXHERD_LAUNCHERS ${PROJECT_SOURCE_DIR}/kernels/launchers)
set(VOXHERD_GENERATED ${PROJECT_BINARY_DIR}/generated_kernels)

# Instantiates a function of namespace voxherd; a .cu only where there is CUDA.
function(voxherd_instance file HEADER FUNCTION)
  if(file MATCHES "\\.cu$" AND NOT VOXHERD_HAS_CUDA)
    return()
  endif()
  configure_file(${VOXHERD_LAUNCHERS}/instance.in ${VOXHERD_GENERATED}/${file} @ONLY)
  target_sources(voxherd_kernels PRIVATE ${VOXHERD_GENERATED}/${file})
endfunction()

# Launchers of a class of namespace voxherd, an estimator or a model: on the CPU, with CUDA, and without it.
function(voxherd_launchers kind ANALYSIS HEADER CLASS)
  set(backends cpu.cpp no_cuda.cpp)
  if(VOXHERD_HAS_CUDA)
    list(APPEND backends cuda.cu)
  endif()
  foreach(backend IN LISTS backends)
    set(unit ${VOXHERD_GENERATED}/${ANALYSIS}/${CLASS}_${backend})
    configure_file(${VOXHERD_LAUNCHERS}/${kind}_${backend}.in ${unit} @ONLY)
    if(backend STREQUAL no_cuda.cpp)
      target_sources(voxherd_no_cuda PRIVATE ${unit})
    else()
      target_sources(voxherd_kernels PRIVATE ${unit})
    endif()
  endforeach()
endfunction()
