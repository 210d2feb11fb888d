// A result file: what `info`, `verify`, `export`, `report` and --resume read. The fuzzer changes
// values, texts and names and stores their checksums again (tests/fuzz/mutators/result.cpp): a file that is made to do
// harm has the right ones.
#include "mpi/result/result_check.hpp"

#include <algorithm>

#include "core/step_outputs.hpp"
#include "src/export/cifti.hpp"
#include "src/export/connectome_text.hpp"
#include "src/export/dot_folder.hpp"
#include "src/export/fibres.hpp"
#include "src/export/matrix_places.hpp"
#include "src/export/matrix_stream.hpp"
#include "src/export/region_table.hpp"
#include "tests/fuzz/targets/input.hpp"

namespace voxherd::fuzz {

namespace {

constexpr std::uint64_t max_voxels = 1 << 16;

void read_rows(const result_reader& reader) {
  for (const output_spec& o : reader.outputs()) {
    require(o.name.find('/') == o.name.npos && o.name != "..", "names of outputs are names of files");
    if (o.layout == output_layout::volume && reader.grid().voxel_count() < max_voxels) reader.read_map(o.name);
    if (o.layout == output_layout::items)
      reader.read_items(o.name, 0, std::min<std::size_t>(64, reader.item_voxels().size()));
    if (o.layout == output_layout::points)
      reader.read_points(o.name, 0, std::min<std::uint64_t>(64, reader.point_count()));
  }
}

void check_places(const matrix_places& places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    require(places.file[i] < places.files.size(), "places are of files");
    const std::uint64_t vertices = places.files[places.file[i]].vertices;
    require(places.place[i] < (vertices > 0 ? vertices : places.grid.voxel_count()), "places exist");
  }
}

void read_matrix(const result_reader& reader) {
  const sparse_matrix m(reader);
  for (const std::uint32_t c : m.column) require(c < m.column_voxel.size(), "columns exist");
  for (const std::uint64_t v : m.column_voxel)
    require(v == no_voxel || v < m.column_grid.voxel_count(), "voxels of columns exist");
  sum_matrix(reader, false);
  accepts([&] { sum_matrix(reader, true); });
  accepts([&] { check_places(read_row_places(reader)); });
  accepts([&] { check_places(read_column_places(reader)); });
}

void read_paths(const result_reader& reader, const std::string& path) {
  accepts([&] { read_start_points(reader); });
  accepts([&] {
    const result_fibres fibres(path);
    group_by_regions(fibres);
    std::vector<float> mm(3 * std::min<std::uint64_t>(fibres.points(), max_voxels));
    fibres.read_positions(0, mm);
  });
}

/// What commands read beyond the file itself.
void read_as_input(const result_reader& reader, const std::string& path) {
  const bool is_small = reader.grid().voxel_count() < max_voxels;
  accepts([&] { reader.check_batches(); });
  accepts([&] { read_rows(reader); });
  accepts([&] { read_matrix(reader); });
  read_paths(reader, path);
  accepts([&] { node_table(reader, node_names(reader)); });
  for (const constant& c : reader.constants())
    accepts([&] {
      if (is_region_matrix(reader, c)) matrix_csv(c, node_names(reader));
    });
  if (!is_small) return;
  accepts([&] { find_region_values(reader, find_fitted_voxels(reader)); });
  accepts([&] {
    if (has_vertex_seeds(reader)) read_seed_maps(reader, 1, false);
  });
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
    fuzz::read_as_input(reader, content.path());
    check_share(content.path(), layout_of(reader), checked_part::everything, 0, 1);
  });
  return 0;
}
