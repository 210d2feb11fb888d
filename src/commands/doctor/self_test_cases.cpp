#include "src/commands/doctor/self_test.hpp"

namespace voxherd {

using namespace std::string_literals;

namespace {

// Relative tolerances. Processors, GPUs and compilers differ in the last bits of single operations. As a measure of
// what that does, all values of the inputs were changed by up to one such bit, five times: the means moved by at most
constexpr double fit = 1e-4;    ///< 2e-6; single voxels differ by about 1e-5
constexpr double path = 1e-3;   ///< 3e-6; CPUs and GPUs also differ by up to 1e-4 in arrival times
constexpr double chain = 1e-2;  ///< 1.7e-3, because a jump is accepted that was rejected, and all later ones differ
constexpr double streamlines = 4e-2;  ///< 8e-3, because they follow samples of other chains

constexpr char brain[] =
    "--dwi @/brain/data.nii --bvals @/brain/bvals --bvecs @/brain/bvecs --mask @/brain/nodif_brain_mask.nii.gz";

}  // namespace

const std::vector<self_test_case>& self_test_cases() {
  // clang-format off
  static const std::vector<self_test_case> cases{
      {"phantom", "dwi --preset toy --fibres 2 --out @/brain", {}},
      {"phantom", "liver --preset toy --out @/liver", {}},
      {"tensor", brain + " --shells 0,1000"s,
       {{"FA", 0.35028779, fit}, {"MD", 0.0010140957, fit}, {"S0", 1011.5236, fit}, {"residual", 23.950039, fit}}},
      {"ballstick", brain + " --fibres 2 --burn-in 200 --jumps 500 --sample-every 10"s,
       {{"mean_f1", 0.27581723, chain}, {"mean_f2", 0.031989425, chain}, {"mean_d", 0.0015363348, chain},
        {"mean_S0", 1012.1391, chain}, {"dyads1_dispersion", 0.20691407, chain}}},
      {"noddi", brain,
       {{"NDI", 0.63106641, fit}, {"ODI", 0.40033628, fit}, {"FWF", 0.16439328, fit}, {"residual", 33.99324, fit}}},
      {"track", "--samples @/ballstick.h5 --connectome @/brain/truth/ends.nii.gz --loop-check on --samples-per-seed 100",
       {{"density", 54.513847, streamlines}, {"connectome/count", 60.428571, streamlines},
        {"streamlines/steps", 863572, streamlines}}},
      {"geodesic", brain + " --smooth 1 --metric jeong --alpha 3 --max-drift 0.05 --directions 256 --measure relative --top 3 "
                           "--distinct 4 --seed-image @/brain/truth/ends.nii.gz --seed-labels 7,9,11,13 "
                           "--targets @/brain/truth/ends.nii.gz --target-labels 7,8,9,10,11,12,13,14"s,
       {{"measure", 0.69586798, path}, {"length_mm", 40.517929, path}, {"mean_FA", 0.4533782, path},
        {"connectome/best_measure", 0.25842433, path}}},
      {"connect", brain + " --metric inverse --within-fa 0.2 --connectome @/brain/truth/ends.nii.gz "
                          "--labels 7,8,9,10,11,12,13,14"s,
       {{"connectome/cost", 743.80951, path}, {"connectome/length_mm", 15.122744, path}, {"first_cost", 327.78055, path}}},
      {"perfusion", "--dynamic @/liver/dce.nii --times @/liver/times.txt --mask @/liver/liver.nii.gz --arterial-voi "
                    "@/liver/aorta.nii.gz --portal-voi @/liver/portal.nii.gz --signal spgr --tr 3.5 --flip-angle 15 "
                    "--relaxivity 4.5 --vfa @/liver/vfa.nii --vfa-flip-angles 2,5,10,15",
       {{"kl", 366.85298, fit}, {"ka", 25.860208, fit}, {"kp", 87.447484, fit}, {"r_squared", 0.99744101, fit},
        {"t1_before", 0.83424595, fit}}}};
  // clang-format on
  return cases;
}

}  // namespace voxherd
