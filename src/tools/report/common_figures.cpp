#include "src/tools/report/common_figures.hpp"

#include <algorithm>

#include "kernels/portable/voxel_status.hpp"
#include "src/tools/report/gradient_shells.hpp"
#include "src/tools/report/pictures.hpp"

namespace voxherd::report {

void add_status_map(result_draft& d) {
  if (!d.out.numbers.contains("status")) return;
  const auto& counts = d.out.numbers.at("status");
  if (counts.size() == counts.count("0")) return;
  std::vector<std::pair<int, std::string>> meanings;
  for (const voxel_status_text& text : voxel_status_texts)
    if (text.status != voxel_status::fitted)
      meanings.emplace_back(static_cast<int>(text.status), std::string(text.meaning));
  add_codes(d, "status", meanings, "Dark grey voxels were fitted.");
}

void add_gradients(result_draft& d) { add_gradients(d, stored_gradients(d.result)); }

std::size_t count_weighted_shells(const result_reader& r) {
  const std::vector<shell> shells = find_shells(stored_gradients(r));
  return static_cast<std::size_t>(
      std::count_if(shells.begin(), shells.end(), [](const shell& s) { return s.is_weighted(); }));
}

std::string acquisition_text(const result_reader& r) { return acquisition_text(stored_gradients(r)); }

void cite_ball_and_stick(draft& d) {
  d.cite(
      "Behrens TEJ et al. Characterization and propagation of uncertainty in diffusion-weighted MR imaging. Magn Reson "
      "Med 50:1077-1088, 2003.",
      "10.1002/mrm.10609");
  d.cite(
      "Behrens TEJ et al. Probabilistic diffusion tractography with multiple fibre orientations: what can we gain? "
      "NeuroImage 34:144-155, 2007.",
      "10.1016/j.neuroimage.2006.09.018");
}

}  // namespace voxherd::report
