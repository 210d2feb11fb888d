#include <fmt/core.h>

#include <algorithm>
#include <future>
#include <thread>

#include "bench/ballstick_problem.hpp"
#include "bench/geodesic_problem.hpp"
#include "bench/perfusion_problem.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::bench;

/// Every device has its own voxels, as ranks do, and its own thread.
class problem_on_all final : public problem {
 public:
  using maker = std::function<std::unique_ptr<problem>(const device&)>;

  problem_on_all(int devices, const maker& make) {
    for (int i = 0; i < devices; ++i) parts_.push_back(make(device{backend::cuda, 1, i}));
  }

  void run() override {
    std::vector<std::future<void>> running;
    for (const auto& part : parts_) running.push_back(std::async(std::launch::async, [&part] { part->run(); }));
    for (auto& r : running) r.get();
  }

  std::string find_error() const override {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::string why = parts_[i]->find_error();
      if (!why.empty()) return fmt::format("GPU {}: {}", i, why);
    }
    return {};
  }

  std::size_t voxels() const override { return parts_.size() * parts_.front()->voxels(); }

 private:
  std::vector<std::unique_ptr<problem>> parts_;
};

/// 1, 2, 4, ... and `max`.
std::vector<int> doublings(int most) {
  std::vector<int> list;
  for (int n = 1; n < most; n *= 2) list.push_back(n);
  list.push_back(most);
  return list;
}

/// K=137, model 1, 1000+1250 jumps, the same number of voxels per device.
ballstick_case share(std::size_t voxels, int fibres = 3) {
  ballstick_case c;
  c.measurements = 137;
  c.settings.fibres = fibres;
  c.settings.model = ballstick::diffusion_model::mono_exponential;
  c.voxels = voxels;
  return c;
}

/// 2048 Hamiltonian fibres per thread through a field of 33 MB.
void add_geodesic_cores(const std::vector<int>& threads) {
  const wave_run how{geodesic::ray_form::hamiltonian, geodesic::interpolation::trilinear, geodesic::integrator::rk2,
                     0.2f, 512};
  for (const int n : threads)
    add_benchmark(fmt::format("geodesic/by_cores/{}", n), [n, how] {
      return make_wave_problem({backend::cpu, n, 0}, {256, 64, 64}, how, 2048 * static_cast<std::size_t>(n));
    });
}

/// The third patient of Wang & Cao 2012, on a GPU; one core takes seconds for a twentieth of it.
constexpr std::size_t liver_voxels = 638728, core_liver_voxels = 32768;

/// One liver divided among N devices, and a liver for each of them. `make(n, run)`: the problem of n devices.
template <class Make>
void add_livers(const std::string& group, const std::vector<int>& counts, std::size_t voxels, const Make& make) {
  for (const std::string method : {"simplex-paper", "lm"})
    for (const auto& [name, divided] : {std::pair{"one_liver", true}, std::pair{"liver_each", false}})
      for (const int n : counts) {
        const std::size_t part = divided ? std::max<std::size_t>(1, voxels / static_cast<std::size_t>(n)) : voxels;
        add_benchmark(fmt::format("perfusion/{}/{}/{}/{}", group, method, name, n), [=] {
          return make(n, perfusion_run{perfusion_method_named(method), 48, part, perfusion_truth::paper});
        });
      }
}

void add_cores(const bench_options& o) {
  const unsigned all = std::max(1u, std::thread::hardware_concurrency());
  const std::vector<int> threads = doublings(o.threads_given ? o.chosen.threads : static_cast<int>(all));
  add_geodesic_cores(threads);
  add_livers("by_cores", threads, o.voxels > 0 ? o.voxels : core_liver_voxels, [](int n, perfusion_run how) {
    how.voxels *= static_cast<std::size_t>(n);
    return make_perfusion_problem({backend::cpu, n, 0}, how);
  });
  for (const int n : threads) {
    const ballstick_case c = share(static_cast<std::size_t>(n) * (o.voxels > 0 ? o.voxels : 192));
    add_benchmark(fmt::format("ballstick/by_cores/{}", n), [n, c] {
      return std::make_unique<ballstick_problem>(device{backend::cpu, n, 0}, c);
    });
  }
  for (const int fibres : {1, 2, 3, 4})
    for (const int n : {1, 2, 4}) {
      if (n > threads.back()) continue;
      const ballstick_case c = share(static_cast<std::size_t>(n) * (o.voxels > 0 ? o.voxels : 192), fibres);
      add_benchmark(fmt::format("ballstick/fibres_by_cores/L{}/{}", fibres, n), [n, c] {
        return std::make_unique<ballstick_problem>(device{backend::cpu, n, 0}, c);
      });
    }
}

std::unique_ptr<problem> make_chains(int gpus, const ballstick_case& each) {
  return std::make_unique<problem_on_all>(
      gpus, [&](const device& d) { return std::make_unique<ballstick_problem>(d, each); });
}

void add_devices(const bench_options& o) {
  const std::vector<int> gpus = doublings(static_cast<int>(visible_gpus().size()));
  const std::size_t voxels = o.voxels > 0 ? o.voxels : 256 * 132;
  for (const int n : gpus)
    add_benchmark(fmt::format("ballstick/by_devices/{}", n), [=] { return make_chains(n, share(voxels)); });
  for (const int fibres : {1, 2, 3, 4})
    for (const int n : gpus)
      add_benchmark(fmt::format("ballstick/fibres_by_devices/L{}/{}", fibres, n),
                    [=] { return make_chains(n, share(voxels, fibres)); });
  add_livers("by_devices", gpus, o.voxels > 0 ? o.voxels : liver_voxels, [](int n, const perfusion_run& each) {
    return std::make_unique<problem_on_all>(n, [&](const device& d) { return make_perfusion_problem(d, each); });
  });
}

}  // namespace

int main(int argc, char** argv) {
  return run_benchmarks(argc, argv,
                        [](const bench_options& o) { o.chosen.kind == backend::cuda ? add_devices(o) : add_cores(o); });
}
