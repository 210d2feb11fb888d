#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/result/result_reader.hpp"

namespace voxherd {

using region_name_list = std::vector<std::string>;

/// The labels of rows and columns; none if the result has no connectome.
std::vector<std::int32_t> node_labels(const result_reader& result);

/// Names of a connectome's regions, or none if the run had none.
region_name_list given_region_names(const result_reader& result);
/// The same; without names, the labels.
region_name_list node_names(const result_reader& result);

/// Throws failure (bad_data) if there are names, but not one for each region.
void check_region_names(const result_reader& result, const region_name_list& names, std::size_t regions);

/// Whether a constant is a matrix of the result's connectome. Throws failure (bad_data) if it is of other regions.
bool is_region_matrix(const result_reader& result, const constant& c);

/// A number of a matrix: stored numbers are computed from float32, so that more digits than a float32 has mean nothing;
/// counts are exact. `missing`: for NaN.
std::string matrix_number(double value, const char* missing = "nan");

/// `index`, `label` and, if there are names, `name` of each row and column, separated by tabs.
std::string node_table(const result_reader& result, const region_name_list& names);

/// A matrix as in BIDS, separated by tabs, below a line with the names of the columns; NaN is "n/a".
std::string matrix_table(const constant& matrix, const region_name_list& names);

/// One row of regions per line, as tck2connectome writes it; with a header line and column if the regions have names.
std::string matrix_csv(const constant& matrix, const region_name_list& regions);

}  // namespace voxherd
