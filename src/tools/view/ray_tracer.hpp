#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/analyses/geodesic/fibre_scores.hpp"

namespace voxherd::view {

/// Every ray (fibre of one or two rays) of the seeds in a voxel, ranked: the accepted ones first, the best measure
/// first, as a run ranks them.
struct traced_rays {
  std::uint64_t seeds = 0;             ///< of the run, in the voxel
  std::vector<scored_fibre> rays;      ///< regions: numbers of targets, as in pass one
  std::vector<std::uint64_t> offsets;  ///< of the first point of each, then the number of points
  std::vector<float> position_mm;      ///< three numbers per point
  fibre_counts counts;
  double seconds = 0;  ///< without the preparation

  std::uint64_t accepted() const { return counts.verdicts.front(); }
};

/// Traces rays of a finished `voxherd geodesic` again, with its inputs, settings and functions. Reads the inputs at the
/// first request. By one process; for one thread.
class ray_tracer {
 public:
  static constexpr std::uint64_t max_rays = 5000;

  /// All must outlive this. `use_device(d)` has been called.
  ray_tracer(const session& s, const result_reader& r, const device& d);
  ~ray_tracer();

  /// `voxel`: linear index in the file. Throws failure (bad_data): an input no longer exists or has changed, or there
  /// are too many rays.
  traced_rays trace(std::uint64_t voxel);

 private:
  struct prepared;
  prepared& prepare();

  const session& session_;
  const result_reader& result_;
  device device_;
  std::unique_ptr<prepared> prepared_;
};

}  // namespace voxherd::view
