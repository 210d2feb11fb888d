#pragma once

#include <array>

#include "src/tools/phantom/liver_anatomy.hpp"

/// The liver's shape and physiology at a place: -1 to 1 along each axis of the image, x from the patient's right to his
/// left, y from back to front, z upwards.
namespace voxherd::liver_shape {

using place = std::array<double, 3>;

/// The body is about half as high as it is wide: distances along z count so much.
inline constexpr double z_scale = 0.5;

double distance(const place& a, const place& b);

/// 1 at the surface of the body, 0 on its axis.
double body_radius(const place& at);
/// 1 deep inside, 0 at the surface, below outside.
double liver_depth(const place& at);
double spleen_depth(const place& at);
/// `radius_least`: a vessel is at least so thick, in the units of a place.
double aorta_depth(const place& at, double radius_least);
double portal_depth(const place& at, double radius_least);
/// Deepest in the middle of the vessel's course, for a VOI.
double aorta_voi_depth(const place& at, double radius_least);
double portal_voi_depth(const place& at, double radius_least);

liver_region region_at(const place& at);
liver_parameters parameters_at(const place& at);
double t1_s_at(const place& at);

}  // namespace voxherd::liver_shape
