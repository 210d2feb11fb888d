#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernels/portable/gradient_table.hpp"
#include "src/show/draft.hpp"

namespace voxherd::report {

/// The map of status codes, if a voxel has one other than 0.
void add_status_map(result_draft& d);

/// A section with the gradient directions of each shell on the hemisphere, and a warning if they leave a large gap;
/// nothing for a result without gradients.
void add_gradients(result_draft& d);

/// Shells with diffusion weighting.
std::size_t count_weighted_shells(const result_reader& r);

/// "The series had 1 volume at b = 0 and 32 at b = 1000 s/mm2. ", or "".
std::string acquisition_text(const result_reader& r);

/// Volumes with nearly the same b-value.
struct shell {
  double min_b = 0, max_b = 0;
  std::vector<std::size_t> volumes;
  std::vector<std::array<double, 3>> directions;

  bool is_weighted() const;
};

/// The shells of a table, by increasing b-value.
std::vector<shell> find_shells(const gradient_table& table);
/// The table that is stored in a result; empty if it has none.
gradient_table stored_gradients(const result_reader& r);
/// "1000" or "990 to 1010".
std::string b_text(const shell& s);

/// A section with the gradient directions of each shell on the hemisphere, and warnings if they leave a large gap or
/// repeat each other; nothing without gradients.
void add_gradients(draft& d, const gradient_table& table);

/// "The series had 1 volume at b = 0 and 32 at b = 1000 s/mm2. ", or "".
std::string acquisition_text(const gradient_table& table);

}  // namespace voxherd::report
