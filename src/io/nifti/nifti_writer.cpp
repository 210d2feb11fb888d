#include "src/io/nifti/nifti_writer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/failure.hpp"
#include "src/io/nifti/nifti_layout.hpp"
#include "src/io/nifti/quaternion.hpp"
#include "src/io/output_file.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t longest_nifti1_dimension = 32767;

/// Fields with the same name in NIfTI-1 and -2.
template <class Header>
void fill_common(const nifti_image& image, Header& h) {
  using dimension = std::remove_reference_t<decltype(h.dim[0])>;
  h.sizeof_hdr = sizeof(Header);
  h.dim[0] = image.series > 1 ? 5 : image.volumes > 1 ? 4 : 3;
  for (std::size_t axis = 0; axis < 3; ++axis) h.dim[axis + 1] = static_cast<dimension>(image.grid.size[axis]);
  h.dim[4] = static_cast<dimension>(image.volumes);
  h.dim[5] = static_cast<dimension>(image.series);
  for (std::size_t i = 6; i < 8; ++i) h.dim[i] = 1;
  for (std::size_t i = 0; i < 8; ++i) h.pixdim[i] = 1;
  h.datatype = image.int16_step > 0 ? nifti_int16 : image.has_int32 ? nifti_int32 : nifti_float32;
  h.bitpix = image.int16_step > 0 ? 16 : 32;
  h.vox_offset = sizeof(Header) + 4;
  h.scl_slope = image.int16_step > 0 ? image.int16_step : 1;
  h.cal_min = image.display_min;
  h.cal_max = image.display_max;
  std::strncpy(h.descrip, image.description.c_str(), sizeof h.descrip - 1);
}

template <class Header>
void copy_geometry(const nlohmann::json& g, Header& h) {
  using number = std::remove_reference_t<decltype(h.pixdim[0])>;
  const auto value = [](const nlohmann::json& v) { return static_cast<number>(v.get<double>()); };
  h.qform_code = g.at("qform_code").get<short>();
  h.sform_code = g.at("sform_code").get<short>();
  for (std::size_t i = 0; i < 3; ++i) {
    h.quatern[i] = value(g.at("quatern").at(i));
    h.qoffset[i] = value(g.at("qoffset").at(i));
    for (std::size_t j = 0; j < 4; ++j) h.srow[i][j] = value(g.at("srow").at(i).at(j));
  }
  for (std::size_t i = 0; i < 4; ++i) h.pixdim[i] = value(g.at("pixdim").at(i));
  h.xyzt_units = static_cast<decltype(h.xyzt_units)>(g.at("xyzt_units").get<int>());
}

/// The sform can hold any matrix, the qform only a rotation with voxel sizes; it is left out for a sheared matrix.
nlohmann::json geometry_from_matrix(const image_grid& grid) {
  const voxel_matrix& m = grid.voxel_to_world;
  const quaternion_form form = to_quaternion(m);
  const voxel_matrix rigid = to_matrix(form);
  const double largest_size = *std::max_element(form.sizes.begin(), form.sizes.end());
  bool same = true;
  for (std::size_t i = 0; i < 12; ++i) same = same && std::abs(rigid[i] - m[i]) < 1e-4 * largest_size;
  nlohmann::json g;
  g["qform_code"] = static_cast<int>(same ? nifti_xform_scanner : nifti_xform_unknown);
  g["sform_code"] = static_cast<int>(nifti_xform_scanner);
  g["quatern"] = form.bcd;
  g["qoffset"] = form.offset;
  for (std::size_t r = 0; r < 3; ++r) g["srow"].push_back({m[4 * r], m[4 * r + 1], m[4 * r + 2], m[4 * r + 3]});
  g["pixdim"] = {form.qfac, form.sizes[0], form.sizes[1], form.sizes[2]};
  g["xyzt_units"] = static_cast<int>(nifti_mm);
  return g;
}

template <class Header>
std::vector<std::byte> to_bytes(const Header& h) {
  std::vector<std::byte> bytes(sizeof h + 4);  // four zeros: no extension
  std::memcpy(bytes.data(), &h, sizeof h);
  return bytes;
}

bool is_gzip_name(const std::string& path) { return path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0; }

}  // namespace

std::vector<std::byte> nifti_header_bytes(const nifti_image& image) {
  const nlohmann::json geometry = image.geometry.is_null() ? geometry_from_matrix(image.grid) : image.geometry;
  const auto& size = image.grid.size;
  const std::uint64_t longest = std::max({size[0], size[1], size[2], image.volumes, image.series});
  if (longest <= longest_nifti1_dimension && !image.is_nifti2) {
    nifti1_header h{};
    fill_common(image, h);
    copy_geometry(geometry, h);
    std::memcpy(h.magic, "n+1", 4);
    return to_bytes(h);
  }
  nifti2_header h{};
  fill_common(image, h);
  copy_geometry(geometry, h);
  std::memcpy(h.magic, "n+2\0\r\n\032\n", 8);
  return to_bytes(h);
}

struct nifti_writer::state {
  state(const std::string& p, std::uint64_t count)
      : path(p), expected(count), file(p, is_gzip_name(p) ? output_file::coding::gzip : output_file::coding::plain) {}

  std::string path;
  std::uint64_t expected, written = 0;  ///< values
  output_file file;
};

nifti_writer::nifti_writer(const std::string& path, const nifti_image& image)
    : state_(std::make_unique<state>(path, image.grid.voxel_count() * image.volumes * image.series)) {
  const auto header = nifti_header_bytes(image);
  state_->file.write(header.data(), header.size());
}
nifti_writer::~nifti_writer() = default;
nifti_writer::nifti_writer(nifti_writer&&) noexcept = default;

void nifti_writer::append(std::span<const float> values) {
  state_->file.write(values.data(), values.size_bytes());
  state_->written += values.size();
}

void nifti_writer::append(std::span<const std::int32_t> values) {
  state_->file.write(values.data(), values.size_bytes());
  state_->written += values.size();
}

void nifti_writer::finish() {
  const state& s = *state_;
  if (s.written != s.expected) {
    throw failure(exit_status::internal_error,
                  fmt::format("{}: {} values written, expected {}", s.path, s.written, s.expected));
  }
  state_->file.finish();
}

void write_nifti(const std::string& path, const nifti_image& image, std::span<const float> values) {
  nifti_writer writer(path, image);
  writer.append(values);
  writer.finish();
}

void write_nifti(const std::string& path, const nifti_image& image, std::span<const std::int32_t> values) {
  nifti_image stored = image;
  stored.has_int32 = true;
  nifti_writer writer(path, stored);
  writer.append(values);
  writer.finish();
}

}  // namespace voxherd
