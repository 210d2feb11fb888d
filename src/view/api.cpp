#include "src/view/api.hpp"

#include <spdlog/spdlog.h>

#include <cmath>
#include <stdexcept>

#include "core/current_failure.hpp"
#include "core/text.hpp"
#include "src/scan/white_matter.hpp"
#include "src/show/colours.hpp"
#include "src/view/answers.hpp"
#include "src/view/page_grid.hpp"
#include "src/view/result_details.hpp"
#include "src/view/streamlines.hpp"

namespace voxherd::view {

namespace {

using nlohmann::json;

/// What the page can change, as in a result's configuration; 0 where nothing is chosen.
json chosen_options(const connect_request& r) {
  json all, chosen;
  connect_options().add_stored(connect_options().complete(r), all);
  for (const char* name : page_options) chosen[name] = all.value(name, json(0));
  return chosen;
}

json describe_option(const std::string& name) {
  for (json& o : connect_options().describe())
    if (o.at("name") == name) return std::move(o);
  throw std::logic_error("connect has no option --" + name);
}

/// Controls of the page.
json describe_controls() {
  json controls{{"options", json::array()}, {"epsilon", describe_option("epsilon")}};
  for (const char* name : page_options) controls["options"].push_back(describe_option(name));
  controls["epsilon"]["max"] = largest_epsilon;
  for (json& option : controls["options"])
    if (option.at("name") == "within-fa") option["label"] = "Paths only where FA ≥";
  return controls;
}

/// Those of maps, at equal distances.
json describe_colours() {
  constexpr int count = 9;  // colours of viridis; between them the page is linear, as reports are
  json colours = json::array();
  for (int i = 0; i < count; ++i)
    colours.push_back(report::map_colour(report::colour_map::viridis, static_cast<double>(i) / (count - 1)));
  return colours;
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

/// What to type for the same result; null in place of epsilon, which the page chooses.
json command_words(const connection_request& r, const connection_solver& s) {
  connect_request q = r.options;
  const std::string parcellation = s.parcellation() ? s.parcellation()->path : "";
  set_end(r.from, end_side::from, parcellation, q);
  set_end(r.to, end_side::to, parcellation, q);
  json words{"voxherd", "connect"};
  for (const std::string& word : connect_options().words(q)) words.push_back(word);
  for (const json& word : {json("--epsilon"), json(), json("--out"), json("connection.h5")}) words.push_back(word);
  return words;
}

/// 4xx: the request or the data are wrong; 500: voxherd failed.
unsigned http_status(exit_status s) {
  if (s == exit_status::usage) return 400;
  return s == exit_status::bad_data ? 422 : 500;
}

/// Names of labels: those that the result knows, unless a file has others.
std::map<std::int32_t, std::string> known_names(const shown_data& data, const page_regions& regions) {
  std::map<std::int32_t, std::string> names = regions.names();
  if (data.result() != nullptr) names.merge(stored_region_names(*data.result()));
  return names;
}

}  // namespace

std::map<std::int32_t, std::string> page_regions::names() const {
  std::map<std::int32_t, std::string> all;
  for (const region_entry& r : list) all[r.label] = r.name;
  return all;
}

api::api(shown_data& data, std::unique_ptr<connection_solver> solver, std::string why_none, page_regions regions,
         std::unique_ptr<ray_panel> rays, std::string device_text, nlohmann::json scene)
    : data_(data),
      solver_(std::move(solver)),
      why_none_(std::move(why_none)),
      regions_(std::move(regions)),
      rays_(std::move(rays)),
      device_(std::move(device_text)),
      scene_(std::move(scene)),
      grid_(data.grid()),
      details_(data, grid_, labels(), known_names(data, regions_), rays_.get()) {}

json api::describe() const {
  const image_grid& g = grid_.grid();
  json j{{"version", version}, {"file", data_.path()}, {"analysis", data_.analysis()}, {"device", device_}};
  j["scene"] = scene_;
  j["colours"] = describe_colours();
  j["grid"] = {{"size", g.size}, {"affine", g.voxel_to_world}, {"voxel_mm", g.voxel_size_mm}};
  j["grid"]["is_made_up"] = report::is_made_up(data_.grid());
  j["grid"]["has_image"] = data_.has_image();
  j["grid"]["first_place"] = details_.first_place();
  j["overlay"] = data_.find_overlay();
  j["maps"] = json::array();
  for (const shown_map& m : data_.maps())
    j["maps"].push_back({{"name", m.name}, {"unit", m.unit}, {"meaning", m.meaning}});
  j["regions"] = json::array();
  for (const region_entry& r : regions_.list) j["regions"].push_back({{"label", r.label}, {"name", r.name}});
  j["details"] = details_.describe();
  j["connect"] = {{"available", solver_ != nullptr}, {"why_not", why_none_}};
  if (!solver_) return j;
  j["connect"].update(chosen_options(solver_->request()));
  j["connect"].update(describe_controls());
  j["connect"]["unit"] = solver_->unit();
  j["connect"]["white_matter"] = {{"FA", white_matter_FA}, {"max_part_outside", max_part_outside}};
  j["connect"]["words"] = connect_options().words(solver_->request());
  j["connect"]["parcellation"] = solver_->parcellation() ? solver_->parcellation()->path : "";
  j["connect"]["voxels"] = solver_->voxels().size();
  j["connect"]["voxel_mm3"] = solver_->inputs().voxel_mm3();
  return j;
}

connection_solver& api::solver() const {
  if (!solver_) refuse_usage("no connections here: " + why_none_);
  return *solver_;
}

const label_image* api::labels() const {
  if (solver_) return solver_->parcellation() ? &*solver_->parcellation() : nullptr;
  return regions_.image ? &*regions_.image : nullptr;
}

/// "FA": of the measured tensors; else a number of the list.
http_answer api::send_map(std::string_view number) const {
  if (number == "FA") {
    const connection_solver& s = solver();
    std::vector<float> FA(data_.grid().voxel_count(), 0);
    for (std::size_t n = 0; n < s.FA().size(); ++n) FA[s.voxels()[n]] = s.FA()[n];
    return binary_answer(grid_.nifti(grid_.reordered(FA, 1, 0)));
  }
  const auto i = find_number(number, data_.maps().size());
  if (!i) return not_found("there is no such map");
  return binary_answer(grid_.nifti(grid_.reordered(data_.read(data_.maps()[*i]), 1, 0)));
}

/// Numbers on the page of the voxels where fronts may pass without --within-fa, in the order of the arrays of solve().
http_answer api::send_passable() const {
  const connection_solver& s = solver();
  std::vector<std::uint32_t> voxels;
  for (const std::uint64_t v : s.voxels()) voxels.push_back(static_cast<std::uint32_t>(grid_.on_page(v)));
  std::string block = begin_block({{"voxels", voxels.size()}});
  append(block, voxels);
  return binary_answer(std::move(block));
}

http_answer api::send_regions() const {
  if (labels() == nullptr) return not_found("there is no parcellation");
  return binary_answer(grid_.nifti(grid_.reordered(labels()->label)));
}

/// Arrival times of the front from one end of the last connection, in the order of the arrays of solve().
http_answer api::send_arrivals(std::string_view end) const {
  if (end != "from" && end != "to") return not_found("there is no such front");
  const pathway& p = solver().last().way;
  const std::vector<float> times = solver().spread(end == "from" ? p.from : p.to);
  std::string block = begin_block({{"connection", solver().last().number}, {"voxels", times.size()}});
  append(block, times);
  return binary_answer(std::move(block));
}

http_answer api::solve(const std::string& body, const std::function<bool()>& is_replaced) {
  connection_solver& s = solver();
  spdlog::info("/api/solve: started");
  const connection_request request = make_connection_request(parse_connection_request(body), s.request());
  const connection& c = s.solve(request, is_replaced);
  json head{{"connection", c.number},
            {"unit", s.unit()},
            {"cost", c.way.cost.min_total},
            {"gap", c.way.cost.gap()},
            {"joining_excess", c.way.cost.joining_excess},
            {"length_mm", c.table.length_mm[1]},
            {"path_cost", c.table.path_cost[1]},
            {"path_FA", c.path_FA},
            {"part_outside", c.part_outside},
            {"path_points", c.path_mm.size() / 3},
            {"voxels", s.voxels().size()},
            {"curve", describe_curve(c.way)},
            {"seconds",
             {{"field", c.field_seconds},
              {"device", c.device_seconds},
              {"fronts", c.front_seconds},
              {"pathway", c.pathway_seconds}}}};
  head.update(chosen_options(s.request()));
  head["words"] = command_words(request, s);
  std::string block = begin_block(head);
  append(block, s.spread(c.way.total));
  append(block, s.spread(c.level));
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
  if (auto found = details_.answer(r)) return *found;
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
    return {http_status(f.status), "text/plain", one_line(f.what()) + "\n"};
  }
}

}  // namespace voxherd::view
