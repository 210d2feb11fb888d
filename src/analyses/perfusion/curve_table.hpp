#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "src/io/number_table.hpp"

namespace voxherd {

enum class curve_input { arterial, portal };

/// Which column of a table has a quantity, and the factor to s or to mM (HU).
struct table_column {
  std::size_t index = 0;
  double factor = 1;

  double value(const number_table& t, std::size_t row) const { return factor * t.at(row, index); }
};

/// The times in a table: by name if it has a line of names, and the only column of one that has just one. None if
/// several columns have no names. Throws failure (bad_data): names that are not understood.
std::optional<table_column> find_time_column(const number_table& table);

/// One input's curve of a table, by names if there are any, else time first, then arterial and portal concentration,
/// interpolated linearly at the frames. `option`: curves, arterial-curve or portal-curve. Throws failure
/// (missing_input, bad_data): names that are not understood, times that do not increase, or that do not cover the
/// frames.
std::vector<double> read_curve(const std::string& path, curve_input input, const std::string& option,
                               const std::vector<double>& time_s);

}  // namespace voxherd
