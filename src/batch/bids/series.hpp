#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "src/batch/bids/dataset_files.hpp"
#include "src/scan/direction_frame.hpp"

namespace voxherd {

/// A series of a data set with the files that belong to it; "" for missing ones.
struct bids_series {
  std::string datatype = "dwi";  ///< datatype of its derivatives: "dwi", or "perf" for a dynamic series
  std::string subject, session;  ///< labels
  std::string folder;            ///< folder of its derivatives: "sub-01/ses-a/dwi"
  std::string name;              ///< entities of its derivatives: "sub-01_ses-a_run-1_space-ACPC"
  std::string dwi;               ///< the image, also of a dynamic series
  std::string bval, bvec, mask, grad_dev, parcellation, region_names;
  direction_frame frame = direction_frame::fsl;  ///< of the directions in bvec
  std::string frame_reason;                      ///< why it is not FSL's
  std::vector<std::string> dynamic_words;        ///< options that name the files of a dynamic series
  std::string problem;                           ///< why it cannot be used; "" for none
  std::string parcellation_problem;              ///< why it has no parcellation; "" if it has one

  static constexpr auto members() {
    using T = bids_series;
    return std::tuple(&T::datatype, &T::subject, &T::session, &T::folder, &T::name, &T::dwi, &T::bval, &T::bvec,
                      &T::mask, &T::grad_dev, &T::parcellation, &T::region_names, &T::frame, &T::frame_reason,
                      &T::dynamic_words, &T::problem, &T::parcellation_problem);
  }
};

/// Which series are wanted.
struct series_request {
  std::string bids_dir;
  std::vector<std::string> derivatives;         ///< further data sets with masks and parcellations
  std::vector<std::string> subjects, sessions;  ///< labels with or without sub- and ses-; empty: all
  bids_filter filter;
  std::string series;  ///< name or series_id() of the only one; "" for all
};

/// A label with or without its prefix, such as "sub-".
std::string without_prefix(const std::string& label, const std::string& prefix);
/// Whether a label is among the wanted ones, or all are wanted.
bool is_wanted(const std::vector<std::string>& wanted, const std::string& prefix, const std::string& label);

/// A series without files. Its name begins with the labels of its folders; they are added to `name`, too.
bids_series begin_series(bids_name& name, const std::string& datatype, const std::string& subject,
                         const std::string& session);
/// What tells it from all other series of a data set: "sub-01_ses-1_run-1_dwi".
std::string series_id(const bids_series& series);
bool is_wanted_series(const series_request& wanted, const bids_series& series);
bool is_wanted_subject(const series_request& wanted, const std::string& label);
/// A line of the log: an image is no series. `why`: as of why_no_diffusion_series().
void report_left_out(const std::string& path, const std::string& why);

/// All diffusion series of the data set, sorted by name: raw BIDS, BIDS derivatives (desc-preproc), or folders of the
/// HCP or UK Biobank. Throws failure (missing_input).
std::vector<bids_series> find_series(const series_request& wanted);

/// Throws failure (bad_data) if there are no series, or none of a wanted subject or session. For the message: the
/// `kind` of series, and what was `expected`.
void check_found(const series_request& wanted, const std::vector<bids_series>& all, const std::string& kind,
                 const std::string& expected);

/// Throws failure (bad_data) that names both if two images are the same series.
void check_different(const std::vector<bids_series>& all);

/// The dynamic series (DCE-MRI or CT) that the filter names by `dynamic`, sorted by name, with the options of
/// `analysis` that name their files. BIDS has no names for them and their regions, so that all are chosen by the
/// filter. `options`: of the user. Throws failure: missing_input, usage for wrong options and without a filter.
std::vector<bids_series> find_dynamic_series(const series_request& wanted, const std::string& analysis,
                                             const std::vector<std::string>& options);

/// Words of a command line without the options whose names `is_left_out` accepts.
std::vector<std::string> without_options(const std::vector<std::string>& words,
                                         const std::function<bool(const std::string&)>& is_left_out);

}  // namespace voxherd
