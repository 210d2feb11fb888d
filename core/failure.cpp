#include "core/failure.hpp"

#include <new>

#include "core/device.hpp"

namespace voxherd {

failure current_failure() {
  try {
    throw;
  } catch (const failure& f) {
    return f;
  } catch (const device_error& e) {
    return {exit_status::device_error, e.what()};
  } catch (const std::bad_alloc&) {
    return {exit_status::internal_error, "not enough memory; a smaller --batch needs less"};
  } catch (const std::exception& e) {
    return {exit_status::internal_error, e.what()};
  }
}

}  // namespace voxherd
