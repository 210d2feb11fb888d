#include "core/failure.hpp"

namespace voxherd {

void refuse_data(const std::string& message) { throw failure(exit_status::bad_data, message); }

}  // namespace voxherd
