// Writes the inputs that `voxherd geodesic` tracks with. Takes its options, and writes FOLDER/inputs.json and the raw
// arrays tensor (float32), inside (uint8), regions (uint32), seeds (float64: voxel, then axis):
//   geodesic_inputs_dump geodesic --dump FOLDER ...
#include <filesystem>
#include <fstream>

#include "src/analyses/common/choose_device.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/geodesic/inputs.hpp"
#include "src/app/program.hpp"

namespace {

using namespace voxherd;

template <class T>
void write(const std::filesystem::path& path, const std::vector<T>& values) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}

struct dump_request {
  geodesic_request analysis;
  std::string folder;
};

const option_table<dump_request>& dump_options() {
  using T = dump_request;
  static const option_table<T> table = option_table<T>()
                                           .include_optional(&T::analysis, geodesic_options())
                                           .group("Output", {{"dump", &T::folder, text_kind::file, {"folder"}}});
  return table;
}

exit_status dump(session& s, const dump_request& request) {
  const geodesic_inputs in =
      read_geodesic_inputs(s, request.analysis, [&] { return choose_device(s, request.analysis.run); });
  // The last rank writes, to show what reached it.
  if (s.rank() != s.size() - 1) return exit_status::complete;
  const std::filesystem::path folder = request.folder;
  write(folder / "tensor", in.image.tensor);
  write(folder / "inside", in.image.inside);
  write(folder / "regions", in.regions);
  std::vector<double> seeds;
  for (const geodesic::seed& seed : in.seeds) {
    seeds.insert(seeds.end(), seed.voxel, seed.voxel + 3);
    seeds.insert(seeds.end(), seed.axis, seed.axis + 3);
  }
  write(folder / "seeds", seeds);
  const nlohmann::json said = {{"size", in.image.size},           {"axes_mm", in.image.axes_mm},
                               {"origin_mm", in.image.origin_mm}, {"target_labels", in.target_labels},
                               {"connectome", in.connectome},     {"includes", in.rays.includes},
                               {"provenance", in.provenance},     {"configuration", in.configuration}};
  std::ofstream(folder / "inputs.json") << said.dump(1);
  return exit_status::complete;
}

constexpr command geodesic_inputs_command =
    make_command<dump_options, dump>({"geodesic", "inputs of voxherd geodesic"});

}  // namespace

int main(int argc, char** argv) {
  const command* const list[] = {&geodesic_inputs_command};
  return run_program(argc, argv, list);
}
