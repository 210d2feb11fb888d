#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mpi/comm/session.hpp"
#include "src/export/result_volumes.hpp"
#include "src/io/nifti/nifti_writer.hpp"

namespace voxherd {

/// An image to be written: what it looks like, and how its volumes are made, one after the other.
struct export_image {
  std::string name;  ///< below the folder, with its ending
  nifti_image form;
  std::function<void(const result_volumes&, const volume_sink&)> make;
};

struct export_text {
  std::string name;
  std::string text;
  bool shared = false;  ///< may lie there already, from another export into the folder, and then stays
};

/// All files of an exported folder.
struct export_plan {
  std::vector<std::string> folders;  ///< to be made although they may stay empty
  std::vector<export_image> images;
  std::vector<export_text> texts;
  std::vector<export_text> marks;  ///< written when all else is there; removed before anything is replaced
};

/// An image's form with grid and geometry of the result's input. `meaning` goes into descrip.
nifti_image form_of(const result_volumes& result, std::uint64_t volumes, const std::string& meaning);
/// The same with the range that viewers are to show.
nifti_image form_of(const result_volumes& result, std::uint64_t volumes, const std::string& meaning, float least,
                    float most);

/// A map of the result under another name.
export_image image_of_map(const result_volumes& result, const std::string& map, const std::string& name);

struct export_settings {
  std::string result;  ///< file
  std::string out;     ///< folder or file
  bool overwrite = false;
  bool quiet = false;
  int threads = 1;               ///< of this rank, at most; each compresses a file of its own
  std::string subject, session;  ///< labels of BIDS names; "" for none
};

using export_planner = std::function<export_plan(const result_volumes&)>;

/// Opens the result, plans, and writes the folder, images shared out among ranks and threads. Collective. Throws
/// failure, the same on every rank: what the planner throws, missing_input or bad_data of the result, usage when a file
/// is there and is not to be overwritten, disk.
void export_folder(const session& s, const export_settings& settings, const export_planner& planner);

/// Throws failure (usage) when `path` exists and is not to be overwritten.
void refuse_existing(const std::string& path, const export_settings& settings);

}  // namespace voxherd
