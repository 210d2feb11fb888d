#include "src/tools/view/traced_answer.hpp"

#include <string_view>

#include "src/tools/view/answers.hpp"

namespace voxherd::view {

namespace {

using nlohmann::json;

/// Numbers of all rays, with the names, units and meanings of the result's outputs.
class ray_measures {
 public:
  explicit ray_measures(const std::vector<scored_fibre>& rays) : rays_(rays) {}

  template <output_name Name>
  void add() {
    for (const output& o : geodesic::fibre_scores::table)
      if (std::string_view(o.name) == std::string_view(Name.text))
        names.push_back({{"name", o.name}, {"unit", o.unit}, {"meaning", o.meaning}});
    for (const scored_fibre& f : rays_) values.push_back(static_cast<float>(f.scores.get<Name>()));
  }

  json names = json::array();
  std::vector<float> values;  ///< one measure after the other

 private:
  const std::vector<scored_fibre>& rays_;
};

}  // namespace

std::string send_traced(const traced_rays& t, std::uint32_t voxel) {
  ray_measures measures(t.rays);
  measures.add<"verdict">();
  measures.add<"measure">();
  measures.add<"length_mm">();
  measures.add<"metric_length">();
  measures.add<"relative">();
  measures.add<"weakest">();
  measures.add<"mean_FA">();
  measures.add<"drift">();
  std::string block = begin_block({{"fibres", t.rays.size()},
                                   {"points", t.offsets.back()},
                                   {"stored", t.rays.size()},
                                   {"measures", measures.names},
                                   {"along", json::array()},
                                   {"seeds", t.seeds},
                                   {"accepted", t.accepted()},
                                   {"counts", counts_as_json(t.counts).at("fibres")},
                                   {"seconds", t.seconds}});
  append(block, std::vector<std::uint32_t>(t.offsets.begin(), t.offsets.end()));
  append(block, t.position_mm);
  append(block, std::vector<std::uint32_t>(t.rays.size(), voxel));
  append(block, measures.values);
  return block;
}

}  // namespace voxherd::view
