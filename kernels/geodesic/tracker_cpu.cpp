#include <omp.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>

#include "kernels/geodesic/forms.hpp"
#include "kernels/geodesic/lanes_reader.hpp"
#include "kernels/geodesic/ray_tracer.hpp"
#include "kernels/geodesic/trace_job.hpp"

namespace voxherd::geodesic {

namespace {

/// The lanes of one thread, which takes several fibres at a time: neighbours in the batch start at the same seed and
/// read the same voxels.
struct ray_thread {
  static constexpr std::uint64_t portion = 64;
  std::atomic<std::uint64_t>& next_fibre;
  std::uint64_t at = 0, end = 0;

  template <class Mask>
  bool any(const Mask& m) const {
    return geodesic::any(m);
  }
  template <class Mask>
  bool enough(const Mask& waiting, const Mask&) const {
    return geodesic::any(waiting);
  }
  std::uint64_t next() {
    if (at == end) {
      at = next_fibre.fetch_add(portion, std::memory_order_relaxed);
      end = at + portion;
    }
    return at++;
  }
};

template <class Form>
void run_form(const trace_job& job, const Form& form, int threads) {
  std::atomic<std::uint64_t> next_fibre{0};
#pragma omp parallel num_threads(threads)
  {
    ray_thread lanes{next_fibre};
    ray_tracer<Form>(job, form).run(lanes);
  }
}

template <bool Spline>
void run_reading(const trace_job& job, int threads) {
  using tensor_reader = lanes_reader<8, Spline>;
  switch (job.rays.form) {
    case ray_form::christoffel:
      return run_form(job, christoffel_form<lanes_reader<24, Spline>>{lanes_reader<24, Spline>(job.field)}, threads);
    case ray_form::hamiltonian:
      return run_form(job, hamiltonian_form<tensor_reader>{tensor_reader(job.field)}, threads);
    case ray_form::streamline:
      return run_form(job, streamline_form<tensor_reader>{tensor_reader(job.field)}, threads);
    case ray_form::finsler4:
      return run_form(job, finsler4_form<lanes_reader<16, Spline>>{lanes_reader<16, Spline>(job.field)}, threads);
  }
}

class cpu_tracker final : public tracker {
 public:
  cpu_tracker(const field& f, std::span<const seed> seeds, const ray_settings& settings)
      : job_(begin_job(f, settings)), seeds_(seeds.begin(), seeds.end()), threads_(f.where.threads) {
    job_.seeds = seeds_.data();
  }

  void score(std::uint64_t first, std::size_t count, const score_arrays& out) override {
    trace_job job = job_;
    job.first = first;
    job.count = count;
    job.scores = out;
    run(job);
  }

  void trace(std::span<const std::uint64_t> fibres, const std::uint32_t* steps, std::span<const std::uint64_t> offsets,
             const point_view& out) override {
    trace_job job = job_;
    job.count = fibres.size();
    job.chosen = fibres.data();
    job.steps = steps;
    job.offsets = offsets.data();
    job.points = out;
    if (!fibres.empty()) run(job);
  }

 private:
  void run(const trace_job& job) const {
    if (job.rays.reading == interpolation::bspline) return run_reading<true>(job, threads_);
    run_reading<false>(job, threads_);
  }

  trace_job job_;
  std::vector<seed> seeds_;
  int threads_;
};

}  // namespace

std::unique_ptr<tracker> make_tracker_cpu(const field& f, std::span<const seed> seeds, const ray_settings& settings) {
  if (settings.reading == interpolation::texture)
    throw std::invalid_argument("geodesic: texture interpolation needs a GPU");
  return std::make_unique<cpu_tracker>(f, seeds, settings);
}

}  // namespace voxherd::geodesic
