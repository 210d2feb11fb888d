#pragma once

#include <string>

namespace voxherd {

/// Renames a file unless another file already has the new name. Returns 0 or the error number, EEXIST in that case.
int rename_to_new_name(const std::string& from, const std::string& to);

/// The ways to do it, in the order in which rename_to_new_name() tries them; a file system may not support the first
/// two. Each returns 0 or the error number.
int rename_without_replacing(const std::string& from, const std::string& to);  ///< one step; not on NFS
int link_then_unlink(const std::string& from, const std::string& to);          ///< safe, but not on FAT
int check_then_rename(const std::string& from, const std::string& to);         ///< a file may appear in between

}  // namespace voxherd
