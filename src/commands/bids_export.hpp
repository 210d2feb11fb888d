#pragma once

#include "src/export/bids.hpp"

namespace voxherd {

/// Writes a result as BIDS derivatives: maps by BEP016, connectomes by BEP017, perfusion by OSIPI's lexicon.
/// Collective. Throws failure: as export_folder(); bad_data for a result without BIDS names.
void export_bids_folder(const session& s, const export_settings& settings, const bids_place& place);

}  // namespace voxherd
