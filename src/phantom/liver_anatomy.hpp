#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/phantom/tissue_curves.hpp"

namespace voxherd {

enum class abdomen_tissue : std::uint8_t { air, fat, muscle, spleen, aorta, portal_vein, liver };

/// Parts of the liver with different perfusion. The values are those of truth/regions.
enum class liver_region : std::uint8_t {
  none,
  right_posterior,
  right_anterior,
  left_medial,
  left_lateral,
  cirrhotic,
  tumour,
};
inline constexpr int liver_region_count = 7;  ///< including `none`
const char* region_name(liver_region region);

/// The composition of a voxel of the abdomen.
struct abdomen_voxel {
  abdomen_tissue tissue = abdomen_tissue::air;
  liver_region region = liver_region::none;
  liver_parameters parameters{};  ///< zero outside the liver
  double t1_s = 0;                ///< before contrast; 0: air
  double density = 0;             ///< proton density, water 1, times the coil sensitivity
  double hu = 0;                  ///< for CT
};

/// T1 before contrast, s at 3 T; for the liver, that of no particular region.
double tissue_t1_s(abdomen_tissue tissue);

struct liver_anatomy_settings {
  std::array<std::uint64_t, 3> size{};
  std::uint64_t liver_voxels = 0;   ///< exact, if the shape contains that many
  std::uint64_t aorta_voxels = 0;   ///< voxels of the VOI; the complete vessel if it is smaller
  std::uint64_t portal_voxels = 0;  ///< voxels of the VOI, as for the aorta
};

/// A phantom's anatomy in a slice stack of any size: an elliptic body with fat, muscle, spleen, aorta and portal vein,
/// and a liver with four segments, a cirrhotic region and four tumours. Parameters vary smoothly within a region.
class liver_anatomy {
 public:
  /// Needs one byte per voxel of the image. Throws failure (usage) if the image has too few voxels for its liver, or
  /// none for a vessel.
  liver_anatomy(const liver_anatomy_settings& settings, int threads);

  abdomen_voxel at(std::uint64_t voxel) const;
  abdomen_tissue tissue_at(std::uint64_t voxel) const;
  bool in_aorta_voi(std::uint64_t voxel) const { return (label_[voxel] & aorta_voi) != 0; }
  bool in_portal_voi(std::uint64_t voxel) const { return (label_[voxel] & portal_voi) != 0; }
  std::uint64_t count(abdomen_tissue tissue) const;
  std::uint64_t aorta_voi_count() const { return aorta_count_; }
  std::uint64_t portal_voi_count() const { return portal_count_; }

 private:
  static constexpr std::uint8_t aorta_voi = 0x40, portal_voi = 0x80, tissue_bits = 0x3f;

  std::array<std::uint64_t, 3> size_;
  std::vector<std::uint8_t> label_;
  std::uint64_t aorta_count_ = 0, portal_count_ = 0;
};

}  // namespace voxherd

/// Shape and physiology of the liver at a position: -1 to 1 along each axis of the image, x from the patient's right to
/// left, y from back to front, z upwards.
namespace voxherd::liver_shape {

using place = std::array<double, 3>;

/// Weight of distances along z: the body is about half as high as it is wide.
inline constexpr double z_scale = 0.5;

double distance(const place& a, const place& b);

/// 1 at the surface of the body, 0 on its axis.
double body_radius(const place& at);
/// 1 deep inside, 0 at the surface, negative outside.
double liver_depth(const place& at);
double spleen_depth(const place& at);
/// `min_radius`: minimum radius of the vessel, in the units of `place`.
double aorta_depth(const place& at, double min_radius);
double portal_depth(const place& at, double min_radius);
/// Largest in the middle of the vessel's course; selects a VOI.
double aorta_voi_depth(const place& at, double min_radius);
double portal_voi_depth(const place& at, double min_radius);

liver_region region_at(const place& at);
liver_parameters parameters_at(const place& at);
double t1_s_at(const place& at);

}  // namespace voxherd::liver_shape
