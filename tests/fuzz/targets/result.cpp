// A result file: what `info`, `verify`, `export` and --resume read.
#include "mpi/result/result_check.hpp"

#include <pthread.h>

#include <algorithm>

#include "tests/fuzz/targets/input.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#include <unistd.h>
#endif
#endif

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

/// HDF5 may crash in the process that opens a file's tables first: that is no finding, so libFuzzer must not see it.
void leave_out_other_process() {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  pthread_atfork(nullptr, nullptr, [] {
    __sanitizer_set_death_callback(nullptr);
    close(STDERR_FILENO);
  });
#endif
#endif
}

}  // namespace

}  // namespace voxherd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace voxherd;
  static const bool prepared = (use_hdf5_without_file_locks(), fuzz::leave_out_other_process(), true);
  static_cast<void>(prepared);
  const fuzz::input content(fuzz::as_text(data, size), true);
  fuzz::accepts([&] {
    const result_reader reader(content.path());
    fuzz::require(reader.journal().size() == reader.batches().size(), "one journal entry per batch");
    fuzz::accepts([&] { fuzz::read_rows(reader); });
    reader.check_tables();
    check_share(content.path(), layout_of(reader), checked_part::everything, 0, 1);
  });
  return 0;
}
