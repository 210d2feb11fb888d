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

}  // namespace voxherd::report
