#pragma once

#include <string>
#include <vector>

namespace voxherd {

enum class verdict {
  fine,
  advice,   ///< works, but slower or less safely than it could
  problem,  ///< runs will fail, or their results may be wrong
};

/// What one check found: one line.
struct finding {
  verdict how = verdict::fine;
  std::string subject;  ///< "GPU 0"
  std::string text;     ///< what was found; for advice and problems also what to do
};
using findings = std::vector<finding>;

}  // namespace voxherd
