#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "src/export/export_kind.hpp"
#include "src/export/export_options.hpp"

namespace voxherd {

// All export formats; each is defined in a file of src/export or src/io/tracts.
extern const export_kind fsl_export, bids_export, nifti_export, tck_export, trk_export, trx_export, csv_export;

namespace {

const export_kind* const kinds[] = {&fsl_export, &bids_export, &nifti_export, &tck_export,
                                    &trk_export, &trx_export,  &csv_export};

/// Joins one `part` of every format with `separator`.
template <class Part>
std::string join_kinds(const char* separator, const Part& part) {
  std::string text;
  for (const export_kind* kind : kinds) text += (text.empty() ? "" : separator) + part(*kind);
  return text;
}

using option_list = std::vector<boost::shared_ptr<po::option_description>>;

option_list own_options(const export_kind& kind) {
  po::options_description own;
  if (kind.options != nullptr) kind.options(own);
  return own.options();
}

void options(po::options_description& description) {
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  const std::string meanings =
      join_kinds("; ", [](const export_kind& k) { return fmt::format("{}: {}", k.name, k.meaning); });
  // clang-format off
  description.add_options()
    ("result", text("FILE"), "result file")
    ("out", text("PATH"), "what to write: a folder, made if it is not there, or a file")
    ("to", text("KIND"), meanings.c_str())
    ("overwrite", po::bool_switch(), "replace files that are there")
    ("threads", po::value<long long>()->value_name("N")->default_value(0),
     "images compressed at once by a rank, 1 to 256; 0: the cores this rank may use, 8 at most")
    ("quiet", po::bool_switch(), "print warnings and errors only");
  // clang-format on
  for (const export_kind* kind : kinds) {
    for (const auto& option : own_options(*kind))
      if (description.find_nothrow(option->long_name(), false) == nullptr) description.add(option);
  }
}

const export_kind& kind_named(const std::string& asked) {
  for (const export_kind* kind : kinds)
    if (asked == kind->name) return *kind;
  throw failure(exit_status::usage,
                fmt::format("--to {}: expected one of {}", asked,
                            join_kinds(", ", [](const export_kind& k) { return std::string(k.name); })));
}

void refuse_options_of_others(const export_kind& chosen, const arguments& args) {
  const option_list own = own_options(chosen);
  const auto is_own = [&](const std::string& name) {
    return std::any_of(own.begin(), own.end(), [&](const auto& option) { return option->long_name() == name; });
  };
  for (const export_kind* kind : kinds) {
    for (const auto& option : own_options(*kind)) {
      const std::string& name = option->long_name();
      if (!is_own(name) && args.has(name.c_str()))
        throw failure(exit_status::usage,
                      fmt::format("--{} has no meaning with --to {}; leave it out", name, chosen.name));
    }
  }
}

exit_status run_command(session& s, const arguments& args) {
  for (const char* name : {"result", "to", "out"})
    if (!args.has(name))
      throw failure(
          exit_status::usage,
          fmt::format("export: {} is missing; usage: voxherd export FILE --to KIND PATH, where KIND PATH is {}", name,
                      join_kinds(", ", [](const export_kind& k) { return fmt::format("{} {}", k.name, k.place); })));
  const export_kind& kind = kind_named(args.get<std::string>("to"));
  refuse_options_of_others(kind, args);
  export_settings settings;
  settings.result = args.get<std::string>("result");
  settings.out = args.get<std::string>("out");
  settings.overwrite = args.get<bool>("overwrite");
  settings.quiet = args.get<bool>("quiet");
  settings.threads = export_threads(s, args.get<long long>("threads"));
  if (settings.quiet && s.is_root()) spdlog::set_level(spdlog::level::warn);
  kind.run(s, settings, args);
  return exit_status::whole;
}

}  // namespace

extern const command export_command{
    "export", "a result as other programs read it", "FILE --to KIND PATH", "result,out", options, run_command};

}  // namespace voxherd
