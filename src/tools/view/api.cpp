#include "src/tools/view/api.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <cmath>

#include "core/version.hpp"
#include "src/tools/view/answers.hpp"
#include "src/tools/view/glyphs.hpp"
#include "src/tools/view/trx_answer.hpp"

namespace voxherd::view {

namespace {

using nlohmann::json;

json describe_metric(const chosen_metric& m) {
  return {{"metric", metric_name(m.metric)},
          {"alpha", m.alpha},
          {"smooth", m.smoothing_voxels},
          {"max_ratio", m.max_ratio}};
}

json describe_curve(const pathway& p) {
  json curve{{"epsilon", json::array()}, {"voxels", json::array()}, {"mean_FA", json::array()}};
  for (const pathway_extent& e : p.curve) {
    curve["epsilon"].push_back(e.epsilon);
    curve["voxels"].push_back(e.voxels);
    curve["mean_FA"].push_back(e.mean_FA);
  }
  return curve;
}

/// The inputs as options of connect, and the settings that the page cannot change.
std::vector<std::string> input_words(const connect_request& r) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  const auto& series = r.tensors.series;
  add("--dwi", series.dwi);
  add("--bvals", series.bvals);
  add("--bvecs", series.bvecs);
  add("--grad-dev", series.gradient_deviation);
  add("--tensor", r.tensors.tensor);
  if (r.tensors.tensor_from == tensor_origin::fsl) add("--tensor-from", "fsl");
  if (r.tensors.tensor_from == tensor_origin::mrtrix) add("--tensor-from", "mrtrix");
  add("--mask", series.mask);
  add("--within", r.within);
  if (r.scheme == connect::scheme_kind::godunov27) add("--scheme", "godunov27");
  if (r.scheme == connect::scheme_kind::hl26) add("--scheme", "hl26");
  if (r.order == 1 && r.scheme == connect::scheme_kind::selling) add("--order", "1");
  if (r.tolerance != connect_request().tolerance) add("--tolerance", fmt::format("{}", r.tolerance));
  return words;
}

/// 4xx: the request or the data are wrong; 500: voxherd failed.
unsigned http_status(exit_status s) {
  if (s == exit_status::usage) return 400;
  return s == exit_status::bad_data ? 422 : 500;
}

}  // namespace

api::api(shown_data& data, std::unique_ptr<connection_solver> solver, std::string why_none,
         std::vector<region_entry> regions, std::string device_text, nlohmann::json scene)
    : data_(data),
      solver_(std::move(solver)),
      why_none_(std::move(why_none)),
      regions_(std::move(regions)),
      device_(std::move(device_text)),
      scene_(std::move(scene)),
      grid_(data.grid()),
      details_(data, grid_) {}

json api::describe() const {
  const image_grid& g = grid_.grid();
  json j{{"version", version}, {"file", data_.path()}, {"analysis", data_.analysis()}, {"device", device_}};
  j["scene"] = scene_;
  j["grid"] = {{"size", g.size}, {"affine", g.voxel_to_world}, {"voxel_mm", g.voxel_size_mm}};
  j["maps"] = json::array();
  for (const shown_map& m : data_.maps())
    j["maps"].push_back({{"name", m.name}, {"unit", m.unit}, {"meaning", m.meaning}});
  j["regions"] = json::array();
  for (const region_entry& r : regions_) j["regions"].push_back({{"label", r.label}, {"name", r.name}});
  j["details"] = details_.describe();
  j["connect"] = {{"available", solver_ != nullptr}, {"why_not", why_none_}};
  if (!solver_) return j;
  j["connect"].update(describe_metric(solver_->metric()));
  j["connect"]["unit"] = solver_->unit();
  j["connect"]["words"] = input_words(solver_->request());
  j["connect"]["parcellation"] = solver_->parcellation() ? solver_->parcellation()->path : "";
  j["connect"]["voxels"] = solver_->inputs().voxels.size();
  j["connect"]["voxel_mm3"] = solver_->inputs().voxel_mm3();
  return j;
}

connection_solver& api::solver() const {
  if (!solver_) throw failure(exit_status::usage, "no connections here: " + why_none_);
  return *solver_;
}

/// "FA": of the measured tensors; else a number of the list.
http_answer api::send_map(std::string_view number) const {
  if (number == "FA") {
    const connection_solver& s = solver();
    std::vector<float> FA(data_.grid().voxel_count(), 0);
    for (std::size_t n = 0; n < s.FA().size(); ++n) FA[s.inputs().voxels[n]] = s.FA()[n];
    return binary_answer(grid_.nifti(grid_.reordered(FA, 1, 0)));
  }
  const auto i = find_number(number, data_.maps().size());
  if (!i) return not_found("there is no such map");
  return binary_answer(grid_.nifti(grid_.reordered(data_.read(data_.maps()[*i]), 1, 0)));
}

