#include "src/show/anatomy.hpp"

#include <algorithm>
#include <cmath>

#include "core/failure.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/nifti/companion.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd::report {

namespace {

nlohmann::json find_series(const result_reader& r) {
  return r.provenance().value("inputs", nlohmann::json::object()).value("dynamic", nlohmann::json::object());
}

/// Adds every step-th volume of the files, and returns how many.
std::uint64_t add_volumes(const std::vector<nifti_header>& files, std::uint64_t step, std::vector<float>& sum) {
  std::vector<float> volume(sum.size());
  std::uint64_t number = 0, added = 0;
  for (const nifti_header& header : files) {
    nifti_reader reader(header);
    for (std::uint64_t k = 0; k < header.volumes; ++k) {
      if (number++ % step != 0) continue;
      reader.read(k, 0, volume.size(), volume.data());
      for (std::size_t v = 0; v < sum.size(); ++v) sum[v] += std::isfinite(volume[v]) ? volume[v] : 0;
      ++added;
    }
  }
  return added;
}

}  // namespace

bool has_anatomy(const result_reader& r) {
  const nlohmann::json series = find_series(r);
  return !series.empty() && describe_change(series).empty();
}

std::vector<float> read_anatomy(const result_reader& r) {
  constexpr std::uint64_t enough = 16;
  if (!has_anatomy(r)) return {};
  try {
    const nlohmann::json inputs = r.provenance().value("inputs", nlohmann::json::object());
    std::vector<nifti_header> files;
    std::uint64_t volumes = 0;
    for (const std::string& path : list_input_files(find_series(r))) {
      files.push_back(read_nifti_header(path));
      volumes += files.back().volumes;
      if (!bring_unchecked(files.back(), r.grid(), inputs.value("image", nlohmann::json()))) return {};
    }
    std::vector<float> mean(r.grid().voxel_count());
    const std::uint64_t added = add_volumes(files, (volumes + enough - 1) / enough, mean);
    for (float& v : mean) v /= static_cast<float>(std::max<std::uint64_t>(1, added));
    return mean;
  } catch (const failure&) {
    return {};  // the result can be shown without
  }
}

}  // namespace voxherd::report
