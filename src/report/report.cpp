#include <fmt/core.h>

#include <filesystem>
#include <string>

#include "core/command.hpp"
#include "core/json_text.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/named_output.hpp"
#include "mpi/result/output_place.hpp"
#include "src/report/report_pages.hpp"
#include "src/scan/image_checks.hpp"
#include "src/show/analysis_views.hpp"
#include "src/show/page.hpp"

namespace voxherd {

namespace {

struct report_request {
  std::string result, bvals, bvecs, mask, out;
  std::optional<direction_frame> frame;
  bool radiological = false, overwrite = false, open = false;
};

const option_table<report_request>& report_options() {
  using T = report_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Input", {
      {"result", &T::result, text_kind::file,
       {.text = "result file, complete or FILE.part; a scan (.nii, .nii.gz), or a folder of bedpostX or probtrackx2",
        .required = true, .place = 1}},
      {"bvals", &T::bvals, text_kind::file, {.text = "b-values of a scan", .needs = "bvecs"}},
      {"bvecs", &T::bvecs, text_kind::file, {.text = "gradient directions of a scan", .needs = "bvals"}},
      {"bvecs-frame", &T::frame,
       {{"fsl", direction_frame::fsl}, {"image", direction_frame::image}, {"world", direction_frame::world}},
       {.text = "axes of the directions in --bvecs, as in tensor", .standard = "fsl; of MRtrix's table world", .needs = "bvecs"}},
      {"mask", &T::mask, text_kind::file, {.text = "mask of the voxels of a scan that the page is about", .standard = "bright voxels"}}})
    .group("Output", {
      {"out", &T::out, text_kind::file,
       {.text = "page to write; the same name with .json has its numbers", .standard = "RESULT.report.html"}},
      {"radiological", &T::radiological, {"show the subject's right on the left of pictures"}},
      {"overwrite", &T::overwrite, {"replace existing files"}},
      {"open", &T::open, {"show the page in the browser"}}})
    .check([](const T& r, const given_options&) {
      if (is_nifti_name(r.result)) return;
      for (const auto& [name, value] : {std::pair{"bvals", &r.bvals}, std::pair{"mask", &r.mask}})
        if (!value->empty()) refuse_usage("--{} is only for a scan (.nii or .nii.gz)", name);
    });
  // clang-format on
  return table;
}

/// The page of voxherd's own result in a folder that bedpostx or probtrackx2 wrote, if it belongs to the images there,
/// or the page of the images.
report::page make_folder_page(const std::string& folder, report::view_sides sides) {
  const std::string result = folder + "/voxherd.h5", unfinished = unfinished_path(result);
  if (std::filesystem::exists(result)) {
    if (report::has_result_of_images(folder, result)) return report::make_result_page(result, sides);
    report::page page = report::make_fsl_page(folder, sides);
    page.warnings.push_back(result + " belongs to other images than those in the folder, and is not shown.");
    return page;
  }
  if (std::filesystem::exists(unfinished)) return report::make_result_page(unfinished, sides);
  return report::make_fsl_page(folder, sides);
}

report::page make_page(const report_request& request) {
  report::page page;
  std::error_code ignored;
  const auto sides = request.radiological ? report::view_sides::radiological : report::view_sides::left_on_left;
  if (std::filesystem::is_directory(request.result, ignored)) {
    page = make_folder_page(request.result, sides);
  } else if (is_nifti_name(request.result)) {
    page = report::make_scan_page({request.result, {request.bvals, request.bvecs, request.frame}, request.mask}, sides);
  } else {
    page = report::make_result_page(request.result, sides);
  }
  report::finish_page(page);
  return page;
}

void write_report(const report_request& request) {
  const bool is_implied = request.out.empty();
  const std::string path = is_implied ? report::default_page_path(request.result) : request.out;
  const named_output html{"--out", path, request.overwrite, is_implied ? file_name::implied : file_name::given},
      json{"--out", report::json_path(path), request.overwrite, file_name::implied};
  if (request.open && !request.overwrite && std::filesystem::exists(path)) {
    fmt::print("{} exists and is shown as it is; --overwrite makes it anew\n", path);
    return report::show_page(path);
  }
  const std::vector<kept_file> inputs{{request.result, "also the input --result"},
                                      {request.result + "/voxherd.h5", "the result in the input --result"},
                                      {request.bvals, "also the input --bvals"},
                                      {request.bvecs, "also the input --bvecs"},
                                      {request.mask, "also the input --mask"}};
  for (const named_output* output : {&html, &json}) check_output(*output, inputs);
  const report::page page = make_page(request);
  for (const named_output* output : {&html, &json})
    check_not_kept(*output, list_inputs(page.numbers.value("provenance", nlohmann::json::object())));
  write_output(html, report::write_page(page));
  write_output(json, dump_json(page.numbers, 1) + "\n");
  fmt::print("{}\n", path);
  if (request.open) report::show_page(path);
}

exit_status run_report(session& s, const report_request& request) {
  s.on_root([&] { write_report(request); });
  return exit_status::complete;
}

}  // namespace

extern const command report_command = run_by_first_rank(make_command<report_options, run_report>(
    {"report", "write a page with pictures, charts and numbers", "voxherd report ballstick.h5 --open"}));

}  // namespace voxherd
