#include "src/phantom/phantom_files.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "core/failure.hpp"
#include "src/io/nifti/shared_file.hpp"
#include "src/io/output_file.hpp"

namespace voxherd {

image_grid phantom_grid(const std::array<std::uint64_t, 3>& size, const std::array<double, 3>& voxel_size_mm) {
  image_grid grid;
  grid.size = size;
  grid.voxel_size_mm = voxel_size_mm;
  for (std::size_t c = 0; c < 3; ++c) {
    const double step = c == 0 ? -voxel_size_mm[c] : voxel_size_mm[c];
    grid.voxel_to_world[5 * c] = step;
    grid.voxel_to_world[4 * c + 3] = -step * (static_cast<double>(size[c]) - 1) / 2;
  }
  grid.voxel_to_world[15] = 1;
  return grid;
}

void in_parallel(int threads, std::uint64_t count, const std::function<void(std::uint64_t)>& work) {
  std::exception_ptr error;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) try {
      work(static_cast<std::uint64_t>(i));
    } catch (...) {
#pragma omp critical
      error = std::current_exception();
    }
  if (error) std::rethrow_exception(error);
}

phantom_folder::phantom_folder(const session& s, const std::string& path) {
  s.on_root([&] {
    std::error_code code;
    const std::filesystem::path truth = std::filesystem::path(path) / "truth";
    for (std::filesystem::path at = truth; !at.empty() && !std::filesystem::exists(at, code); at = at.parent_path())
      created_.push_back(at);
    create_folder(truth.string());
  });
}

phantom_folder::~phantom_folder() {
  std::error_code is_used;
  for (const std::filesystem::path& path : created_) std::filesystem::remove(path, is_used);  // only if it is empty
}

namespace {

/// Rounds to multiples of the file's step, as scanners do; values out of range are clipped.
void to_integers(const float* values, std::uint64_t count, float step, std::int16_t* out) {
  for (std::uint64_t i = 0; i < count; ++i)
    out[i] = static_cast<std::int16_t>(std::clamp(std::round(values[i] / step), -32768.f, 32767.f));
}

}  // namespace

void write_series(const session& s, const nifti_image& form, const std::string& path, bool compressed, int threads,
                  const line_maker& make_line) {
  const auto header = nifti_header_bytes(form);
  const auto& size = form.grid.size;
  const std::uint64_t voxels = size[0] * size[1];
  const std::uint64_t slice_bytes = voxels * (form.int16_step > 0 ? sizeof(std::int16_t) : sizeof(float));
  const std::uint64_t bytes = header.size() + form.volumes * size[2] * slice_bytes;
  shared_file data(s, path + ".nii", bytes);
  s.agree([&] {
    if (s.is_root()) data.write(0, header.data(), header.size());
    std::vector<float> slice(form.volumes * voxels);
    for (auto z = static_cast<std::uint64_t>(s.rank()); z < size[2]; z += static_cast<std::uint64_t>(s.size())) {
      in_parallel(threads, size[1], [&](std::uint64_t y) { make_line(y, z, slice.data() + y * size[0], voxels); });
      in_parallel(threads, form.volumes, [&](std::uint64_t k) {
        const float* values = slice.data() + k * voxels;
        const std::uint64_t place = header.size() + (k * size[2] + z) * slice_bytes;
        if (form.int16_step > 0) {
          std::vector<std::int16_t> integers(voxels);
          to_integers(values, voxels, form.int16_step, integers.data());
          data.write(place, integers.data(), slice_bytes);
        } else {
          data.write(place, values, slice_bytes);
        }
      });
    }
  });
  if (compressed) {
    write_gzip(s, data, bytes, path + ".nii.gz", threads);
  } else {
    data.finish();
  }
}

void write_map(const std::string& path, const nifti_image& form,
               const std::function<double(std::uint64_t, std::uint64_t)>& value) {
  nifti_writer writer(path, form);
  std::vector<float> slice(form.grid.size[0] * form.grid.size[1]);
  for (std::uint64_t volume = 0; volume < form.volumes; ++volume)
    for (std::uint64_t z = 0; z < form.grid.size[2]; ++z) {
      for (std::uint64_t i = 0; i < slice.size(); ++i)
        slice[i] = static_cast<float>(value(z * slice.size() + i, volume));
      writer.append(slice);
    }
  writer.finish();
}

}  // namespace voxherd
