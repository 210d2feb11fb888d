#pragma once

#include <string>
#include <vector>

#include "src/export/export_plan.hpp"

namespace voxherd {

/// The words of a probtrackx2 command line as options of `voxherd probtrackx2`: -P 500 or --nsamples=500 becomes
/// --samples-per-seed=500. Options of voxherd that FSL does not have are kept. Throws failure (usage) for an option of
/// FSL that voxherd does not support, one without its value, one that is given twice, and for other words.
std::vector<std::string> from_probtrackx2(const std::vector<std::string>& words);

/// A section of the help: FSL's options.
std::string list_probtrackx2_flags();

/// A message with the options as they were typed.
std::string retell_probtrackx2(const std::string& message, const std::vector<std::string>& typed);

/// Our options.
const option_list& probtrackx2_table();

/// A mask of the seeds, in a list with surfaces.
struct seed_file {
  std::string path;
  bool is_surface = false;
  std::vector<std::uint64_t> voxels = {};  ///< of an image, as the result numbers them
};

/// What to write into a folder of probtrackx2.
struct probtrackx2_outputs {
  std::string name = "fdt_paths";  ///< name of the density
  bool density = false, distance_corrected = false, lengths = false, directions = false;
  std::vector<std::string> targets = {};  ///< names; none if no file but the images needs them
  std::vector<std::string> target_files = {};
  std::vector<seed_file> seed_files = {};  ///< if there are surfaces among them, or if they are regions with targets
  bool has_target_text = false;            ///< write a text matrix of seeds by targets
  std::vector<std::uint64_t> seeds = {};   ///< rows of that matrix, or single seeds: linear indices of voxels
  std::string paths = {};                  ///< result with all streamlines; "" for none
  std::string densities = {};              ///< result with a density for each seed voxel; "" for none
  std::string target_paths = {};           ///< result with a density for each target; "" for none
};

/// Seeds of a result with surfaces. Throws failure (bad_data) if the result's tables are of other seeds or targets.
struct seed_rows {
  seed_rows(const result_reader& result, std::size_t targets, bool distance_corrected);
  double value(std::size_t row, std::size_t target, std::size_t targets, bool distance_corrected) const;

  std::vector<std::uint64_t> roi, place;
  std::vector<double> hits, mean_length_mm;  ///< by seed and target
};

/// The map seeds_to_TARGET as an image, with distance correction times the mean length.
export_image target_image(const result_volumes& result, const std::string& target, const std::string& file,
                          bool distance_corrected);

/// The streamlines of each vertex to each target: seeds_to_NAME.asc, or with several files seeds_0_to_NAME.asc, ...;
/// those of images as images.
void add_surface_targets(const result_volumes& result, const probtrackx2_outputs& wanted, export_plan& plan);

/// NAME.gii, or NAME1.gii, NAME2.gii, ...: how many streamlines reach each vertex of the surfaces that are the columns
/// of `matrix`; with distance correction the sum of their lengths. On one process. Throws failure.
void write_surface_counts(const std::string& matrix, const std::vector<std::string>& surfaces, const std::string& name,
                          bool distance_corrected);

/// The files of probtrackx2: waytotal, the density, its mean lengths, the matrix of a network, and what `wanted` names.
/// `result`: of track.
export_plan plan_probtrackx2_folder(const result_volumes& result, const probtrackx2_outputs& wanted);

}  // namespace voxherd
