#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "mpi/node_memory.hpp"
#include "src/input/input_file.hpp"
#include "src/input/voxel_rows.hpp"

namespace voxherd {

namespace {

/// Volumes transposed together: one cache line of each row.
constexpr std::uint64_t volumes_at_once = 16;

class inflated_rows : public voxel_rows {
 public:
  inflated_rows(node_memory memory, std::uint64_t volumes) : memory_(std::move(memory)), volumes_(volumes) {}

  void load(std::uint64_t first, std::uint64_t count, float* out, std::size_t stride) override {
    const std::byte* rows = memory_.bytes().data();
    const std::size_t row_bytes = volumes_ * sizeof(float);
    if (stride == volumes_) {
      std::memcpy(out, rows + first * row_bytes, count * row_bytes);
      return;
    }
    for (std::uint64_t i = 0; i < count; ++i) std::memcpy(out + i * stride, rows + (first + i) * row_bytes, row_bytes);
  }

 private:
  node_memory memory_;
  std::uint64_t volumes_;
};

/// The header's volumes into their places in rows of `stride` floats.
void inflate_into(const nifti_header& header, const std::vector<std::uint64_t>& voxels, float* rows,
                  std::size_t stride) {
  const auto runs = runs_of(voxels, 0, voxels.size());
  const std::uint64_t from = voxels.front(), span = voxels.back() + 1 - from;
  std::vector<float> volume(span), columns(voxels.size() * std::min(volumes_at_once, header.volumes));
  nifti_reader reader(header);
  for (std::uint64_t k0 = 0; k0 < header.volumes; k0 += volumes_at_once) {
    const std::uint64_t k_end = std::min(k0 + volumes_at_once, header.volumes);
    for (std::uint64_t k = k0; k < k_end; ++k) {
      reader.read(k, from, span, volume.data());
      float* column = columns.data() + (k - k0) * voxels.size();
      for (const voxel_run& run : runs) {
        std::copy_n(volume.data() + (run.first_voxel - from), run.count, column + run.first_item);
      }
    }
    transpose(columns.data(), voxels.size(), voxels.size(), k_end - k0, rows + k0, stride);
  }
  // The last voxels may lie outside the mask: reading them makes zlib compare the checksum at the stream's end.
  float last = 0;
  reader.read(header.volumes - 1, header.grid.voxel_count() - 1, 1, &last);
}

}  // namespace

std::unique_ptr<voxel_rows> inflate_rows(const session& s, const std::vector<nifti_header>& files,
                                         const std::vector<std::uint64_t>& voxels) {
  const std::uint64_t volumes = volumes_of(files);
  const std::size_t bytes = voxels.size() * volumes * sizeof(float);
  const std::string name = printable(files.front().path) +
                           (files.size() > 1 ? fmt::format(" and {} more files", files.size() - 1) : std::string());
  node_memory memory(s, bytes, fmt::format("{}: holding the mask's voxels inflated", name));
  if (s.is_root()) {
    spdlog::info("{}: inflating once a node; {:.2f} GB of the mask's voxels stay in memory that its ranks share", name,
                 static_cast<double>(bytes) * 1e-9);
  }
  const auto start = std::chrono::steady_clock::now();
  s.agree([&] {
    if (s.node_rank() != 0) return;
    float* rows = reinterpret_cast<float*>(memory.bytes().data());
    for (const nifti_header& header : files) {
      inflate_into(header, voxels, rows, volumes);
      rows += header.volumes;
    }
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  double inflated = 0;
  for (const nifti_header& h : files)
    inflated += static_cast<double>(h.grid.voxel_count() * h.volumes * h.bytes_per_value);
  if (s.is_root()) spdlog::info("{}: {:.2f} GB inflated in {:.1f} s", name, inflated * 1e-9, seconds);
  return std::make_unique<inflated_rows>(std::move(memory), volumes);
}

}  // namespace voxherd
