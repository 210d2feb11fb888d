#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "core/command.hpp"
#include "core/json_text.hpp"
#include "src/analyses/common/choose_device.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/io/text_file.hpp"
#include "src/scan/region_names.hpp"
#include "src/scan/white_matter.hpp"
#include "src/show/analysis_views.hpp"
#include "src/show/page.hpp"
#include "src/view/api.hpp"
#include "src/view/http_server.hpp"
#include "src/view/page_files.hpp"
#include "src/view/result_details.hpp"
#include "src/view/streamlines.hpp"

namespace voxherd {

namespace {

struct view_request {
  std::string file;
  std::optional<direction_frame> frame;
  std::string bvals, bvecs, mask, within, parcellation, region_names, scene;
  std::vector<std::string> surface_values;
  std::optional<double> within_FA;
  int port = 0;
  double idle_minutes = 30;
  bool open = false;
  backend_choice backend = backend_choice::automatic;
  int threads = 0;
};

const option_table<view_request>& view_options() {
  using T = view_request;
  using choice = backend_choice;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Input", {
      {"file", &T::file, text_kind::file, {.text = "result file of any analysis, image (.nii or .nii.gz), or surface", .required = true, .place = 1}},
      {"bvals", &T::bvals, text_kind::file,
       {.text = "b-values of a series, for connections", .standard = "SERIES.bval, else bvals beside it",
        .needs = "bvecs"}},
      {"bvecs", &T::bvecs, text_kind::file,
       {.text = "gradient directions of a series", .standard = "SERIES.bvec, else bvecs beside it", .needs = "bvals"}},
      {"bvecs-frame", &T::frame,
       {{"fsl", direction_frame::fsl}, {"image", direction_frame::image}, {"world", direction_frame::world}},
       {.text = "axes of the directions in --bvecs, as in tensor", .standard = "fsl; of MRtrix's table world", .needs = "bvecs"}},
      {"mask", &T::mask, text_kind::file,
       {.text = "mask of the voxels of a series or of tensors", .standard = "the result's; series: nodif_brain_mask.nii.gz beside it"}},
      {"within", &T::within, text_kind::file, {"mask that paths stay in, e.g. white matter"}},
      {"within-fa", &T::within_FA, range{0, 1},
       {.text = "paths stay in white matter, as in connect; can be changed in the page; 0: everywhere",
        .standard = "0.2; with --within 0; of a result of connect its own"}},
      {"parcellation", &T::parcellation, text_kind::file,
       {.text = "regions that can be chosen as ends", .standard = "those of the result's connectome"}},
      {"region-names", &T::region_names, text_kind::file, {.text = "names of the regions: text, one region per line: label, name", .needs = "parcellation"}},
      {"surface-values", &T::surface_values, text_kind::file,
       {.text = "values or labels per vertex of a surface (.func.gii, .shape.gii, .label.gii)", .many = true}},
      {"scene", &T::scene, text_kind::file, {"scene that was saved in the page (JSON)"}}})
    .group("Server", {
      {"open", &T::open, {"show the page in the browser"}},
      {"port", &T::port, range{0, 65535}, {"port on 127.0.0.1; 0: any free one"}},
      {"idle-minutes", &T::idle_minutes, range{0.01, 100000},
       {.text = "time without an open page after which the program ends", .unit = "min"}}})
    .group("Running", {
      {"backend", &T::backend, {{"auto", choice::automatic}, {"cpu", choice::cpu}, {"cuda", choice::cuda}},
       {"device that solves for connections; auto: a GPU if there is one"}},
      {"threads", &T::threads, range{0, 4096}, {"CPU threads; 0: the cores that the program may use"}}});
  // clang-format on
  return table;
}

/// Fills in what the user gave.
void apply_options(const view_request& request, connect_request& r) {
  if (!request.bvals.empty()) {
    r.tensors.series.bvals = request.bvals;
    r.tensors.series.bvecs = request.bvecs;
    r.tensors.series.frame = request.frame;
  }
  if (!request.mask.empty()) r.tensors.series.mask = request.mask;
  if (!request.within.empty()) r.within = request.within;
}

struct connection_parts {
  std::unique_ptr<view::connection_solver> solver;
  std::string why_none;
  view::page_regions regions;
  std::unique_ptr<view::ray_panel> rays;
  std::string device_text = "no device in use";
};

