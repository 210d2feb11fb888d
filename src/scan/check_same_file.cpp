#include "src/scan/check_same_file.hpp"

#include <fmt/core.h>

#include "core/failure.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

/// Properties of a file as seen by this rank, to be compared with rank 0's.
std::string appearance(const nifti_header& h) {
  return fmt::format("{} bytes, {} x {} x {} x {}, type {}", input_file(h.path).size(), h.grid.size[0], h.grid.size[1],
                     h.grid.size[2], h.volumes, h.datatype);
}

}  // namespace

void check_same_file(const session& s, const std::string& path, nifti_header& header) {
  std::string expected = s.is_root() ? appearance(header) : "";
  s.broadcast(expected);
  s.agree([&] {
    if (s.is_root()) return;
    header = read_nifti_header(path);
    const std::string found = appearance(header);
    if (found == expected) return;
    throw failure(exit_status::bad_data,
                  fmt::format("{}: has {}, expected {} as on rank 0; check that all hosts see the same "
                              "file system",
                              printable(path), found, expected));
  });
}

}  // namespace voxherd
