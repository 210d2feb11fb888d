#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "mpi/result/hdf5_handle.hpp"

namespace voxherd::hdf5 {

/// A box of complete slices (all but the first axis) of a dataset whose chunks are such slices, too, compressed by
/// shuffle and deflate: the maps and lists of a known_file. HDF5 would compress and decompress with one thread.
struct slice_chunks {
  hid_t dataset;
  std::size_t rank, value_bytes, slice_bytes;
  std::uint64_t chunk_slices;  ///< slices of a chunk; the last one may have fewer
  int level;                   ///< of deflate
  std::uint64_t first, end;    ///< slices of the box
  bool has_whole_chunks;       ///< it begins and ends where chunks do

  std::size_t chunk_bytes() const { return chunk_slices * slice_bytes; }
};

/// None if the dataset is arranged otherwise or has large chunks, if `type` is not the type in the file, or for less
/// than two chunks.
std::optional<slice_chunks> find_slice_chunks(hid_t dataset, hid_t type, std::span<const std::uint64_t> start,
                                              std::span<const std::uint64_t> count);

/// Compresses with max_compression_threads(), to the same bytes as HDF5. `box` has whole chunks. Throws failure (disk;
/// internal_error if zlib fails).
void write_chunks(const slice_chunks& box, const std::byte* values, const std::string& what);

/// Returns false if a chunk is missing, stored in another form, or damaged: HDF5 reads the first two, and says what is
/// wrong with the third.
bool read_chunks(const slice_chunks& box, std::byte* values);

}  // namespace voxherd::hdf5
