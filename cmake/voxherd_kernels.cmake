# Units of kernel code that are written by templates; kernels/CMakeLists.txt lists them.
set(VOXHERD_TEMPLATES ${PROJECT_SOURCE_DIR}/kernels/templates)
set(VOXHERD_GENERATED ${PROJECT_BINARY_DIR}/generated_kernels)

# UNIT_INCLUDES from a list of headers.
macro(voxherd_includes)
  set(UNIT_INCLUDES "")
  foreach(header ${ARGN})
    string(APPEND UNIT_INCLUDES "#include \"${header}\"\n")
  endforeach()
endmacro()

# A unit of headers and one declaration; a .cu only where there is CUDA.
function(voxherd_unit file headers code)
  if(file MATCHES "\\.cu$" AND NOT VOXHERD_HAS_CUDA)
    return()
  endif()
  voxherd_includes(${headers})
  set(UNIT_CODE "${code}")
  configure_file(${VOXHERD_TEMPLATES}/unit.in ${VOXHERD_GENERATED}/${file} @ONLY)
  target_sources(voxherd_kernels PRIVATE ${VOXHERD_GENERATED}/${file})
endfunction()

# Definitions, in one namespace, that throw in a build without CUDA; nothing where there is CUDA.
function(voxherd_cuda_stubs target name headers namespace)
  if(VOXHERD_HAS_CUDA)
    return()
  endif()
  voxherd_includes(${headers})
  set(STUB_NAME ${name})
  set(STUB_NAMESPACE ${namespace})
  set(UNIT_CODE "")
  foreach(function IN LISTS ARGN)
    string(APPEND UNIT_CODE "${function} { refuse(); }\n")
  endforeach()
  list(GET headers 0 first)
  get_filename_component(unit ${first} NAME_WE)
  set(file ${VOXHERD_GENERATED}/${target}/${name}_${unit}_without_cuda.cpp)
  configure_file(${VOXHERD_TEMPLATES}/cuda_stubs.cpp.in ${file} @ONLY)
  target_sources(${target} PRIVATE ${file})
endfunction()

# Launchers of an estimator for one voxel per lane, on CPU and CUDA, or what says that there is no CUDA.
function(voxherd_voxelwise_launchers analysis header estimator)
  get_filename_component(unit ${header} NAME_WE)
  voxherd_unit(${analysis}/${unit}_cpu.cpp "kernels/${header};kernels/device/voxelwise_cpu.hpp"
    "template <> std::unique_ptr<voxherd::voxelwise_solver<${estimator}>> voxherd::make_voxelwise_cpu(const device& d, const ${estimator}& e) {
  return std::make_unique<voxelwise_cpu_solver<${estimator}>>(d, e);
}")
  voxherd_unit(${analysis}/${unit}_cuda.cu "kernels/${header};kernels/device/voxelwise_cuda.cuh"
    "template <> std::unique_ptr<voxherd::voxelwise_solver<${estimator}>> voxherd::make_voxelwise_cuda(const ${estimator}& e) {
  return std::make_unique<voxelwise_cuda_solver<${estimator}>>(e);
}")
  voxherd_cuda_stubs(voxherd_kernels ${analysis} kernels/${header} voxherd
    "template <> std::unique_ptr<voxelwise_solver<${estimator}>> make_voxelwise_cuda(const ${estimator}&)")
endfunction()
