#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/io/tracts/tracts.hpp"
#include "src/view/page_grid.hpp"

namespace voxherd::view {

struct fibre_set;

inline constexpr std::uint64_t max_streamlines = 20000, max_streamline_points = 2000000;

/// Whether a result has fibres: points with a position.
bool has_streamlines(const result_reader& r);

/// Number of stored fibres, and the names of their measures.
nlohmann::json describe_streamlines(const result_reader& r);
/// Whether an output is a number per fibre that the page shows.
bool is_measure(const result_reader& r, const std::string& name);
/// The items of finished fibres that can be drawn, increasing.
std::vector<std::uint64_t> find_fibres(const result_reader& r);

/// A block: {"fibres", "points", "stored", "measures", "along"}, offsets, positions (mm), the voxel of the page in
/// which each fibre starts, each measure of all fibres, and each measure of all points. Up to `count` of the fibres
/// `items`, evenly spread, with at most max_streamline_points points; "stored" is the number of `items`.
std::string send_streamlines(const result_reader& r, const page_grid& grid, const std::vector<std::uint64_t>& items,
                             std::uint64_t count);
/// The fibres that start in a voxel of the file.
std::string send_rays(const result_reader& r, const page_grid& grid, std::uint64_t voxel);

/// The number of fibres in each voxel of the file; of up to max_streamlines fibres.
std::vector<float> count_streamlines(const result_reader& r);

/// Fibres as a TRX file. Throws failure (disk): temporary files cannot be written.
std::string make_trx(const fibre_source& fibres);
/// Those of a connection, with the cost of each.
std::string make_trx(const fibre_set& fibres, const image_grid& grid);

}  // namespace voxherd::view
