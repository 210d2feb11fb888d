#include <fmt/core.h>

#include <filesystem>
#include <string>

#include "core/command.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/named_output.hpp"
#include "src/tools/report/chapters.hpp"
#include "src/tools/report/image_draft.hpp"
#include "src/tools/report/show_page.hpp"

namespace voxherd {

namespace {

struct report_request {
  std::string result, bvals, bvecs, mask, out;
  bool overwrite = false, open = false;
};

const option_table<report_request>& report_options() {
  using T = report_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Input", {
      {"result", &T::result, text_kind::file,
       {"result file, complete or FILE.part; a scan (.nii, .nii.gz), or a folder of bedpostX"}},
      {"bvals", &T::bvals, text_kind::file, {"b-values of a scan"}},
      {"bvecs", &T::bvecs, text_kind::file, {"gradient directions of a scan"}},
      {"mask", &T::mask, text_kind::file, {.text = "voxels of a scan that are looked at", .standard = "bright voxels"}}})
    .group("Output", {
      {"out", &T::out, text_kind::file,
       {.text = "page to write; the same name with .json has its numbers", .standard = "RESULT.report.html"}},
      {"overwrite", &T::overwrite, {"replace existing files"}},
      {"open", &T::open, {"show the page in the browser"}}})
    .check([](const T& r, const given_options&) {
      if (r.result.empty()) option::refuse("report: the result file is missing; usage: voxherd report FILE");
      if (r.bvals.empty() != r.bvecs.empty()) option::refuse("--bvals and --bvecs belong together; give both");
      if (report::is_image(r.result)) return;
      for (const auto& [name, value] : {std::pair{"bvals", &r.bvals}, std::pair{"mask", &r.mask}})
        if (!value->empty()) option::refuse(fmt::format("--{} is only for a scan (.nii or .nii.gz)", name));
    });
  // clang-format on
  return table;
}

report::page make_result_page(const std::string& path) {
  const result_reader result(path);
  report::result_draft d(result);
  report::describe_run(d);
  report::add_common_warnings(d);
  const report::chapter& chapter = report::find_chapter(result.analysis_name());
  chapter.write(d);
  chapter.write_methods(d);
  report::add_records(d);
  return std::move(d.out);
}

report::page make_page(const report_request& request) {
  report::page page;
  if (report::is_folder(request.result)) {
    page = report::make_fsl_page(request.result);
  } else if (report::is_image(request.result)) {
    page = report::make_scan_page({request.result, request.bvals, request.bvecs, request.mask});
  } else {
    page = make_result_page(request.result);
  }
  std::erase_if(page.sections, [](const report::section& part) {
    return part.paragraphs.empty() && part.figures.empty() && part.tables.empty();
  });
  page.numbers["warnings"] = page.warnings;
  return page;
}

void write_report(const report_request& request) {
  const std::string path = request.out.empty() ? report::default_page_path(request.result) : request.out;
  const named_output html{"--out", path, request.overwrite}, json{"--out", report::json_path(path), request.overwrite};
  if (request.open && !request.overwrite && std::filesystem::exists(path)) {
    fmt::print("{} exists and is shown as it is; --overwrite makes it anew\n", path);
    return report::show_page(path);
  }
  check_output(html);
  check_output(json);
  const report::page page = make_page(request);
  for (const named_output* output : {&html, &json})
    check_not_an_input(*output, page.numbers.value("provenance", nlohmann::json::object()));
  write_output(html, report::write_page(page));
  write_output(json, report::json_text(page.numbers, 1) + "\n");
  fmt::print("{}\n", path);
  if (request.open) report::show_page(path);
}

exit_status run_report(session& s, const report_request& request) {
  s.on_root([&] {
    try {
      write_report(request);
    } catch (const nlohmann::json::exception& e) {
      throw failure(exit_status::bad_data,
                    fmt::format("{}: {}; is it a complete copy of a voxherd result?", request.result, e.what()));
    }
  });
  return exit_status::complete;
}

}  // namespace

extern const command report_command = make_command<report_options, run_report>(
    {"report", "write a page with pictures, charts and numbers of a result or scan", "FILE [--open]", "result",
     "voxherd report ballstick.h5 --open"});

}  // namespace voxherd
