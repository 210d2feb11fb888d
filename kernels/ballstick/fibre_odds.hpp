#pragma once

#include <functional>
#include <memory>

#include "kernels/ballstick/ballstick.hpp"

namespace voxherd::ballstick {

/// These settings for another number of fibres, without the relevance prior.
settings settings_with_fibres(const settings& s, int fibres);

/// Samples each voxel with 1, 2, ... s.fibres fibres and keeps the results of the largest number whose last fibre, and
/// each one before it, raises the mean of the samples' log likelihood by at least s.least_log_odds; outputs of further
/// fibres are zero. `make`: an estimator with a fixed number of fibres.
///
/// The mean of the log likelihood is the part of the log evidence that depends on the data; the gain penalises a
/// parameter by half a unit, as its scatter lowers the mean (the term p_D / 2 of Spiegelhalter et al., J R Stat Soc B
/// 64:583, 2002). The threshold is the remaining penalty, of a prior volume; docs/truth.md compares values.
std::unique_ptr<estimator> make_odds_estimator(const settings& s,
                                               const std::function<std::unique_ptr<estimator>(const settings&)>& make);

}  // namespace voxherd::ballstick
