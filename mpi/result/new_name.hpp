#pragma once

#include <string>

namespace voxherd {

/// Renames a file unless another file already has the new name. Returns 0 or the error number, EEXIST in that case.
int rename_to_new_name(const std::string& from, const std::string& to);

enum class existing_file { kept, replaced };
/// Renames a file; `existing`: what happens to a file that already has the new name. Returns 0 or the error number.
int rename_file(const std::string& from, const std::string& to, existing_file existing);

/// Three methods, which rename_to_new_name() tries in this order, because not every file system supports the first two.
/// Each returns 0 or the error number.
int rename_without_replacing(const std::string& from, const std::string& to);  ///< one step; not on NFS
int link_then_unlink(const std::string& from, const std::string& to);          ///< safe, but not on FAT
int check_then_rename(const std::string& from, const std::string& to);         ///< a file may appear in between

}  // namespace voxherd
