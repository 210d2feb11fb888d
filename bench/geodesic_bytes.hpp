#pragma once

#include <memory>
#include <span>

#include "kernels/geodesic/tracker.hpp"

namespace voxherd::bench {

/// Scores rays of the christoffel form that read only the first `quads` of the field's six groups of four floats, and
/// take the others to be 0. A step executes the same arithmetic for any number of quads (van Aart 2011, Table 1).
class partial_tracer {
 public:
  virtual ~partial_tracer() = default;
  /// The first `count` fibres, into host memory.
  virtual void score(std::size_t count, const geodesic::score_arrays& out) = 0;
};

/// `quads`: 3 to 6. The field must outlive the tracer. Only on a GPU with interpolation::texture.
std::unique_ptr<partial_tracer> make_partial_tracer_cpu(const geodesic::field& f, std::span<const geodesic::seed> seeds,
                                                        const geodesic::ray_settings& settings, int quads);
std::unique_ptr<partial_tracer> make_partial_tracer_cuda(const geodesic::field& f,
                                                         std::span<const geodesic::seed> seeds,
                                                         const geodesic::ray_settings& settings, int quads);

}  // namespace voxherd::bench
