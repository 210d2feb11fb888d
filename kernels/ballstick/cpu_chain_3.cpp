#include "kernels/ballstick/cpu_chain.inl"

// One translation unit a fibre count, so that they compile side by side.
template void voxherd::ballstick::run_cpu_chain<3>(const settings&, const chain_settings&, const cpu_measurements&,
                                                   const float*, std::uint64_t, cpu_scratch&);
