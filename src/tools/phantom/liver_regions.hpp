#pragma once

#include <array>

#include "src/tools/phantom/liver_anatomy.hpp"

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
