#pragma once

#include <functional>
#include <memory>

#include "kernels/ballstick/ballstick.hpp"

namespace voxherd::ballstick {

/// These settings for another number of fibres, without the relevance prior.
settings settings_with_fibres(const settings& s, int fibres);

/// Samples each voxel with 1, 2, ... s.fibres fibres and keeps the results of the number whose mean of the samples' log
/// likelihood, less s.least_log_odds per fibre, is largest; outputs of further fibres are zero. A second fibre alone
/// may gain little where there are three. `make`: an estimator with a fixed number of fibres.
///
/// The log evidence is the posterior mean of the log likelihood minus the divergence of the posterior from the prior.
/// The mean already penalises each parameter by about half a unit (p_D / 2 of Spiegelhalter et al., J R Stat Soc B
/// 64:583, 2002); the threshold stands for the change of the divergence.
std::unique_ptr<estimator> make_odds_estimator(const settings& s,
                                               const std::function<std::unique_ptr<estimator>(const settings&)>& make);

}  // namespace voxherd::ballstick
