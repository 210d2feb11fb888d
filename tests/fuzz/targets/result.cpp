// A result file: what `info`, `verify`, `export` and --resume read.
#include "mpi/result/result_check.hpp"

#include <algorithm>

#include "tests/fuzz/targets/input.hpp"

namespace voxherd::fuzz {

namespace {

void read_rows(const result_reader& reader) {
  for (const output_spec& o : reader.outputs()) {
    if (o.layout == output_layout::volume && reader.grid().voxel_count() < 1 << 16) reader.read_map(o.name);
    if (o.layout == output_layout::items)
      reader.read_items(o.name, 0, std::min<std::size_t>(64, reader.item_voxels().size()));
    if (o.layout == output_layout::points)
      reader.read_points(o.name, 0, std::min<std::uint64_t>(64, reader.point_count()));
  }
}

}  // namespace

}  // namespace voxherd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace voxherd;
  [[maybe_unused]] static const bool prepared = (use_hdf5_without_file_locks(), true);
  const fuzz::input content(fuzz::as_text(data, size), "");
  fuzz::accepts([&] {
    const result_reader reader(content.path());
    fuzz::require(reader.journal().size() == reader.batches().size(), "one journal entry per batch");
    fuzz::accepts([&] { fuzz::read_rows(reader); });
    check_share(content.path(), layout_of(reader), checked_part::everything, 0, 1);
  });
  return 0;
}
