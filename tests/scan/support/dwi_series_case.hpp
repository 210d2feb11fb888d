// A small diffusion-weighted series that rank 0 creates for all ranks, used by the tests of reading.
#pragma once

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>

#include "mpi/comm/node_memory.hpp"
#include "mpi/run/signals.hpp"
#include "mpi/run/staged_input.hpp"
#include "src/scan/dwi.hpp"
#include "src/scan/node_resources.hpp"
#include "src/scan/voxel_rows.hpp"
#include "tests/io/support/crafted_nifti.hpp"
#include "tests/support/rank_folder.hpp"

namespace voxherd {

using testing::crafted_nifti;
using testing::gzipped;
using testing::scratch_folder;
using testing::write_file;

using toy::world;

inline constexpr std::uint64_t nx = 13, ny = 7, nz = 5, volumes = 37, voxel_count = nx * ny * nz;

inline float signal(std::uint64_t voxel, std::uint64_t k) { return static_cast<float>(voxel * 100 + k) + 1; }

/// Value `i` of the gradient deviations. Its sum with 1 is exact.
inline float deviation_value(std::size_t i) { return -static_cast<float>(i) * 0x1p-15F; }

/// About half of the voxels, in runs of uneven length, with one long gap.
inline bool inside(std::uint64_t voxel) { return voxel % 7 < 4 && (voxel < 100 || voxel > 300); }

/// Inputs that rank 0 creates for all ranks: 37 volumes, 6 of them b=0.
class DwiSeries : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path;
    if (world->is_root()) path = (folder_ = std::make_unique<scratch_folder>())->path().string();
    world->broadcast(path);
    path_ = path;
    if (world->is_root()) make_inputs();
    world->barrier();
  }
  void TearDown() override { world->barrier(); }

  std::string at(const std::string& name) const { return path_ + "/" + name; }

  crafted_nifti series(int version, std::endian order) const {
    crafted_nifti image(version, order);
    std::vector<std::int32_t> values;
    for (std::uint64_t k = 0; k < volumes; ++k) {
      for (std::uint64_t v = 0; v < voxel_count; ++v) values.push_back(static_cast<std::int32_t>(signal(v, k)) - 1);
    }
    image.dimensions({nx, ny, nz, volumes}).datatype(8, 32).scaling(1, 1).append(values);
    return image;
  }

  void make_inputs() {
    write_file(at("dwi.nii"), series(1, std::endian::little).content());
    write_file(at("dwi.nii.gz"), gzipped(series(1, std::endian::little).content()));
    write_file(at("big.nii"), series(2, std::endian::big).content());
    std::string b, x, y, z;
    for (std::uint64_t k = 0; k < volumes; ++k) {
      const double angle = static_cast<double>(k);
      b += k % 7 == 0 ? "0 " : "1000 ";
      x += std::to_string(std::cos(angle)) + " ";
      y += std::to_string(std::sin(angle)) + " ";
      z += "0 ";
    }
    write_file(at("bvals"), b);
    write_file(at("bvecs"), x + "\n" + y + "\n" + z + "\n");
    std::vector<std::uint8_t> mask(voxel_count);
    for (std::uint64_t v = 0; v < voxel_count; ++v) mask[v] = inside(v) ? 1 : 0;
    crafted_nifti image;
    image.dimensions({nx, ny, nz}).datatype(2, 8);
    write_file(at("mask.nii"), crafted_nifti(image).append(mask).content());
    write_file(at("empty.nii"), crafted_nifti(image).append(std::vector<std::uint8_t>(voxel_count)).content());
    write_file(at("small.nii"), crafted_nifti(image).dimensions({nx, ny, nz - 1}).append(mask).content());
    std::vector<float> deviation(9 * voxel_count);
    for (std::size_t i = 0; i < deviation.size(); ++i) deviation[i] = deviation_value(i);
    image.datatype(16, 32).dimensions({nx, ny, nz, 9});
    write_file(at("grad_dev.nii"), crafted_nifti(image).append(deviation).content());
    write_file(at("grad_dev.nii.gz"), gzipped(crafted_nifti(image).append(deviation).content()));
    // I + L along the axes of the image. It is right-handed, so that the x axis of the bvecs is reversed.
    for (std::size_t i = 0; i < deviation.size(); ++i) {
      const std::size_t volume = i / voxel_count, row = volume % 3, column = volume / 3;
      if (row == column) deviation[i] += 1;
      if ((row == 0) != (column == 0)) deviation[i] = -deviation[i];
    }
    write_file(at("graddev.nii.gz"), gzipped(crafted_nifti(image).append(deviation).content()));
    for (float& d : deviation) d *= 100;
    write_file(at("percent.nii"), crafted_nifti(image).append(deviation).content());
  }

  /// Opens the series without waiting for its voxels.
  dwi_series begin(const std::vector<std::string>& more, const std::string& dwi = "dwi.nii") const {
    std::vector<std::string> line = {"--dwi", at(dwi), "--bvals", at("bvals"), "--bvecs", at("bvecs")};
    for (const std::string& word : more) {
      const bool is_name = word.rfind("--", 0) != 0 && word.rfind("=", 0) != 0;
      line.push_back(is_name ? at(word) : word.substr(word.front() == '=' ? 1 : 0));
    }
    double host_memory_gb = 2.5;
    given_options given;
    for (std::size_t i = 0; i + 1 < line.size(); i += 2) {
      if (line[i] == "--host-memory") {
        host_memory_gb = std::stod(line[i + 1]);
      } else {
        given.values[line[i].substr(2)] = {line[i + 1]};
      }
    }
    return dwi_series(*world, dwi_options().read(given), static_cast<std::uint64_t>(host_memory_gb * 1e9));
  }

  dwi_series open(const std::vector<std::string>& more, const std::string& dwi = "dwi.nii") const {
    dwi_series series = begin(more, dwi);
    await_stage_or_throw(*world, series);
    return series;
  }

  void write_series_with_wrong_checksum() {
    if (world->is_root()) {
      auto packed = testing::read_file(at("dwi.nii.gz"));
      packed[packed.size() - 6] ^= 1;
      write_file(at("crc.nii.gz"), packed);
    }
    world->barrier();
  }

  /// Every rank must get the same failure, and its message must contain the words.
  void expect_refused(const std::vector<std::string>& more, exit_status status, const std::vector<std::string>& words,
                      const std::string& dwi = "dwi.nii") const {
    std::string line = "read without complaint";
    try {
      (void)open(more, dwi);
    } catch (const failure& f) {
      line = f.what();
      EXPECT_EQ(f.status, status) << line;
    }
    std::string root_line = line;
    world->broadcast(root_line);
    EXPECT_EQ(line, root_line);
    for (const std::string& word : words) EXPECT_NE(line.find(word), std::string::npos) << word << " in: " << line;
  }

  /// Rows of all items.
  static std::vector<float> load_all(dwi_series& series, std::uint64_t batch_items,
                                     input_layout layout = input_layout::rows) {
    const std::uint64_t items = series.item_voxels().size();
    const std::size_t width = series.floats_per_item();
    std::vector<float> rows(items * width, -1);
    for (std::uint64_t first = 0; first < items; first += batch_items) {
      const std::uint64_t count = std::min(batch_items, items - first);
      const auto out = std::span(rows).subspan(first * width, count * width);
      series.load({first / batch_items, first, count}, out, layout);
      if (layout == input_layout::rows) continue;
      const std::vector<float> columns(out.begin(), out.end());
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < width; ++k) out[i * width + k] = columns[k * count + i];
    }
    return rows;
  }

  std::string path_;
  std::unique_ptr<scratch_folder> folder_;
};

}  // namespace voxherd
