#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/perfusion/conversion.hpp"
#include "kernels/perfusion/signal_model.hpp"
#include "kernels/phantom/phantom_signals.hpp"
#include "mpi/comm/session.hpp"

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

/// One of the two inputs of a tissue.
struct blood_supply {
  double flow = 0;     ///< ml/100 g/min
  double delay_s = 0;  ///< from the vessel to the voxel
};
/// `volume`: the distribution volume, as a fraction.
liver_parameters make_parameters(const blood_supply& arterial, const blood_supply& portal, double volume);

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

namespace voxherd {

/// Shape of the input curves between the frames.
enum class inputs_between_frames {
  continuous,  ///< the model curve, in steps of 0.1 s
  sampled,     ///< linear interpolation between frames, as a fit assumes
};

enum class stored_type { float32, int16 };

struct liver_phantom_settings {
  std::string name;
  std::array<std::uint64_t, 3> size{};
  std::array<double, 3> voxel_size_mm{};
  std::uint64_t frames = 48;
  double spacing_s = 2.37;
  std::uint64_t liver_voxels = 0, aorta_voxels = 0, portal_voxels = 0;

  perfusion::signal_kind signal = perfusion::signal_kind::spoiled_echo;
  double repetition_s = 0.0035, flip_deg = 15, relaxivity_per_mM_s = 4.5;
  std::vector<double> vfa_flip_deg{2, 5, 10, 15};  ///< flip angles of the series for T1, with the same repetition time
  inputs_between_frames inputs = inputs_between_frames::continuous;

  double cnr = 50;       ///< largest enhancement of healthy liver divided by the standard deviation of the noise
  noise_settings noise;  ///< the deviation is derived from cnr
  stored_type type = stored_type::float32;
  bool compressed = false;
  int threads = 1;

  liver_anatomy_settings anatomy() const { return {size, liver_voxels, aorta_voxels, portal_voxels}; }
};

/// The presets toy, clinical and paper.
const std::vector<liver_phantom_settings>& liver_phantom_presets();

/// Arrival of the contrast agent in the aorta, s after the first frame.
inline constexpr double agent_arrival_s = 10;

/// Writes dce.nii[.gz], times.txt, curves.csv, the masks liver, aorta and portal, phantom.json, and truth/ with the
/// parameters of liver_model, T1, regions; also vfa.nii[.gz] and vfa_flip_angles.txt for spoiled echoes. All ranks
/// share the work; the bytes do not depend on their number. Throws failure (disk; usage if the image is too small).
void write_liver_phantom(const session& s, const liver_phantom_settings& settings, const std::string& folder);

/// Computes the stored signal from the composition of voxels.
class liver_signal {
 public:
  explicit liver_signal(const liver_phantom_settings& settings);

  /// Signals of frame k of voxel first_voxel + i at line[k * stride + i]. Zero in air.
  void make_frames(std::span<const abdomen_voxel> voxels, std::uint64_t first_voxel, float* line,
                   std::uint64_t stride) const;
  /// The same for each flip angle of the series for T1; only for spoiled echoes.
  void make_vfa(std::span<const abdomen_voxel> voxels, std::uint64_t first_voxel, float* line,
                std::uint64_t stride) const;

  const std::vector<double>& frame_s() const { return frame_s_; }
  /// The true curves in blood, mM or HU: as simulated, and at the frames.
  const input_curves& inputs() const { return inputs_; }
  const input_curves& inputs_at_frames() const { return at_frames_; }
  const noise_settings& noise() const { return noise_; }
  /// An upper bound of all signals of the phantom, including noise.
  double largest_signal() const;

 private:
  /// The signal as an affine function of the voxel's signal before contrast.
  struct affine {
    double offset, scale;
  };

  perfusion::voxel_signal_model model(double S0, double t1_s) const;
  double signal_before(const abdomen_voxel& v) const;
  void add_shared_curve(abdomen_tissue tissue, double t1_s, const double* curve);

  liver_phantom_settings settings_;
  perfusion::conversion conversion_;
  std::vector<double> frame_s_;
  input_curves inputs_, at_frames_;
  tissue_curves curves_;
  std::array<std::vector<affine>, 6> shared_;  ///< curves of tissues in which all voxels have the same one
  noise_settings noise_;
};

}  // namespace voxherd
