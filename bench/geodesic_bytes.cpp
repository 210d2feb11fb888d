#include "bench/geodesic_bytes.hpp"

#include <stdexcept>
#include <vector>

#include "bench/geodesic_bytes_reader.hpp"
#include "kernels/geodesic/forms.hpp"
#include "kernels/geodesic/ray_tracer.hpp"

namespace voxherd::bench {

float left_out[12] = {};

namespace {

using namespace geodesic;

struct one_ray {
  std::uint64_t at = 0;
  bool any(bool value) const { return value; }
  bool enough(bool waiting, bool) const { return waiting; }
  std::uint64_t next() { return at++; }
};

template <int Quads>
void score_all(const trace_job& job) {
  using form = christoffel_form<partial_reader<Quads>>;
  one_ray team;
  ray_tracer<form>(job, form{partial_reader<Quads>(job.field)}).run(team);
}

/// One ray at a time on one thread, as a GPU's thread does.
class cpu_tracer final : public partial_tracer {
 public:
  cpu_tracer(const field& f, std::span<const seed> seeds, const ray_settings& settings, int quads)
      : job_(begin_job(f, settings)), seeds_(seeds.begin(), seeds.end()), quads_(quads) {
    job_.seeds = seeds_.data();
  }

  void score(std::size_t count, const score_arrays& out) override {
    job_.count = count;
    job_.scores = out;
    constexpr void (*of_quads[])(const trace_job&) = {score_all<3>, score_all<4>, score_all<5>, score_all<6>};
    of_quads[quads_ - 3](job_);
  }

 private:
  trace_job job_;
  std::vector<seed> seeds_;
  int quads_;
};

}  // namespace

std::unique_ptr<partial_tracer> make_partial_tracer_cpu(const field& f, std::span<const seed> seeds,
                                                        const ray_settings& settings, int quads) {
  if (settings.reading == interpolation::texture) throw std::invalid_argument("geodesic: textures need a GPU");
  return std::make_unique<cpu_tracer>(f, seeds, settings, quads);
}

}  // namespace voxherd::bench