/// `names_file`: "" for those that the result has.
std::vector<view::region_entry> name_regions(const label_image& image, const std::string& names_file,
                                             const view::shown_data& data) {
  std::vector<view::region_entry> regions;
  const auto& labels = image.values;
  const auto names = names_file.empty() ? std::vector<std::string>() : read_region_names(names_file, labels);
  const auto known = data.result() ? view::stored_region_names(*data.result()) : std::map<std::int32_t, std::string>();
  for (std::size_t i = 0; i < labels.size(); ++i)
    regions.push_back({labels[i], !names.empty()              ? names[i]
                                  : known.contains(labels[i]) ? known.at(labels[i])
                                                              : fmt::format("region {}", labels[i])});
  return regions;
}

/// Without connections, regions are only for choosing among fibres.
void prepare_fibre_regions(const view_request& request, const view::shown_data& data, connection_parts& parts) {
  const bool has_fibres = data.result() != nullptr && view::has_streamlines(*data.result());
  if (!has_fibres && !request.parcellation.empty()) refuse_usage("--parcellation has no use here: " + parts.why_none);
  const std::string path = request.parcellation.empty() ? data.find_parcellation() : request.parcellation;
  if (!has_fibres || path.empty()) return;
  parts.regions.image = read_labels(path, data.grid(), label_kind::labels);
  parts.regions.list = name_regions(*parts.regions.image, request.region_names, data);
}

/// What connections and rays are computed with.
device open_device(const session& s, const view_request& request, connection_parts& parts) {
  run_request run;
  run.backend = request.backend;
  run.threads = request.threads;
  const device d = choose_device_of_one_kind(s, run);
  use_device(d);
  parts.device_text =
      d.kind == backend::cuda ? fmt::format("GPU {}", d.cuda_ordinal) : fmt::format("{} CPU threads", d.threads);
  return d;
}

/// White matter, as far as there is any, unless the user or a result of connect has chosen.
std::optional<double> choose_min_FA(const view_request& request, const connect_request& wanted,
                                    const view::shown_data& data, const tensor_source& tensors) {
  if (request.within_FA) return request.within_FA;
  const bool has_settings = data.result() != nullptr && find_views(*data.result()).viewer.has_connection_settings;
  if (has_settings || !wanted.within.empty()) return wanted.within_FA;
  const std::vector<std::uint8_t> white = find_white_matter(tensors.image, white_matter_FA);
  return std::count(white.begin(), white.end(), 1) > 0 ? std::optional(white_matter_FA) : std::nullopt;
}

void prepare_solver(const session& s, const view_request& request, connect_request wanted, const view::shown_data& data,
                    const device& d, connection_parts& parts) {
  apply_options(request, wanted);
  tensor_source tensors = read_tensor_source(s, wanted.tensors, wanted.run.host_memory_bytes(), [&] { return d; });
  if (tensors.grid.size != data.grid().size) refuse_data("{}: its inputs have another size now", data.path());
  wanted.within_FA = choose_min_FA(request, wanted, data, tensors);
  const std::string parcellation = request.parcellation.empty() ? data.find_parcellation() : request.parcellation;
  parts.solver = std::make_unique<view::connection_solver>(wanted, std::move(tensors), parcellation, d);
  if (parts.solver->parcellation())
    parts.regions.list = name_regions(*parts.solver->parcellation(), request.region_names, data);
}

connection_parts prepare_connections(const session& s, const view_request& request, const view::shown_data& data) {
  connection_parts parts;
  auto wanted = data.find_connect_request(parts.why_none);
  if (!wanted && !request.bvals.empty() && !data.has_image())
    refuse_usage("--bvals has no use here: " + parts.why_none);
  if (!wanted && !request.bvals.empty() && data.analysis().empty()) {
    wanted.emplace();
    wanted->tensors.series.dwi = data.path();
  }
  if (!wanted) prepare_fibre_regions(request, data, parts);
  const auto make_rays = data.result() != nullptr ? find_views(*data.result()).viewer.make_ray_panel : nullptr;
  if (!wanted && make_rays == nullptr) return parts;
  const device d = open_device(s, request, parts);
  if (make_rays != nullptr) parts.rays = make_rays(s, *data.result(), d);
  if (wanted) prepare_solver(s, request, *wanted, data, d, parts);
  return parts;
}

