#include "src/analyses/track/sample_check.hpp"

#include <fmt/core.h>

#include <array>

#include "core/failure.hpp"

namespace voxherd {

namespace {

std::string part_text(std::uint64_t part, std::uint64_t all) { return fmt::format("{} of {} values", part, all); }

void refuse_bad_fibre(const track::packed_values& seen, const std::array<std::string, 3>& names) {
  const std::uint64_t all = seen.values;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (seen.not_finite[i] > 0)
      refuse_data(
          "{}: {} are NaN, infinite or above {:g}, expected none where streamlines may run; "
          "sample these voxels again, or leave them out of the mask",
          names[i], part_text(seen.not_finite[i], all), static_cast<double>(track::largest_sample));
  // A Markov chain may turn an angle further than once, but seldom does.
  for (std::size_t i = 0; i < seen.wide.size(); ++i)
    if (2 * seen.wide[i] > all)
      refuse_data("{}: {} are beyond 2 pi, expected radians; are they degrees?", names[i],
                  part_text(seen.wide[i], all));
  if (seen.no_share > 0)
    refuse_data("{}: {} are outside 0 to 1, expected volume fractions; are they per cent?", names[2],
                part_text(seen.no_share, all));
  if (seen.unequal == 0 && seen.changes > 0)
    refuse_data("{}: all {} values are those of {}, expected the other angle; is one a copy of the other?", names[1],
                all, names[0]);
}

}  // namespace

void sample_check::add(std::size_t fibre, const track::packed_values& seen) {
  if (fibres_.size() <= fibre) fibres_.resize(fibre + 1);
  fibres_[fibre] += seen;
}

void sample_check::add(const sample_check& other) {
  for (std::size_t k = 0; k < other.fibres_.size(); ++k) add(k, other.fibres_[k]);
  overfull_ += other.overfull_;
}

void sample_check::refuse_bad(const std::vector<std::string>& names) const {
  for (std::size_t k = 0; k < fibres_.size(); ++k)
    refuse_bad_fibre(fibres_[k], {names[3 * k], names[3 * k + 1], names[3 * k + 2]});
  if (overfull_ > 0)
    refuse_data(
        "{} and the other fractions: {} have a sum above 1, expected at most 1; do they belong to one "
        "model?",
        names[2], part_text(overfull_, fibres_.front().values));
}

}  // namespace voxherd
