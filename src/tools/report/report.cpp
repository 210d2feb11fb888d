#include <fmt/core.h>

#include <string>

#include "core/command.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/named_output.hpp"
#include "src/tools/report/chapters.hpp"
#include "src/tools/report/show_page.hpp"

namespace voxherd {

namespace {

struct report_request {
  std::string result, out;
  bool overwrite = false, open = false;
};

const option_table<report_request>& report_options() {
  using T = report_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Input", {{"result", &T::result, text_kind::file, {"result file, complete or FILE.part"}}})
    .group("Output", {
      {"out", &T::out, text_kind::file,
       {.text = "page to write; the same name with .json has its numbers", .standard = "RESULT.report.html"}},
      {"overwrite", &T::overwrite, {"replace existing files"}},
      {"open", &T::open, {"show the page in the browser"}}})
    .check([](const T& r, const given_options&) {
      if (r.result.empty()) option::refuse("report: the result file is missing; usage: voxherd report FILE");
    });
  // clang-format on
  return table;
}

report::page make_page(const std::string& path) {
  const result_reader result(path);
  report::result_draft d(result);
  report::describe_run(d);
  report::add_common_warnings(d);
  report::find_chapter(result.analysis_name()).write(d);
  report::add_records(d);
  d.out.numbers["warnings"] = d.out.warnings;
  return std::move(d.out);
}

void write_report(const report_request& request) {
  const std::string path = request.out.empty() ? report::default_page_path(request.result) : request.out;
  const named_output html{"--out", path, request.overwrite}, json{"--out", report::json_path(path), request.overwrite};
  check_output(html);
  check_output(json);
  const report::page page = make_page(request.result);
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

extern const command report_command =
    make_command<report_options, run_report>({"report", "write a page with pictures, charts and numbers of a result",
                                              "FILE [--open]", "result", "voxherd report ballstick.h5 --open"});

}  // namespace voxherd
