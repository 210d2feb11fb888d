#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/ballstick/reference/ballstick_reference.hpp"
#include "tests/portable/reference/jacobi_eigen.hpp"

namespace voxherd::reference {
namespace {

/// The same direction with both angles in [-pi, pi]. Folding th into [0, pi] as well would mirror the next proposals.
void wrap_angles(ballstick_parameters& p, int fibre) {
  p.th[fibre] = std::remainder(p.th[fibre], 2 * std::numbers::pi);
  p.ph[fibre] = std::remainder(p.ph[fibre], 2 * std::numbers::pi);
}

double first_proposal(const ballstick_parameters& start, scalar what) {
  switch (what) {
    case scalar::s0:
      return start.s0 / 10;
    case scalar::d:
      return start.d / 10;
    case scalar::d_std:
      return start.d_std / 10;
    case scalar::ratio:
      return start.ratio / 10;
    case scalar::tau:
      return start.tau / 2;
    default:
      return 0.2;
  }
}

struct proposal {
  double sd;
  int accepted = 0, rejected = 0;
  long all_accepted = 0;
};

void adapt(proposal& p) {
  p.sd = std::min(p.sd * std::sqrt((p.accepted + 1.0) / (p.rejected + 1.0)), 1e10);
  p.accepted = p.rejected = 0;
}

std::array<double, 3> direction(const ballstick_parameters& p, int k) {
  return {std::sin(p.th[k]) * std::cos(p.ph[k]), std::sin(p.th[k]) * std::sin(p.ph[k]), std::cos(p.th[k])};
}

/// Principal axis of the mean of x x^T, and 1 - its eigenvalue.
void summarise_direction(ballstick_posterior& posterior, int k) {
  square_matrix mean(3);
  for (const ballstick_parameters& p : posterior.samples) {
    const auto x = direction(p, k);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) mean(i, j) += x[i] * x[j] / static_cast<double>(posterior.samples.size());
  }
  const eigen_system e = jacobi_eigen(mean);
  for (int axis = 0; axis < 3; ++axis) posterior.dyads[k][axis] = e.vectors(axis, 0);
  posterior.dispersion[k] = 1 - e.values[0];
}

ballstick_parameters parameter_mean(const std::vector<ballstick_parameters>& samples) {
  ballstick_parameters mean;
  const double n = static_cast<double>(samples.size());
  for (const ballstick_parameters& p : samples) {
    mean.s0 += p.s0 / n;
    mean.d += p.d / n;
    mean.d_std += p.d_std / n;
    mean.ratio += p.ratio / n;
    mean.f0 += p.f0 / n;
    mean.tau += p.tau / n;
    for (int k = 0; k < max_fibres; ++k) mean.f[k] += p.f[k] / n;
  }
  return mean;
}

void sort_by_mean_fraction(ballstick_posterior& posterior, int fibres) {
  const ballstick_parameters mean = parameter_mean(posterior.samples);
  posterior.order = {0, 1, 2, 3};
  std::stable_sort(posterior.order.begin(), posterior.order.begin() + fibres,
                   [&](int i, int j) { return mean.f[i] > mean.f[j]; });
  for (ballstick_parameters& p : posterior.samples) {
    const ballstick_parameters before = p;
    for (int k = 0; k < fibres; ++k) {
      p.f[k] = before.f[posterior.order[k]];
      p.th[k] = before.th[posterior.order[k]];
      p.ph[k] = before.ph[posterior.order[k]];
    }
  }
}

}  // namespace

std::vector<update> jump_updates(const ballstick_settings& settings) {
  std::vector<update> updates;
  if (settings.unattenuated) updates.push_back({scalar::f0});
  if (settings.rician) updates.push_back({scalar::tau});
  updates.push_back({scalar::d});
  if (settings.model >= 2) updates.push_back({scalar::d_std});
  if (settings.model == 3) updates.push_back({scalar::ratio});
  updates.push_back({scalar::s0});
  for (int k = 0; k < settings.fibres; ++k)
    for (const scalar what : {scalar::th, scalar::ph, scalar::f}) updates.push_back({what, k});
  return updates;
}

double& parameter_value(ballstick_parameters& p, const update& u) {
  switch (u.what) {
    case scalar::f0:
      return p.f0;
    case scalar::tau:
      return p.tau;
    case scalar::d:
      return p.d;
    case scalar::d_std:
      return p.d_std;
    case scalar::ratio:
      return p.ratio;
    case scalar::s0:
      return p.s0;
    case scalar::th:
      return p.th[u.fibre];
    case scalar::ph:
      return p.ph[u.fibre];
    case scalar::f:
      break;
  }
  return p.f[u.fibre];
}

ballstick_posterior sample_ballstick(const ballstick_settings& settings, const gradient_table& gradients,
                                     const std::vector<double>& measured, const ballstick_parameters& start,
                                     const draw_source& draw) {
  const std::vector<update> updates = jump_updates(settings);
  std::vector<proposal> proposals;
  for (const update& u : updates) proposals.push_back({first_proposal(start, u.what)});

  ballstick_posterior posterior;
  ballstick_parameters now = start;
  double energy = posterior_energy(settings, now, gradients, measured);
  const int all_jumps = settings.burn_in + settings.jumps;
  for (int jump = 0; jump < all_jumps; ++jump) {
    for (std::size_t u = 0; u < updates.size(); ++u) {
      const auto [normal, uniform] = draw(jump, static_cast<int>(u));
      ballstick_parameters proposed = now;
      parameter_value(proposed, updates[u]) += normal * proposals[u].sd;
      const double proposed_energy = posterior_energy(settings, proposed, gradients, measured);
      if (std::exp(energy - proposed_energy) > uniform) {
        now = proposed;
        energy = proposed_energy;
        wrap_angles(now, updates[u].fibre);
        ++proposals[u].accepted;
        ++proposals[u].all_accepted;
      } else {
        ++proposals[u].rejected;
      }
    }
    if ((jump + 1) % settings.adapt_every == 0) std::for_each(proposals.begin(), proposals.end(), adapt);
    const int sampled = jump + 1 - settings.burn_in;
    if (sampled > 0 && sampled % settings.sample_every == 0) posterior.samples.push_back(now);
  }
  for (const proposal& p : proposals) posterior.acceptance.push_back(static_cast<double>(p.all_accepted) / all_jumps);
  sort_by_mean_fraction(posterior, settings.fibres);
  posterior.mean = parameter_mean(posterior.samples);
  for (int k = 0; k < settings.fibres; ++k) summarise_direction(posterior, k);
  return posterior;
}

}  // namespace voxherd::reference
