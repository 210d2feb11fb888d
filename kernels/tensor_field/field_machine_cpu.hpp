#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <new>

#include "kernels/device/each_cpu.hpp"
#include "kernels/tensor_field/field.hpp"
#include "kernels/tensor_field/prepare_pipeline.hpp"

/// Prepares and stores fields on CPU threads. Each kind of field has a unit of its own: a function rounds as the
/// compiler merges its operations, which depends on what else is in the unit.
namespace voxherd::tensor_field {

/// Memory aligned to cache lines; large arrays use large pages if the system has them, because rays read all over a
/// field and each page of 4 kB would need a look-up.
template <class T>
class aligned_array {
 public:
  explicit aligned_array(std::size_t count)
      : alignment_(count * sizeof(T) < large_page ? line : large_page),
        first_(count ? static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{alignment_})) : nullptr) {
#if defined(MADV_HUGEPAGE)
    if (alignment_ == large_page) madvise(first_, count * sizeof(T), MADV_HUGEPAGE);
#endif
  }
  ~aligned_array() { ::operator delete (first_, std::align_val_t{alignment_}); }
  aligned_array(const aligned_array&) = delete;
  aligned_array& operator=(const aligned_array&) = delete;
  T* data() const { return first_; }

 private:
  static constexpr std::size_t line = 64, large_page = 2 << 20;
  std::size_t alignment_;
  T* first_;
};

class cpu_machine {
 public:
  static constexpr int lines_at_a_time = 8;
  explicit cpu_machine(int threads) : threads_(threads) {}

  template <class Callable>
  void each(std::uint32_t count, const Callable& callable) const {
    each_on_cpu(threads_, count, callable);
  }

  void count_repaired(const prepare::tensor_state* state, std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i) repaired += prepare::was_repaired(state[i]);
  }

  std::uint64_t repaired = 0;

 private:
  int threads_;
};

class cpu_field final : public field {
 public:
  cpu_field(std::size_t voxels, std::size_t floats, const field_view& view)
      : values_(voxels * floats), facts_(voxels), view_(view) {
    view_.values = values_.data();
    view_.facts = facts_.data();
  }

  field_view view() const override { return view_; }
  float* values() { return values_.data(); }
  voxel_facts* facts() { return facts_.data(); }

 private:
  aligned_array<float> values_;
  aligned_array<voxel_facts> facts_;
  field_view view_;
};

/// Memory of a preparation on CPU threads: blocks of `first_floats` and `second_floats` per voxel, and states.
class cpu_workshop {
 public:
  cpu_workshop(std::size_t voxels, std::size_t first_floats, std::size_t second_floats)
      : first_(first_floats * voxels), second_(second_floats * voxels), before_(voxels), after_(voxels) {}

  /// Runs `run(machine, workspace)`. `regions` may be null.
  template <class Run>
  void prepare(int threads, const float* measured, const std::uint8_t* inside, const std::uint32_t* regions,
               cpu_field& to, const Run& run) const {
    const auto begin = std::chrono::steady_clock::now();
    cpu_machine machine(threads);
    run(machine, prepare::workspace{measured,
                                    inside,
                                    regions,
                                    first_.data(),
                                    second_.data(),
                                    {before_.data(), after_.data()},
                                    to.values(),
                                    to.facts()});
    to.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    to.repaired = machine.repaired;
  }

 private:
  aligned_array<float> first_, second_;
  aligned_array<prepare::tensor_state> before_, after_;
};

/// Prepares one field.
template <class Run>
std::unique_ptr<field> make_field_on_cpu(const device& d, const tensor_image& image,
                                         std::span<const std::uint32_t> regions, const prepare::recipe& r,
                                         std::size_t first_floats, std::size_t second_floats, const Run& run) {
  const std::size_t n = r.size.voxels();
  auto made = std::make_unique<cpu_field>(n, static_cast<std::size_t>(field_floats(r.kind)), prepare::make_view(image));
  cpu_workshop(n, first_floats, second_floats)
      .prepare(d.threads, image.tensor.data(), image.inside.data(), regions.empty() ? nullptr : regions.data(), *made,
               run);
  return made;
}

}  // namespace voxherd::tensor_field
