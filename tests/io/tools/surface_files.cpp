// Reads a surface or a file of values and writes it as GIFTI, for tests that compare with other programs:
//   surface_files mesh IN OUT.gii | values IN OUT.gii | recognise IN
#include <fmt/core.h>

#include <string>

#include "core/failure.hpp"
#include "src/io/surfaces/surfaces.hpp"

int main(int count, char** words) {
  using namespace voxherd;
  const std::string what = count > 2 ? words[1] : "", in = count > 2 ? words[2] : "", out = count > 3 ? words[3] : "";
  try {
    if (what == "recognise") fmt::print("{}\n", is_surface_file(in) ? "surface" : "other");
    if (what == "mesh") write_surface(out, read_surface(in));
    if (what == "values") write_surface_values(out, read_surface_values(in));
  } catch (const failure& f) {
    fmt::print(stderr, "{}\n", f.what());
    return static_cast<int>(f.status);
  }
  return 0;
}
