#include "mpi/run/input_check.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <string>

#include "mpi/result/output_place.hpp"

namespace voxherd {

void refuse_changed_inputs(const session& s, const run_settings& settings, result_writer* writer) {
  try {
    s.on_root([&] {
      if (settings.check_inputs) settings.check_inputs();
    });
  } catch (const failure& f) {  // the same on every rank
    if (writer == nullptr) throw;
    writer->close();
    const std::string part = unfinished_path(settings.out);
    s.on_root([&] {
      std::error_code ignored;  // the message below is more important
      std::filesystem::remove(part, ignored);
    });
    throw failure(f.status, fmt::format("{}; {} may contain both versions and was removed", f.what(), part));
  }
}

}  // namespace voxherd
