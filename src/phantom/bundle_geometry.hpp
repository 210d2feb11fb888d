#pragma once

#include <array>
#include <string>
#include <vector>

#include "src/phantom/dwi_phantom.hpp"

namespace voxherd {

/// A tube around a curve that joins two places of the sphere's surface.
struct bundle_tube {
  std::string name;
  double radius_mm = 0;
  std::vector<direction3> point_mm;  ///< of the centre line
  std::vector<direction3> tangent;   ///< unit vectors, one per point
};

struct fluid_sphere {
  double radius_mm = 0;
  direction3 centre_mm{};
  double share = 1;  ///< of fluid in it
};

/// A geometry file of phantomas (Caruyer et al., ISMRM 2014): a sphere of grey matter around 0, with bundles and fluid.
struct bundle_geometry {
  double radius_mm = 0;
  std::vector<bundle_tube> bundles;
  std::vector<fluid_sphere> fluid;
};

/// Throws failure that names the file and the bundle.
bundle_geometry read_bundle_geometry(const std::string& path);

/// What fills a voxel. Shares of its volume; background is the rest.
struct bundle_voxel {
  struct part {
    std::size_t bundle;
    direction3 direction;  ///< in world axes
    double share;          ///< where bundles overlap, each has an equal part
  };
  std::vector<part> parts;
  std::vector<double> bundle_share;  ///< per bundle; empty if there is none
  double white = 0, grey = 0, fluid = 0;
};

/// Composition of voxels from points on a regular grid in each of them.
class bundle_field {
 public:
  explicit bundle_field(bundle_geometry geometry) : geometry_(std::move(geometry)) {}

  const bundle_geometry& geometry() const { return geometry_; }
  bundle_voxel at(const direction3& centre_mm, double side_mm) const;

 private:
  bundle_geometry geometry_;
};

/// A fibre that can be told from the others of its voxel.
struct true_fibre {
  direction3 direction{};  ///< in world axes
  double share = 0;        ///< of the voxel's volume
};

constexpr double min_bundle_share = 0.1;    ///< bundles that fill less of a voxel are no fibre of it
constexpr double min_fibre_degrees = 20;    ///< bundles closer than this are one fibre
constexpr std::size_t max_true_fibres = 4;  ///< the smallest of more are left out
constexpr double end_length_mm = 4;         ///< depth of a bundle's end regions below the sphere's surface

/// Fibres of a voxel, largest first: bundles with at least 10 % of it, those closer than 20 degrees joined.
std::vector<true_fibre> distinct_fibres(const bundle_voxel& voxel);

/// End regions of the bundles. Ends at the same place are one region.
struct bundle_ends {
  std::vector<std::array<int, 2>> label;  ///< per bundle: of its first and last point, from 1 on
  std::vector<std::array<direction3, 2>> place_mm;
  int labels = 0;
};

bundle_ends make_bundle_ends(const bundle_geometry& geometry);

/// The end region at a voxel, 0 for none. A voxel of two belongs to the bundle with the larger share.
int end_label(const bundle_ends& ends, const bundle_geometry& geometry, const bundle_voxel& voxel,
              const direction3& centre_mm);

}  // namespace voxherd
