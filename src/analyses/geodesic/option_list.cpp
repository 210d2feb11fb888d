#include "core/option_values.hpp"
#include "src/analyses/geodesic/options.hpp"

namespace voxherd {

namespace {

using option::real;
using option::real_by_others;
using option::text;
using option::text_by_others;
using option::whole;
using option::whole_by_others;

void add_field_options(po::options_description& options) {
  // clang-format off
  options.add_options()
    ("metric", text("inverse"), "inverse | adjugate | power | jeong: what makes a metric of D")
    ("alpha", real(1, "1"), "exponent of power and jeong, 0.1 to 10")
    ("smooth", real_by_others("0.7; finsler4, streamline 0"),
     "deviation of log-Euclidean smoothing, 0 to 10 voxels; 0: none")
    ("least-eigenvalue", real_by_others("0.1; finsler4, streamline 0.01"),
     "smaller parts of the largest eigenvalue are raised to it, 0.0001 to 1");
  // clang-format on
}

void add_way_options(po::options_description& options) {
  // clang-format off
  options.add_options()
    ("form", text("hamiltonian"), "christoffel | hamiltonian | finsler4: geodesics; streamline: along the main eigenvector")
    ("interpolation", text_by_others("bspline; streamline, finsler4 trilinear"), "trilinear | bspline | texture (GPU, christoffel)")
    ("integrator", text("rk4"), "euler | rk2-frozen | rk2 | rk4")
    ("step", real(0, "0"),
     "mm, 0.0001 to 100; 0: smallest voxel side / 2, streamline / 4, euler and rk2-frozen / 10")
    ("max-steps", whole(0), "of a ray, 1 to 10000000; 0: as many as --max-length takes")
    ("max-length", real(250, "250"), "of a fibre, 0.001 to 100000 mm; without a limit when only --max-steps is given")
    ("min-length", real(0, "0"), "of a fibre, 0 to 100000 mm; shorter ones are refused")
    ("min-radius", real_by_others("0; streamline the step"), "smallest radius of curvature, 0 to 1000 mm; 0: any")
    ("min-fa", real_by_others("0; streamline 0.15"), "rays end below this fractional anisotropy, 0 to 1; 0: any")
    ("max-drift", real(0, "0"), "rays end where their energy has changed by this part, 0 to 100; 0: any")
    ("no-loop-check", po::bool_switch(), "do not end rays that come back to where they have been")
    ("rays", text_by_others("one-way; streamline, connectome two-way"),
     "one-way | two-way: a fibre is one ray from the seed, or two in opposite directions")
    ("direction-set", text_by_others("sphere; streamline axis"),
     "sphere | cone | random | axis: directions that rays leave a seed in")
    ("directions", whole_by_others("64; axis 1"), "of a seed, 1 to 1000000")
    ("cone", real(45, "45"), "half angle of the cone about the main eigenvector, 0.1 to 90 degrees")
    ("seed", whole(8665904), "random seed, 0 or more");
  // clang-format on
}

void add_selection_options(po::options_description& options) {
  // clang-format off
  options.add_options()
    ("measure", text("ratio"),
     "ratio: Euclidean over Riemannian length; relative: to following the main eigenvector; weakest: on the way")
    ("min-measure", real(0, "0"), "fibres below are refused; unit of --measure, from 0 (relative and weakest: to 1)")
    ("top", whole(0), "best fibres kept of each pair of regions, 1 to 1000000000; 0: all")
    ("distinct", real(0, "0"), "average distance below which two fibres of a pair are one route, 0 to 1000 mm; 0: keep all")
    ("output-step", real(0, "0"), "between the points written, 0.001 to 1000 mm; 0: half the smallest voxel side");
  // clang-format on
}

}  // namespace

void add_ray_options(po::options_description& options) {
  add_way_options(options);
  add_field_options(options);
  add_selection_options(options);
}

}  // namespace voxherd
