// Writes what the program reads, for comparison with an independent reader:
//   inputs_dump image FILE VALUES [COPY]
//   prints the header as JSON and writes all values as raw float32; COPY: writes the image again
//   inputs_dump gradients BVALS BVECS COUNT
//   prints the table as JSON
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/failure.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/io/nifti/nifti_writer.hpp"
#include "src/scan/gradients.hpp"

namespace {

using namespace voxherd;

void dump_image(const std::vector<std::string>& words) {
  const nifti_header h = read_nifti_header(words.at(1));
  nifti_reader reader(h);
  const std::size_t voxels = h.grid.voxel_count();
  std::vector<float> values(voxels * h.volumes);
  for (std::uint64_t v = 0; v < h.volumes; ++v) reader.read(v, 0, voxels, values.data() + v * voxels);
  std::ofstream(words.at(2), std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  if (words.size() > 3) {
    nifti_image image;
    image.grid = h.grid;
    image.volumes = h.volumes;
    image.geometry = h.geometry;
    write_nifti(words[3], image, values);
  }
  const nlohmann::json said = {{"size", h.grid.size},
                               {"volumes", h.volumes},
                               {"voxel_to_world", h.grid.voxel_to_world},
                               {"voxel_size_mm", h.grid.voxel_size_mm},
                               {"warnings", h.warnings}};
  std::printf("%s\n", said.dump().c_str());
}

void dump_gradients(const std::vector<std::string>& words) {
  const gradient_table t = read_gradients(words.at(1), words.at(2), std::stoull(words.at(3)));
  const nlohmann::json said = {{"b", t.b_s_per_mm2}, {"x", t.x}, {"y", t.y}, {"z", t.z}};
  std::printf("%s\n", said.dump().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.at(0) == "image") {
      dump_image(words);
    } else {
      dump_gradients(words);
    }
  } catch (const voxherd::failure& f) {
    std::fprintf(stderr, "error: %s\n", f.what());
    return static_cast<int>(f.status);
  }
}
