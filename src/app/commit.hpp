#pragma once

namespace voxherd {

extern const char* const
    commit;  ///< "commit 0123456789ab", with ", changed" if files differ from it, or "commit unknown"

}  // namespace voxherd
