#include "core/current_failure.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/device.hpp"
#include "core/json_text.hpp"

namespace voxherd {

namespace {

/// Operations on files that report no failure themselves throw these.
exit_status system_error_status(const std::error_code& code) {
  for (const std::errc name : {std::errc::filename_too_long, std::errc::too_many_symbolic_link_levels})
    if (code == name) return exit_status::usage;
  if (code == std::errc::no_such_file_or_directory) return exit_status::missing_input;
  for (const std::errc disk : {std::errc::permission_denied, std::errc::operation_not_permitted,
                               std::errc::not_a_directory, std::errc::is_a_directory, std::errc::file_exists,
                               std::errc::directory_not_empty, std::errc::read_only_file_system,
                               std::errc::no_space_on_device, std::errc::file_too_large, std::errc::io_error})
    if (code == disk) return exit_status::disk;
  return exit_status::internal_error;
}

/// The files and the reason, without the name of the C++ function.
std::string describe(const std::filesystem::filesystem_error& e) {
  const std::string one = e.path1().string(), other = e.path2().string();
  if (one.empty()) return e.what();
  return fmt::format("{}{}{}: {}", one, other.empty() ? "" : ", ", other, e.code().message());
}

}  // namespace

failure current_failure() {
  try {
    throw;
  } catch (const failure& f) {
    return f;
  } catch (const device_error& e) {
    return {exit_status::device_error, e.what()};
  } catch (const nlohmann::json::exception& e) {
    return {exit_status::bad_data, describe_json_error(e)};
  } catch (const std::bad_alloc&) {
    return {exit_status::internal_error,
            "not enough memory; use fewer ranks per node, a smaller --batch, or a node or "
            "job with more memory (--dry-run prints what an analysis needs)"};
  } catch (const std::filesystem::filesystem_error& e) {
    return {system_error_status(e.code()), describe(e)};
  } catch (const std::system_error& e) {
    return {system_error_status(e.code()), e.what()};
  } catch (const std::exception& e) {
    return {exit_status::internal_error, e.what()};
  }
}

}  // namespace voxherd
