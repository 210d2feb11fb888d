#include "kernels/tensor/tensor.hpp"

#include <fmt/core.h>

#include "core/command.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/common/status_counts.hpp"
#include "src/scan/dwi.hpp"

namespace voxherd {

namespace {

class tensor_runner final : public batch_runner {
 public:
  explicit tensor_runner(std::unique_ptr<tensor_solver> solver) : solver_(std::move(solver)) {}

  void run(const batch& items, std::span<const std::byte> input,
           std::span<const std::span<std::byte>> outputs) override {
    std::size_t next = 0;
    const auto take = [&] { return rows_of<float>(outputs, next++); };
    tensor_outputs out{};  // in the order of tensor_analysis::outputs
    for (float** place : {&out.tensor, &out.S0, &out.FA, &out.MD, &out.AD, &out.RD, &out.V1, &out.V2, &out.V3, &out.L1,
                          &out.L2, &out.L3, &out.residual})
      *place = take();
    out.status = rows_of<std::uint8_t>(outputs, next);
    solver_->fit(items.item_count, reinterpret_cast<const float*>(input.data()), out);
  }

 private:
  std::unique_ptr<tensor_solver> solver_;
};

class tensor_analysis final : public analysis {
 public:
  tensor_analysis(dwi_series& dwi, const device& d, const tensor_settings& settings)
      : dwi_(dwi), device_(d), settings_(settings) {}

  std::string name() const override { return "tensor"; }
  const image_grid& grid() const override { return dwi_.grid(); }
  const std::vector<std::uint64_t>& item_voxels() const override { return dwi_.item_voxels(); }
  std::vector<constant> constants() const override { return dwi_.constants(); }

  std::vector<output_spec> outputs() const override {
    const auto map = [](std::string name, std::vector<std::uint64_t> shape, std::string unit, std::string meaning) {
      return output_spec{name, element_type::float32, shape, output_layout::volume, unit, meaning};
    };
    return {
        map("tensor", {6}, "mm2/s", "diffusion tensor xx, xy, xz, yy, yz, zz along the axes of the bvecs"),
        map("S0", {}, "input", "fitted signal without diffusion weighting"),
        map("FA", {}, "1", "fractional anisotropy"),
        map("MD", {}, "mm2/s", "mean diffusivity"),
        map("AD", {}, "mm2/s", "axial diffusivity, L1"),
        map("RD", {}, "mm2/s", "radial diffusivity, mean of L2 and L3"),
        map("V1", {3}, "1", "eigenvector of L1 along the axes of the bvecs, sign arbitrary"),
        map("V2", {3}, "1", "eigenvector of L2"),
        map("V3", {3}, "1", "eigenvector of L3"),
        map("L1", {}, "mm2/s", "largest eigenvalue"),
        map("L2", {}, "mm2/s", "middle eigenvalue"),
        map("L3", {}, "mm2/s", "smallest eigenvalue"),
        map("residual", {}, "input", "root mean square of signal minus fitted signal"),
        {"status", element_type::uint8, {}, output_layout::volume, "code", "0 fitted; else why not (voxel_status)"},
    };
  }

  item_input* input() override { return &dwi_; }
  std::unique_ptr<item_counts> make_counts() const override { return std::make_unique<status_counts>(outputs()); }
  std::size_t device_bytes_per_item() const override {
    return tensor_device_bytes_per_voxel(dwi_.measurements(), dwi_.has_gradient_deviation());
  }
  std::unique_ptr<batch_runner> make_runner() const override {
    return std::make_unique<tensor_runner>(make_tensor_solver(device_, dwi_.gradients(), settings_));
  }
  int lanes() const override { return device_.kind == backend::cuda ? 2 : 1; }

 private:
  dwi_series& dwi_;
  device device_;
  tensor_settings settings_;
};

void options(po::options_description& description) {
  add_dwi_options(description);
  description.add_options()                                                                        //
      ("fit", po::value<std::string>()->default_value("iwls"), "ols | wls | iwls (iterated WLS)")  //
      ("iterations", po::value<long long>()->default_value(2), "refits of iwls with predicted weights, 1 to 100");
  add_run_options(description);
}

tensor_settings read_settings(const arguments& args) {
  tensor_settings settings;
  const std::string fit = args.get<std::string>("fit");
  if (fit == "ols") {
    settings.weighting = tensor_weighting::ordinary;
  } else if (fit == "wls") {
    settings.weighting = tensor_weighting::weighted;
  } else if (fit != "iwls") {
    throw failure(exit_status::usage, fmt::format("--fit {}: not one of ols, wls, iwls", fit));
  }
  const long long iterations = args.get<long long>("iterations");
  if (iterations < 1 || iterations > 100)
    throw failure(exit_status::usage, fmt::format("--iterations {}: expected 1 to 100", iterations));
  if (args.has("iterations") && settings.weighting != tensor_weighting::iterated)
    throw failure(exit_status::usage, fmt::format("--iterations has no meaning with --fit {}; use --fit iwls", fit));
  settings.iterations = static_cast<int>(iterations);
  return settings;
}

exit_status run_command(session& s, const arguments& args) {
  tensor_settings settings = read_settings(args);
  run_settings how = read_run_settings(s, args);
  const chosen_device d = choose_device(s, args);

  dwi_series dwi(s, args);
  settings.gradient_deviation = dwi.has_gradient_deviation();
  if (!determines_tensor(dwi.gradients()))
    throw failure(exit_status::bad_data,
                  fmt::format("{}: the gradients do not determine a tensor (it needs b=0 and at least six directions "
                              "that are not all on one plane or cone); use another series",
                              args.get<std::string>("bvecs")));
  how.configuration["fit"] = args.get<std::string>("fit");
  if (settings.weighting == tensor_weighting::iterated) how.configuration["iterations"] = settings.iterations;
  how.provenance["inputs"] = dwi.provenance();

  tensor_analysis tensors(dwi, d, settings);
  return run(s, tensors, how, hooks_for(d));
}

}  // namespace

extern const command tensor_command{
    "tensor",
    "diffusion tensors by (iterated weighted) least squares: FA, MD, V1..V3, L1..L3, S0",
    "--dwi FILE --bvals FILE --bvecs FILE [--mask FILE] --out FILE",
    "",
    options,
    run_command};

}  // namespace voxherd
