#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/phantom/tissue_curves.hpp"

namespace voxherd {

enum class abdomen_tissue : std::uint8_t { air, fat, muscle, spleen, aorta, portal_vein, liver };

/// Parts of the liver that differ in perfusion. Numbers are those of truth/regions.
enum class liver_region : std::uint8_t {
  none,
  right_posterior,
  right_anterior,
  left_medial,
  left_lateral,
  cirrhotic,
  tumour,
};
inline constexpr int liver_region_count = 7;  ///< with `none`
const char* name_of(liver_region region);

/// What a voxel of the abdomen is made of.
struct abdomen_voxel {
  abdomen_tissue tissue = abdomen_tissue::air;
  liver_region region = liver_region::none;
  liver_parameters parameters{};  ///< zero outside the liver
  double t1_s = 0;                ///< before the agent; 0: air
  double density = 0;             ///< of protons, water 1, times the coil's sensitivity
  double hu = 0;                  ///< for CT
};

/// Before the agent, s at 3 T; of the liver that of no region in particular.
double t1_of(abdomen_tissue tissue);

struct liver_anatomy_settings {
  std::array<std::uint64_t, 3> size{};
  std::uint64_t liver_voxels = 0;   ///< exactly, where the shape has as many
  std::uint64_t aorta_voxels = 0;   ///< of the VOI; the whole vessel's where it has fewer
  std::uint64_t portal_voxels = 0;  ///< the same
};

/// A phantom's anatomy in a slice stack of any size: an elliptic body with fat, muscle, a spleen, aorta and portal
/// vein, and a liver of four segments, a cirrhotic region and four tumours. Within a region parameters vary smoothly.
class liver_anatomy {
 public:
  /// Memory: a byte a voxel of the image. Throws failure (usage) where it has too few voxels for its liver, or none for
  /// a vessel.
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
