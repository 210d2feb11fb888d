#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "mpi/comm/session.hpp"
#include "src/io/nifti/nifti_writer.hpp"

/// Output shared by all kinds of phantoms, written by all ranks and their threads.
namespace voxherd {

/// A grid whose first axis runs from right to left (negative determinant), so that FSL's bvec frame is the voxel axes.
/// World 0 is the centre.
image_grid phantom_grid(const std::array<std::uint64_t, 3>& size, const std::array<double, 3>& voxel_size_mm);

/// Runs work(i) for 0 <= i < count on `threads` threads and rethrows the last exception.
void in_parallel(int threads, std::uint64_t count, const std::function<void(std::uint64_t)>& work);

/// The folder of a phantom and its truth/. Folders that it has created and that are still empty at the end, because
/// writing the phantom failed, are removed by the destructor.
class phantom_folder {
 public:
  /// Collective. Throws failure (disk).
  phantom_folder(const session& s, const std::string& path);
  ~phantom_folder();
  phantom_folder(const phantom_folder&) = delete;
  phantom_folder& operator=(const phantom_folder&) = delete;

 private:
  std::vector<std::filesystem::path> created_;  ///< a folder before those that contain it
};

/// Computes one line of voxels of a slice for all volumes; volume k is written to line + k * stride.
using line_maker = std::function<void(std::uint64_t y, std::uint64_t z, float* line, std::uint64_t stride)>;

/// Writes PATH.nii or, if compressed, PATH.nii.gz; each rank makes its own slices, one at a time. The bytes do not
/// depend on the number of ranks. Collective. Throws failure (disk).
void write_series(const session& s, const nifti_image& form, const std::string& path, bool compressed, int threads,
                  const line_maker& make_line);

/// Writes a NIfTI file, compressed if the name ends in .gz, from value(voxel, volume). Throws failure (disk).
void write_map(const std::string& path, const nifti_image& form,
               const std::function<double(std::uint64_t voxel, std::uint64_t volume)>& value);

}  // namespace voxherd
