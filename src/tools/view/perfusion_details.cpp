#include <algorithm>

#include "kernels/portable/voxel_status.hpp"
#include "src/analyses/perfusion/voxel_curves.hpp"
#include "src/tools/view/item_maps.hpp"
#include "src/tools/view/result_details.hpp"

namespace voxherd::view {

namespace {

using nlohmann::json;

class perfusion_details final : public voxel_details {
 public:
  explicit perfusion_details(const result_reader& r) : maps_(r), curves_(r) {}

  json describe(std::uint64_t voxel) override {
    json j{{"kind", "perfusion"}, {"unit", curves_.unit()}, {"status", maps_.status_text(voxel)}};
    if (!maps_.is_fitted(voxel)) return j;
    const perfusion::time_course& frames = curves_.frames();
    const voxel_curve curve = curves_.look_at(voxel);
    j.update({{"time", frames.time_s},
              {"arterial", frames.arterial},
              {"concentration", curve.concentration},
              {"fit", curve.fit},
              {"sum_of_squares", curve.sum_of_squares},
              {"parameters", maps_.describe(voxel)}});
    const bool has_portal = std::any_of(frames.portal.begin(), frames.portal.end(), [](double c) { return c != 0; });
    if (has_portal) j["portal"] = frames.portal;
    return j;
  }

 private:
  item_maps maps_;
  voxel_curves curves_;
};

}  // namespace

std::unique_ptr<voxel_details> make_perfusion_details(const result_reader& r) {
  return std::make_unique<perfusion_details>(r);
}

}  // namespace voxherd::view