/// Numbers on the page of the voxels where fronts may pass, in the order of the arrays of solve().
http_answer api::send_passable() const {
  const connection_solver& s = solver();
  std::vector<std::uint32_t> voxels;
  for (const std::uint64_t v : s.inputs().voxels) voxels.push_back(static_cast<std::uint32_t>(grid_.on_page(v)));
  std::string block = begin_block({{"voxels", voxels.size()}});
  append(block, voxels);
  return binary_answer(std::move(block));
}

http_answer api::send_regions() const {
  const connection_solver& s = solver();
  if (!s.parcellation()) return not_found("there is no parcellation");
  const auto& label = s.parcellation()->label;
  return binary_answer(grid_.nifti(grid_.reordered(std::vector<float>(label.begin(), label.end()), 1, 0)));
}

/// Arrival times of the front from one end of the last connection, in the order of the arrays of solve().
http_answer api::send_arrivals(std::string_view end) const {
  if (end != "from" && end != "to") return not_found("there is no such front");
  const pathway& p = solver().last().way;
  const std::vector<float>& times = end == "from" ? p.from : p.to;
  std::string block = begin_block({{"connection", solver().last().number}, {"voxels", times.size()}});
  append(block, times);
  return binary_answer(std::move(block));
}

http_answer api::solve(const std::string& body, const std::function<bool()>& is_replaced) {
  connection_solver& s = solver();
  spdlog::info("/api/solve: started");
  const connection& c = s.solve(parse_connection_request(body), is_replaced);
  json head{{"connection", c.number},
            {"unit", s.unit()},
            {"cost", c.way.cost.min_total},
            {"gap", c.way.cost.gap()},
            {"joining_excess", c.way.cost.joining_excess},
            {"length_mm", c.table.length_mm[1]},
            {"path_cost", c.table.path_cost[1]},
            {"path_FA", c.path_FA},
            {"path_points", c.path_mm.size() / 3},
            {"voxels", c.level.size()},
            {"curve", describe_curve(c.way)},
            {"seconds",
             {{"field", c.field_seconds},
              {"device", c.device_seconds},
              {"fronts", c.front_seconds},
              {"pathway", c.pathway_seconds}}}};
  head.update(describe_metric(s.metric()));
  std::string block = begin_block(head);
  append(block, c.way.total);
  append(block, c.level);
  append(block, c.path_mm);
  return binary_answer(std::move(block));
}

http_answer api::trace(const std::string& body) {
  const fibre_set f = solver().trace(parse_fibre_request(body));
  std::string block = begin_block({{"fibres", f.cost.size()}, {"points", f.offsets.back()}});
  append(block, std::vector<std::uint32_t>(f.offsets.begin(), f.offsets.end()));
  append(block, f.cost);
  append(block, f.position_mm);
  return binary_answer(std::move(block));
}

http_answer api::save_trx(const std::string& body) {
  return binary_answer(make_trx(solver().trace(parse_fibre_request(body)), solver().inputs().grid));
}

http_answer api::send_glyphs(const std::string& body) const {
  constexpr std::int64_t max_glyphs = 2000;
  const connection_solver& s = solver();
  const fibre_request r = parse_fibre_request(body, max_glyphs);
  std::vector<std::uint64_t> voxels;
  for (const std::uint32_t v : s.pathway_voxels(r.connection, r.epsilon)) voxels.push_back(s.inputs().voxels[v]);
  const glyph_set g = make_glyphs(voxels, s.inputs().image.tensor, grid_, r.count);
  std::string block = begin_block({{"glyphs", g.voxels.size()}, {"stride", g.stride}});
  append(block, g.voxels);
  append(block, g.eigen);
  return binary_answer(std::move(block));
}

http_answer api::route(const http_request& r, const std::function<bool()>& is_replaced) {
  constexpr std::string_view map = "/api/map/", arrivals = "/api/arrivals/";
  const bool reads = r.method == "GET";
  if (reads)
    if (auto found = details_.answer(r.target)) return *found;
  if (r.target == "/api/state" && reads) return json_answer(describe());
  if (r.target.starts_with(map) && reads) return send_map(std::string_view(r.target).substr(map.size()));
  if (r.target == "/api/passable" && reads) return send_passable();
  if (r.target == "/api/regions" && reads) return send_regions();
  if (r.target.starts_with(arrivals) && reads) return send_arrivals(std::string_view(r.target).substr(arrivals.size()));
  if (r.target == "/api/solve" && !reads) return solve(r.body, is_replaced);
  if (r.target == "/api/fibres" && !reads) return trace(r.body);
  if (r.target == "/api/trx" && !reads) return save_trx(r.body);
  if (r.target == "/api/glyphs" && !reads) return send_glyphs(r.body);
  return not_found("there is nothing at this address");
}

http_answer api::answer(const http_request& request, const std::function<bool()>& is_replaced) {
  try {
    return route(request, is_replaced);
  } catch (const replaced&) {
    spdlog::info("{}: stopped", request.target);
    return {409, "text/plain", "a newer request has replaced this one\n"};
  } catch (...) {
    const failure f = current_failure();
    spdlog::info("{}: {}", request.target, f.what());
    return {http_status(f.status), "text/plain", fmt::format("{}\n", f.what())};
  }
}

}  // namespace voxherd::view
