#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/io/nifti/nifti.hpp"
#include "src/tools/report/gradient_shells.hpp"
#include "src/tools/report/image_draft.hpp"

namespace voxherd::report {

/// What one volume shows inside the object.
struct volume_facts {
  double mean = 0, noise = 0;
  std::vector<double> slice_mean;  ///< along the file's third axis; NaN for slices at the object's ends
};

/// Sums over the volumes of a shell.
struct volume_sums {
  std::vector<double> sum, squares;
};

struct scan {
  nifti_header header;
  gradient_table table;
  std::vector<shell> shells;  ///< one with all volumes if there are no gradients
  std::vector<std::uint64_t> inside;
  std::vector<volume_facts> volumes;
  std::vector<volume_sums> sums;
  bool has_gradients() const { return table.size() > 0; }
};

/// Reads all volumes once. Throws failure (missing_input, bad_data).
scan read_scan(const scan_files& files);

// Of shell number i: the median of its volumes' noise, and the median over voxels of its mean signal.
double shell_noise(const scan& s, std::size_t i);
double shell_signal(const scan& s, std::size_t i);

/// (volume, slice): mean signal divided by the median of the same slice in its shell; NaN where it is not known.
std::vector<std::vector<double>> find_slice_ratios(const scan& s);

}  // namespace voxherd::report
