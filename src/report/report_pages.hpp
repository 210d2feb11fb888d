#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/scan/gradients.hpp"
#include "src/show/draft.hpp"

namespace voxherd::report {

/// Warnings that concern results of every analysis.
void add_common_warnings(result_draft& d);
/// What was run, on what, how long, with what outcome.
void describe_run(result_draft& d);
/// A section with the quantiles of all outputs with one number per item.
void add_output_table(draft& d);
/// Sections at the end: all outputs with their quantiles, inputs, options, time of each rank.
void add_records(result_draft& d);

/// The page of a result. Throws failure (missing_input, bad_data, disk).
page make_result_page(const std::string& path, view_sides sides = view_sides::left_on_left);
/// Pages, each with its name, as one.
page join_pages(const std::string& title, std::vector<std::pair<std::string, page>> parts);
/// Removes empty sections, and adds the warnings to the numbers.
void finish_page(page& p);

struct scan_files {
  std::string image;
  gradient_files gradients;
  std::string mask;  ///< "" for none, as of the gradients
};

/// The page of a scan: its volumes, noise and gradients. Throws failure (missing_input, bad_data).
page make_scan_page(const scan_files& files, view_sides sides);
/// Whether the images of a folder of bedpostX were written from this result, as far as its first fractions tell; true
/// without such images, as in a folder of probtrackx2.
bool has_result_of_images(const std::string& folder, const std::string& result);
/// The page of a folder of bedpostX: the ball & stick model's maps. Throws failure (missing_input, bad_data).
page make_fsl_page(const std::string& folder, view_sides sides);

}  // namespace voxherd::report
