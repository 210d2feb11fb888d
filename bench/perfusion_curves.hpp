#pragma once

#include <vector>

#include "kernels/perfusion/settings.hpp"
#include "kernels/perfusion/time_course.hpp"
#include "tests/perfusion/reference/perfusion_reference.hpp"

namespace voxherd::bench {

using reference::perfusion_parameters;

/// The truth of Wang & Cao, Phys Med Biol 57:5601, 2012: kl 400, ka 20, kp 100 ml/100 g/min, delays 1 and 2 s.
inline constexpr perfusion_parameters paper_truth{400 / perfusion::per_second, 20 / perfusion::per_second,
                                                  100 / perfusion::per_second, 1, 2};

/// Numbers of frames in the paper's figures and tables; 48 frames of 2.37 s are its patients', the others cover 120 s.
inline constexpr int paper_frames[] = {32, 48, 64, 128, 256, 320, 448};

/// A population's aorta, where the agent arrives at 10 s, and the portal vein that follows it
/// (kernels/phantom/phantom_signals.hpp), mM: sampled every second, as by a scanner, then interpolated linearly at the
/// frames.
perfusion::time_course paper_inputs(int frames);

/// The tissue's concentration at every frame, mM: the model of tests/perfusion/reference, but in time linear in the
/// number of frames. Only evenly spaced frames.
std::vector<double> tissue_curve(const perfusion::time_course& frames, const perfusion_parameters& p,
                                 perfusion::discretisation_kind how);

/// Cramer-Rao minimum standard deviations of an unbiased estimate of all five parameters, for white noise of this
/// standard deviation in the tissue's concentrations and noise-free inputs.
perfusion_parameters min_deviations(const perfusion::time_course& frames, const perfusion_parameters& p,
                                    perfusion::discretisation_kind how, double noise_sd);

}  // namespace voxherd::bench
