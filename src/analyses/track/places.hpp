#pragma once

#include <string>
#include <vector>

#include "src/analyses/track/inputs.hpp"
#include "src/scan/label_image.hpp"

namespace voxherd {

/// The masks that `names` stand for: an image, an image without its extension, a surface, or a text file with names of
/// masks, found from the current folder or from that of the list. FSL separates the names of a list by any white space.
/// Names of missing files that are not in a list are kept, for the reader's message. Throws failure (bad_data,
/// missing_input, usage): a list without names, a missing file of a list, CIFTI.
std::vector<std::string> find_mask_files(const std::vector<std::string>& names, const char* option);

/// The same for one image: no list, no surface. Throws failure (usage).
std::string find_mask_file(const std::string& name, const char* option);

/// The name of a target in results: that of its file, of an image without its extension.
std::string mask_name(const std::string& path);

/// The voxels of a text file (x y z per line, or all x, all y and all z on three lines, as FSL takes them) as a mask.
/// On one process. Throws failure.
label_image read_voxel_list(const std::string& path, const fsl_grid& grid);

/// Numbers the voxels with samples, then those within reach of them, where a streamline that leaves may end.
void number_places(const track_request& request, track_inputs& in);

/// The places of a separate space: the voxels of its image that a streamline can reach. After number_places(). Throws
/// failure.
void move_places(const track_request& request, track_inputs& in);

/// Masks that are looked up by place, in the files of --walk-through-stop and --targets. On one process. Throws
/// failure.
void read_exit_masks(const track_request& request, track_inputs& in);
void read_targets(const track_request& request, track_inputs& in);

}  // namespace voxherd
