// A header that passes every check describes values that can be read.
#include "src/io/nifti/nifti.hpp"

#include <vector>

#include "tests/fuzz/targets/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace voxherd;
  const fuzz::input content(fuzz::as_text(data, size));
  fuzz::accepts([&] {
    const nifti_header header = read_nifti_header(content.path());
    const std::uint64_t voxels = header.grid.voxel_count();
    if (voxels > 1 << 16 || header.volumes > 64) return;
    nifti_reader reader(header);
    std::vector<float> values(voxels);
    for (std::uint64_t volume = 0; volume < header.volumes; ++volume) reader.read(volume, 0, voxels, values.data());
    reader.check_end();
    std::vector<std::byte> stored(header.bytes_per_value);
    nifti_reader(header).read_stored(header.volumes - 1, voxels - 1, 1, stored.data());
  });
  return 0;
}
