#include "kernels/ballstick/ballstick.hpp"

#include <fmt/core.h>

#include "core/command.hpp"
#include "src/analyses/ballstick/ballstick_options.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/common/status_counts.hpp"
#include "src/scan/dwi.hpp"

namespace voxherd {

namespace {

using ballstick::field;

class ballstick_runner final : public batch_runner {
 public:
  ballstick_runner(std::unique_ptr<ballstick::estimator> estimator, const std::vector<field>& fields,
                   const std::vector<std::uint64_t>& voxels)
      : estimator_(std::move(estimator)), fields_(fields), voxels_(voxels) {}

  void run(const batch& items, std::span<const std::byte> input,
           std::span<const std::span<std::byte>> outputs) override {
    ballstick::result_view out;
    for (std::size_t i = 0; i < fields_.size(); ++i)
      out.values[fields_[i].id] = reinterpret_cast<float*>(outputs[i].data());
    out.status = reinterpret_cast<std::uint8_t*>(outputs[fields_.size()].data());
    estimator_->run(items.item_count, voxels_.data() + items.first_item, reinterpret_cast<const float*>(input.data()),
                    out);
  }

 private:
  std::unique_ptr<ballstick::estimator> estimator_;
  const std::vector<field>& fields_;
  const std::vector<std::uint64_t>& voxels_;
};

class ballstick_analysis final : public analysis {
 public:
  ballstick_analysis(dwi_series& dwi, const device& d, const ballstick::settings& settings, bool all_samples)
      : dwi_(dwi), device_(d), settings_(settings), fields_(ballstick::fields_of(settings, all_samples)) {}

  std::string name() const override { return "ballstick"; }
  const image_grid& grid() const override { return dwi_.grid(); }
  const std::vector<std::uint64_t>& item_voxels() const override { return dwi_.item_voxels(); }
  std::vector<constant> constants() const override { return dwi_.constants(); }

  std::vector<output_spec> outputs() const override {
    std::vector<output_spec> list;
    for (const field& f : fields_) {
      std::vector<std::uint64_t> shape;
      if (f.width > 1 || f.samples) shape.push_back(f.width);
      const output_layout layout = f.samples ? output_layout::items : output_layout::volume;
      list.push_back({f.name, element_type::float32, shape, layout, f.unit, f.meaning});
    }
    list.push_back(
        {"status", element_type::uint8, {}, output_layout::volume, "code", "0 fitted; else why not (voxel_status)"});
    return list;
  }

  item_input* input() override { return &dwi_; }
  std::unique_ptr<item_counts> make_counts() const override { return std::make_unique<status_counts>(outputs()); }
  std::size_t device_bytes_per_item() const override {
    return ballstick::device_bytes_per_voxel(settings_, dwi_.measurements(), dwi_.has_gradient_deviation());
  }
  std::unique_ptr<batch_runner> make_runner() const override {
    return std::make_unique<ballstick_runner>(
        ballstick::make_estimator(device_, dwi_.gradients(), settings_, dwi_.has_gradient_deviation()), fields_,
        dwi_.item_voxels());
  }
  int lanes() const override { return device_.kind == backend::cuda ? 2 : 1; }
  // A voxel of more than 144 measurements takes a whole warp, so that half as many fill a GPU.
  std::uint64_t last_items_per_batch() const override { return dwi_.measurements() > 144 ? 2048 : 4096; }

 private:
  dwi_series& dwi_;
  device device_;
  ballstick::settings settings_;
  std::vector<field> fields_;
};

void options(po::options_description& description) {
  add_dwi_options(description);
  add_ballstick_options(description);
  add_run_options(description);
}

exit_status run_command(session& s, const arguments& args) { return run_ballstick(s, args); }

}  // namespace

exit_status run_ballstick(session& s, const arguments& args) {
  const ballstick::settings settings = read_ballstick_settings(args);
  run_settings how = read_run_settings(s, args);
  const chosen_device d = choose_device(s, args);

  dwi_series dwi(s, args);
  check_measurements(settings, dwi.gradients(), args);
  add_to_configuration(settings, args, how.configuration);
  how.provenance["inputs"] = dwi.provenance();

  ballstick_analysis fibres(dwi, d, settings, args.get<bool>("all-samples"));
  return run(s, fibres, how, hooks_for(d));
}

extern const command ballstick_command{
    "ballstick",
    "fibre orientations of the ball & stick model by Metropolis sampling (what bedpostX does)",
    "--dwi FILE --bvals FILE --bvecs FILE [--mask FILE] --out FILE",
    "",
    options,
    run_command};

}  // namespace voxherd
