#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "src/command.hpp"
#include "src/export_options.hpp"
#include "src/output/export_folders.hpp"

namespace voxherd {

namespace {

void options(po::options_description& description) {
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  // clang-format off
  description.add_options()
    ("result", text("FILE"), "result file")
    ("folder", text("DIR"), "folder to write; made if it is not there")
    ("to", text("KIND"), "fsl: what bedpostX leaves, for probtrackx2; bids: BIDS derivatives (BEP016); nifti: every map")
    ("subject", text("LABEL"), "bids: letters and digits after sub-")
    ("session", text("LABEL"), "bids: letters and digits after ses-; none where none is given")
    ("overwrite", po::bool_switch(), "replace files that are there")
    ("threads", po::value<long long>()->value_name("N")->default_value(0),
     "files compressed at once by a rank, 1 to 256; 0: the cores this rank may use, 8 at most")
    ("quiet", po::bool_switch(), "print warnings and errors only");
  // clang-format on
}

std::string label(const arguments& args, const char* name) {
  return args.has(name) ? args.get<std::string>(name) : std::string();
}

export_plan plan_for(const result_volumes& result, const arguments& args) {
  const auto& kind = args.get<std::string>("to");
  if (kind == "bids") {
    if (!args.has("subject"))
      throw failure(exit_status::usage, "--subject is missing: BIDS names begin with it, e.g. --subject 01");
    return plan_bids_folder(result, label(args, "subject"), label(args, "session"));
  }
  for (const char* name : {"subject", "session"})
    if (args.has(name))
      throw failure(exit_status::usage, fmt::format("--{} has no meaning with --to {}; leave it out", name, kind));
  if (kind == "fsl") return plan_fsl_folder(result, "");
  if (kind == "nifti") return plan_nifti_folder(result);
  throw failure(exit_status::usage, fmt::format("--to {}: expected one of fsl, bids, nifti", kind));
}

exit_status run_command(session& s, const arguments& args) {
  for (const char* name : {"result", "folder", "to"})
    if (!args.has(name))
      throw failure(exit_status::usage,
                    fmt::format("export: {} is missing; usage: voxherd export FILE --to fsl|bids|nifti DIR", name));
  export_settings settings;
  settings.folder = args.get<std::string>("folder");
  settings.overwrite = args.get<bool>("overwrite");
  settings.quiet = args.get<bool>("quiet");
  settings.threads = export_threads(s, args.get<long long>("threads"));
  if (settings.quiet && s.is_root()) spdlog::set_level(spdlog::level::warn);
  std::unique_ptr<result_volumes> result;
  export_plan plan;
  s.agree([&] {
    result = std::make_unique<result_volumes>(args.get<std::string>("result"), chunk_bytes_for(settings.threads));
    plan = plan_for(*result, args);
  });
  carry_out(s, *result, plan, settings);
  spdlog::info("{} images in {}", plan.images.size(), settings.folder);
  return exit_status::whole;
}

}  // namespace

extern const command export_command{"export",
                                    "a result as other programs read it: FSL's bedpostX folder, BIDS, NIfTI maps",
                                    "FILE --to fsl|bids|nifti DIR",
                                    "result,folder",
                                    options,
                                    run_command};

}  // namespace voxherd
