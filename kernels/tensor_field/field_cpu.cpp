#include <algorithm>
#include <vector>

#include "kernels/tensor_field/field_machine_cpu.hpp"

namespace voxherd::tensor_field {

namespace {

class cpu_field_maker final : public field_maker {
 public:
  cpu_field_maker(const device& d, const tensor_image& grid, const preparation& settings)
      : grid_{grid.size, grid.axes_mm, grid.origin_mm, {}, grid.inside},
        settings_(settings),
        chosen_(prepare::unit_voxels(grid.inside)),
        recipe_(prepare::make_recipe(grid_, {}, settings, field_kind::tensor, false)),
        threads_(d.threads),
        tensors_(6 * grid.inside.size()),
        work_(grid.inside.size(), prepare::first_floats(recipe_), prepare::second_floats(recipe_)),
        made_(grid.inside.size(), static_cast<std::size_t>(field_floats(field_kind::tensor)),
              prepare::make_view(grid)) {
    made_.where = d;
  }

  float* tensors() override { return tensors_.data(); }

  const field& make() override {
    std::vector<float> sample;
    for (const std::size_t v : chosen_) sample.insert(sample.end(), &tensors_[6 * v], &tensors_[6 * v] + 6);
    recipe_ = prepare::make_recipe(grid_, sample, settings_, field_kind::tensor, false);
    work_.prepare(threads_, tensors_.data(), grid_.inside.data(), nullptr, made_,
                  [&](cpu_machine& machine, const prepare::workspace& w) { prepare_field(machine, recipe_, w); });
    made_.scale = recipe_.scale;
    return made_;
  }

 private:
  tensor_image grid_;
  preparation settings_;
  std::vector<std::uint32_t> chosen_;
  prepare::recipe recipe_;
  int threads_;
  std::vector<float> tensors_;
  cpu_workshop work_;
  cpu_field made_;
};

}  // namespace

std::unique_ptr<field> make_field_cpu(const device& d, const tensor_image& image,
                                      std::span<const std::uint32_t> regions, const prepare::recipe& r) {
  return make_field_on_cpu(
      d, image, regions, r, prepare::first_floats(r), prepare::second_floats(r),
      [&](cpu_machine& machine, const prepare::workspace& w) { prepare::prepare_field(machine, r, w); });
}

std::unique_ptr<field_maker> make_field_maker_cpu(const device& d, const tensor_image& grid,
                                                  const preparation& settings) {
  return std::make_unique<cpu_field_maker>(d, grid, settings);
}

}  // namespace voxherd::tensor_field
