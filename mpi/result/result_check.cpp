#include "mpi/result/result_check.hpp"

#include <fmt/core.h>

#include <set>

#include "mpi/result/checksums.hpp"
#include "mpi/result/dataset_boxes.hpp"
#include "mpi/result/file_names.hpp"
#include "mpi/result/result_vtk.hpp"
#include "mpi/result/table_checksum.hpp"

namespace voxherd {

namespace {

/// Checks everything but the batches, in a file opened by this process.
class table_check {
 public:
  table_check(hid_t file, const result_layout& layout, bool is_complete) : file_(file), is_complete_(is_complete) {
    for (const output_spec& o : layout.outputs) in_batches_.insert(dataset_path(o));
  }

  void run(result_damage& damage) {
    compare(file_, text_checksum_name, text_checksum(file_), "the attributes of /", damage.tables);
    for (const std::string& path : hdf5::dataset_paths(file_)) {
      // Links to datasets that are checked under their own names, and what wrong_polylines() checks.
      if (path.starts_with("/VTKHDF/") || in_batches_.contains(path)) continue;
      const bool changes = path == journal_path || path == summary_path;
      if (!is_complete_ && changes) continue;
      // Another program may have added it.
      if (H5Aexists(hdf5::open_unread_dataset(file_, path), checksum_name) <= 0) continue;
      const hdf5::handle dataset = hdf5::open_dataset(file_, path);
      compare(dataset, checksum_name, read_and_checksum(dataset, path), path, damage.tables);
    }
  }

 private:
  static void compare(hid_t object, const char* name, std::uint64_t found, const std::string& what,
                      std::string& lines) {
    std::uint64_t expected = 0;
    hdf5::read_attribute(object, name, H5T_STD_U64LE, 1, &expected);
    if (found != expected) lines += fmt::format("{}: checksum {:016x}, expected {:016x}\n", what, found, expected);
  }

  hid_t file_;
  bool is_complete_;
  std::set<std::string> in_batches_;
};

bool is_complete(hid_t file) {
  std::uint8_t complete = 0;
  hdf5::read_attribute(file, "complete", H5T_STD_U8LE, 1, &complete);
  return complete == 1;
}

/// A line for each batch of a rank's share whose checksum differs from the journal.
std::string wrong_batches(const std::string& path, hid_t file, const result_layout& layout, int rank, int ranks) {
  const hdf5::handle dataset = hdf5::open_dataset(file, journal_path);
  const std::vector<hdf5::handle> outputs = hdf5::open_outputs(file, layout);
  const hdf5::batch_checker checker(path, file, outputs, layout);
  std::string lines;
  for (const batch& b : layout.batches) {
    if (b.number % static_cast<std::uint64_t>(ranks) != static_cast<std::uint64_t>(rank)) continue;
    journal_entry entry;
    const std::uint64_t start[] = {b.number}, count[] = {1};
    hdf5::read_block(dataset, hdf5::journal_type(), start, count, &entry, journal_path);
    if (entry.done != 1) continue;
    const std::uint64_t found = checker.compute(b);
    if (found == entry.checksum) continue;
    lines += describe_damage(b, found, entry.checksum) + '\n';
  }
  return lines;
}

std::string gather_lines(const session& s, const std::string& lines) {
  std::string all;
  for (const std::string& part : s.gather(lines)) all += part;
  s.broadcast(all);
  return all;
}

}  // namespace

result_damage check_share(const std::string& path, const result_layout& layout, checked_part part, int rank,
                          int ranks) {
  result_damage own;
  hdf5::prepare();
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (id < 0) hdf5::fail(exit_status::bad_data, path + " is not a readable HDF5 file");
  const hdf5::handle file(id, H5Fclose, path);
  try {
    if (rank == 0) table_check(file, layout, is_complete(file)).run(own);
    for (const std::string& wrong : wrong_polylines(file, layout, rank, ranks))
      own.tables += wrong + ": differs from the points of the items\n";
    if (part == checked_part::everything) own.batches = wrong_batches(path, file, layout, rank, ranks);
  } catch (const hdf5::disk_failure& f) {
    fail_on_disk("{}: {}", path, f.what());
  } catch (const failure& f) {
    check_readable(path);
    refuse_data("{}: damaged: {}", path, f.what());
  }
  return own;
}

result_damage check_result(const session& s, const std::string& path, const result_layout& layout, checked_part part) {
  result_damage own;
  s.agree([&] { own = check_share(path, layout, part, s.rank(), s.size()); });
  return {gather_lines(s, own.tables), gather_lines(s, own.batches)};
}

void accept_tables(const std::string& path) {
  check_result_place(path);
  check_writable(path);
  try {
    store_table_checksum(path);
  } catch (const hdf5::disk_failure& f) {
    fail_on_disk("{}: {}", path, f.what());
  } catch (const failure& f) {
    if (f.status == exit_status::bad_data) throw;
    refuse_data("{}: damaged, not rewritten: {}; copy it again", path, f.what());
  }
}

result_layout layout_of(const result_reader& reader) {
  result_layout layout;
  layout.grid = reader.grid();
  layout.item_voxels = reader.item_voxels();
  layout.point_offsets = reader.point_offsets();
  layout.outputs = reader.outputs();
  layout.batches = reader.batches();
  return layout;
}

}  // namespace voxherd
