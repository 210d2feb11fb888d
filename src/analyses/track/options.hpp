#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "core/options.hpp"
#include "kernels/track/settings.hpp"
#include "kernels/track/tally_list.hpp"
#include "mpi/comm/session.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/scan/fsl_grid.hpp"
#include "src/scan/mask_rules.hpp"
#include "src/scan/surface_space.hpp"

namespace voxherd {

enum class end_weights { full, half };

/// The regions of a connectome that a streamline of other seeds joins.
enum class region_joining { passed, at_ends };

/// Where a point of the seeds' space is in that of the samples, if no transform tells.
enum class space_match {
  world,       ///< at the same world coordinates
  voxel_size,  ///< at the same millimetres of FSL, which do not know the headers' matrices
};

/// Flags that ask for tallies.
template <class Tally>
struct tally_flag {
  bool is_given = false;
};
template <class List>
struct tally_flags;
template <class... Tally>
struct tally_flags<track::tally_types<Tally...>> : tally_flag<Tally>... {
  template <class Wanted>
  bool has() const {
    return tally_flag<Wanted>::is_given;
  }
  template <class Wanted>
  void set(bool is_given) {
    tally_flag<Wanted>::is_given = is_given;
  }
};
using tally_choice = tally_flags<track::tally_list>;

/// `voxherd track`.
struct track_request {
  std::string samples, mask;  ///< files; "" for none
  std::string reference;      ///< image of the seeds' space
  space_match match = space_match::world;
  std::vector<std::string> transform;               ///< files, from this space to that of the samples
  std::vector<std::string> inverse_transform;       ///< and back; only warps have it
  std::vector<std::string> seed_image, connectome;  ///< images or surfaces, or lists of them
  mesh_space meshes = mesh_space::caret;
  std::vector<std::string> surface_values;       ///< files, one per surface of the seeds, or of seeds and masks
  std::map<std::string, std::string> values_of;  ///< these by the surface's file; set by with_mask_files()
  std::string region_names;                      ///< file; "" for none
  region_joining joining = region_joining::passed;
  double end_radius_mm = 2;        ///< from an end of a streamline to the nearest voxel of a region
  std::string tracts, tract_list;  ///< a folder of protocols, a file; "" for none
  std::uint32_t tract_samples = 1000;
  std::uint32_t per_seed = 5000;
  double radius_mm = 0;
  std::uint64_t random_seed = 0;

  float step_mm = 0.5f;
  std::int32_t max_steps = 999;          ///< steps on each side; 1000 points with the seed, as FSL's 2000 of both
  double max_angle_degrees = 78.463041;  ///< its cosine as a float is 0.2f, FSL's default
  float fibre_threshold = 0.01f;
  track::first_fibre first = track::first_fibre::strongest;
  std::int32_t start_fibre = 0;
  track::step_mean averaging = track::step_mean::none;
  bool loop_check = false;
  bool stop_by_fraction = false;
  end_weights ends = end_weights::full;

  std::vector<std::string> excludes, stop, walk_through_stop, includes;  ///< images or surfaces, or lists of them
  bool ignore_first_step = false;
  track::include_rule rule = track::include_rule::all;
  bool ordered = false, each_half = false;
  float min_half_length_mm = 0;

  tally_choice tallies;
  std::vector<std::string> targets;
  std::string paths;  ///< file; "" for none
  std::uint64_t max_paths = 10000;
  std::string matrix1, matrix2, target2, matrix3, target3, target3_columns;  ///< files; "" for none
  std::string matrix4, target4, matrix4_rows;
  bool closest_vertex = false;
  double matrix_min_length_mm = 0;
  mask_rules masks = mask_rules::own;
  run_request run;

  /// Whether the regions of --connectome are the seeds.
  bool has_seeds_in_regions() const { return seed_image.empty() && !connectome.empty(); }
  /// Whether streamlines from other seeds are counted between the regions of --connectome.
  bool has_counted_regions() const { return !seed_image.empty() && !connectome.empty(); }
  const std::vector<std::string>& seeds() const { return has_seeds_in_regions() ? connectome : seed_image; }
};

/// The options whose masks are images or surfaces, or lists of them, in the grid of the seeds.
struct mask_option {
  const char* name;
  std::vector<std::string> track_request::*masks;
};
inline constexpr mask_option mask_options[] = {
    {"seed-image", &track_request::seed_image},
    {"connectome", &track_request::connectome},
    {"exclude", &track_request::excludes},
    {"stop", &track_request::stop},
    {"walk-through-stop", &track_request::walk_through_stop},
    {"include", &track_request::includes},
    {"targets", &track_request::targets},
};

/// The options for rows and columns of matrices: an image on its own grid, or a surface or a list of both.
struct column_option {
  const char* name;
  std::string track_request::*mask;
};
inline constexpr column_option column_options[] = {
    {"target2", &track_request::target2},
    {"target3", &track_request::target3},
    {"target3-columns", &track_request::target3_columns},
    {"matrix4-rows", &track_request::matrix4_rows},
};

const option_table<track_request>& track_options();

/// The request with the images that its lists of masks name. Throws failure.
track_request with_mask_files(const track_request& request);

/// How streamlines are drawn through samples from the voxels of the seeds' image. `samples` and `fibres` of the
/// settings are left to the caller.
track::walk_settings make_walk_settings(const track_request& request, const fsl_grid& samples, const fsl_grid& seeds);

}  // namespace voxherd
