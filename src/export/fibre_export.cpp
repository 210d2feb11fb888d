#include "src/export/fibre_export.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <filesystem>

#include "src/export/result_fibres.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

void check_place(const export_settings& settings, const std::string& ending) {
  const std::string& out = settings.out;
  if (!out.ends_with(ending))
    throw failure(exit_status::usage,
                  fmt::format("{}: expected a name that ends in {}, by which programs recognise the format",
                              printable(out), ending));
  if (fs::is_directory(out))
    throw failure(exit_status::usage, fmt::format("{} is a folder; expected a file name", printable(out)));
  refuse_existing(out, settings);
}

}  // namespace

void export_fibres(const session& s, const export_settings& settings, const std::string& ending,
                   const std::function<void(const fibre_source&, const std::string& path)>& write) {
  s.on_root([&] {
    const result_fibres fibres(settings.result);
    check_place(settings, ending);
    write(fibres, settings.out);
    spdlog::info("{}: {} fibres, {} points", settings.out, fibres.fibres(), fibres.points());
  });
}

}  // namespace voxherd
