#pragma once

#include <string>
#include <vector>

#include "mpi/comm/session.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

/// A series of volumes on one grid, from one 4-D image or from several images one after the other.
struct image_list {
  std::vector<nifti_header> files;

  const image_grid& grid() const { return files.front().grid; }
  std::uint64_t volumes() const;
  std::string name() const;  ///< for messages
};

/// By rank 0: the headers of an option's files. A single name that ends in .txt is a list of names, one per line,
/// relative to its folder. Names sorted by character, as by a shell, so that 10 is before 2, are rejected. Throws
/// failure (usage, missing_input, bad_data).
image_list read_image_list(const std::vector<std::string>& names, const char* option);

/// The other ranks read the headers themselves. Collective; throws failure, the same on every rank.
void share_image_list(const session& s, image_list& images);

}  // namespace voxherd