view::http_answer send_page(const view::http_request& request) {
  for (const view::page_file& f : view::page_files())
    if (request.method == "GET" && request.target.substr(0, request.target.find('?')) == f.path)
      return {200, std::string(f.type), std::string(f.gzip), true};
  return {404, "text/plain", "there is nothing at this address\n"};
}

/// A page that leads to the viewer, readable only by this user: a command line with the token would be visible to all.
class opening_page {
 public:
  explicit opening_page(const std::string& address) {
    std::string name = (std::filesystem::temp_directory_path() / "voxherd-view-XXXXXX.html").string();
    constexpr int ending = 5;  // characters of .html
    const int file = mkstemps(name.data(), ending);
    if (file < 0) fail_on_disk(errno, "{}: cannot be created", name);
    path_ = name;
    const std::string text = fmt::format(
        "<!DOCTYPE html><meta charset=utf-8><meta http-equiv=refresh content=\"0;url={0}\"><a "
        "href=\"{0}\">voxherd</a>\n",
        address);
    const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    close(file);
    if (!written) fail_on_disk("{}: cannot be written", path_);
  }
  ~opening_page() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  opening_page(const opening_page&) = delete;
  opening_page& operator=(const opening_page&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A file that the page has saved; the page checks what is in it. Null without a file.
nlohmann::json read_scene(const std::string& path) {
  if (path.empty()) return nullptr;
  nlohmann::json scene = parse_json(read_text_file(path, "a scene that the viewer has saved"), "--scene " + path);
  if (!scene.is_object() || !scene.contains("voxherd_scene"))
    refuse_data("--scene {}: not a scene that the viewer has saved", path);
  return scene;
}

/// Answers until the user ends it, or nobody has used it for a while.
void serve(const view_request& request, view::api& answers) {
  view::work_queue queue;
  std::atomic<std::uint64_t> newest{0};
  const std::string token = view::make_token();
  const auto handle = [&](const view::http_request& r, const view::http_server::answer_function& answer) {
    if (auto refused = view::refuse_request(r, token)) return answer(std::move(*refused));
    if (r.target == "/api/alive") {
      queue.post([] {});
      return answer({204, "text/plain", ""});
    }
    if (!r.target.starts_with("/api/")) return answer(send_page(r));
    const bool solves = r.target == "/api/solve";
    const std::uint64_t number = solves ? ++newest : 0;
    queue.post([&answers, &newest, r, answer, solves, number] {
      const auto is_replaced = [&newest, solves, number] { return solves && number != newest; };
      if (is_replaced()) return answer({409, "text/plain", "a newer request has replaced this one\n"});
      answer(answers.answer(r, is_replaced));
    });
  };
  view::http_server server(static_cast<std::uint16_t>(request.port), token, handle, [&] {
    ++newest;  // stops a solve
    queue.stop();
  });
  const std::string address = fmt::format("http://127.0.0.1:{}/#token={}", server.port(), token);
  fmt::print("{}\n", address);
  std::fflush(stdout);
  std::optional<opening_page> page;
  if (request.open) report::show_page(page.emplace(address).path());
  spdlog::info("open the address above in a browser; Ctrl-C ends the viewer");
  const auto idle = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double, std::ratio<60>>(request.idle_minutes));
  if (!queue.run(idle)) spdlog::info("no page has been open for {} minutes; the viewer ends", request.idle_minutes);
  server.stop();
  queue.clear();
}

exit_status run_view(session& s, const view_request& request) {
  if (s.size() > 1) refuse_usage("view runs as one process; start it without mpirun");
  if (view::page_files().empty()) refuse_usage("this program was built without the viewer: {}", view::why_no_page());
  view::shown_data data(request.file, request.surface_values);
  if (data.maps().empty()) refuse_data("{}: it has no maps; voxherd report shows it", request.file);
  nlohmann::json scene = read_scene(request.scene);
  connection_parts parts = prepare_connections(s, request, data);
  view::api answers(data, std::move(parts.solver), parts.why_none, std::move(parts.regions), std::move(parts.rays),
                    parts.device_text, std::move(scene));
  serve(request, answers);
  return exit_status::complete;
}

}  // namespace

extern const command view_command = run_by_first_rank(make_command<view_options, run_view>(
    {"view", "look at a result in the browser, and solve for connections there", "voxherd view tensor.h5 --open"}));

}  // namespace voxherd
