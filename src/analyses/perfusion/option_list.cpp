#include "core/option_values.hpp"
#include "src/analyses/perfusion/options.hpp"

namespace voxherd {

namespace {

auto* files() { return po::value<std::vector<std::string>>()->multitoken()->value_name("FILE..."); }
auto* list() { return po::value<std::string>()->value_name("LIST"); }
auto* given() { return po::value<double>()->value_name("X"); }

void add_inputs(po::options_description& options) {
  // clang-format off
  options.add_options()
    ("dynamic", files(), "dynamic series: a 4-D NIfTI image, or one image a frame in the order of time, or a .txt that lists them")
    ("times", option::file(), "times of the frames, s: text, one number a frame")
    ("spacing", given(), "seconds from frame to frame, 0.01 to 3600, instead of --times")
    ("mask", option::file(), "voxels to fit: above 0; without it all")
    ("skip-frames", list(), "frames that are no part of the fit, counted from 0, as 3,41-47")
    ("model", option::text("dual"), "dual | arterial: two inputs, or the artery alone")
    ("arterial-voi", option::file(), "mask of voxels in the aorta or hepatic artery")
    ("portal-voi", option::file(), "mask of voxels in the portal vein")
    ("arterial-curve", option::file(), "table of time (s) and concentration, instead of --arterial-voi")
    ("portal-curve", option::file(), "table of time (s) and concentration, instead of --portal-voi")
    ("curves", option::file(), "table of time (s), arterial and portal concentration, instead of all four")
    ("haematocrit", option::real(0, "0"), "both inputs are divided by 1 - X, 0 to 0.9; 0: flows of whole blood")
    ("density", option::real(1, "1"), "of the tissue, 0.5 to 2 g/ml, for flows per 100 g");
  // clang-format on
}

void add_signal(po::options_description& options) {
  // clang-format off
  options.add_options()
    ("signal", option::text("concentration"), "concentration | linear (MR, R1 ~ signal) | spgr (spoiled gradient echo) | ct (HU)")
    ("baseline", list(), "first and last frame before the agent, counted from 0, as 0,6; without it detected")
    ("arterial-baseline", option::text("own"), "own | portal: whose baseline is S0 of the arterial VOI; portal where inflow spoils the aorta's")
    ("relaxivity", given(), "r1 of the agent, 0.1 to 100 /s/mM; for linear and spgr")
    ("tr", given(), "repetition time of the series, 0.1 to 10000 ms; for spgr")
    ("flip-angle", given(), "of the series, 0.1 to 90 degrees; for spgr")
    ("t1", given(), "T1 of the tissue before the agent, 0.01 to 10 s; or --t1-map, or --vfa")
    ("t1-map", option::file(), "image of T1 before the agent")
    ("t1-map-unit", option::text("s"), "s | ms")
    ("vfa", files(), "spoiled gradient echoes at several flip angles: a 4-D image, or one image an angle; T1 is fitted to them")
    ("vfa-flip-angles", list(), "of --vfa, 0.1 to 90 degrees, as 2,10,20")
    ("vfa-tr", given(), "repetition time of --vfa, 0.1 to 10000 ms; without it --tr")
    ("t1-blood", given(), "T1 of blood before the agent, 0.01 to 10 s, for both VOIs; without it from the map or flip angles there");
  // clang-format on
}

void add_fit(po::options_description& options) {
  // clang-format off
  options.add_options()
    ("solver", option::text("lm"), "lm | simplex (Nelder & Mead) | varpro | linear")
    ("convolution", option::text("recursion"), "recursion | direct | block-fft")
    ("discretisation", option::text_by_others("exact; direct, block-fft paper"), "exact | paper: how the model becomes numbers")
    ("precision", option::text("double"), "double | float")
    ("starts", option::whole_by_others("1; simplex, linear 0"), "starts from the dictionary, best first, 0 to 8; 0: --start alone")
    ("start", list(), "where the fit begins: kl, ka, kp in ml/100 g/min, delays in s, as kl=200,ka=10,kp=80,tau_a=2,tau_p=3")
    ("fix", list(), "parameters that are not fitted, as tau_p=0,kp=0")
    ("bounds", list(), "of parameters, as tau_a=0:8,kl=1:2000")
    ("bounded", option::text_by_others("yes; simplex no"), "yes | no: whether bounds hold; for lm and simplex")
    ("iterations", option::whole_by_others("100; simplex 600"), "at most, 1 to 100000")
    ("tolerance", option::real(1e-8, "1e-08"), "simplex: ends where largest and smallest cost differ by less, 0 or more (squared concentration)")
    ("relative-tolerance", option::real_by_others("1e-05; simplex 0"), "simplex: the same over the smallest cost; lm, varpro: foretold fall of the cost; 0 to 0.1")
    ("delays", option::text("free"), "free | zero | two-stage: fitted in each voxel; none; found in the mean curve first")
    ("delay-window", option::real(0, "0"), "two-stage: voxels' delays may differ by this from the mean curve's, 0 to 20 s; 0: fixed")
    ("delay-roi", option::file(), "two-stage: mask of the mean curve; without it --mask")
    ("maps", option::text("all")->value_name("LIST"), "all, or those to be written, as ka,kp,mean_transit_time");
  // clang-format on
}

}  // namespace

void add_perfusion_options(po::options_description& options) {
  add_inputs(options);
  add_signal(options);
  add_fit(options);
}

}  // namespace voxherd
