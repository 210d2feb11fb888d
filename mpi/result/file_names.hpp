#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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

/// A name for MPI-IO. Open MPI 4.1 copies a file's name into 256 bytes, without a check, and appends to it: long paths
/// are replaced by one through /proc while this object exists.
class short_name {
 public:
  explicit short_name(const std::string& path);
  ~short_name();
  short_name(const short_name&) = delete;
  short_name& operator=(const short_name&) = delete;

  const std::string& name() const { return name_; }
  /// Open MPI 4.1 protects a file's shared pointer with a semaphore named after the file. If a process was killed while
  /// it held that, the next one would wait for it for ever.
  void remove_stale_semaphore() const;

 private:
  int folder_ = -1;
  std::string name_;
};

/// Throws failure (usage) if the name of a result, without its folder, is too long for MPI-IO.
void check_name_length(const std::string& out);

/// A file opened without HDF5. Its functions throw failure (disk) with the system's reason.
class disk_file {
 public:
  enum class access { read, write };
  explicit disk_file(const std::string& path, access a = access::read);
  ~disk_file();
  disk_file(const disk_file&) = delete;
  disk_file& operator=(const disk_file&) = delete;

  int number() const { return number_; }  ///< its file descriptor
  std::uint64_t bytes() const;
  /// Returns how many bytes there are: fewer than requested only at the end of the file.
  std::size_t read(std::uint64_t first, std::span<std::byte> to) const;
  void write(std::uint64_t first, std::span<const std::byte> from) const;

 private:
  std::string path_;
  int number_;
};

/// Reserves all blocks of the file, if the file system supports it, so that the disk or a quota cannot end the run
/// later. Throws failure (disk) with the system's reason.
void reserve_file(const std::string& path);

/// Waits until this machine's changes to the file are on disk, if the file system can do that. Throws failure (disk).
void sync_file(const std::string& path);

/// The same for the names in a folder. Ignores errors: the files themselves are complete.
void sync_folder(const std::string& path);

/// Throws failure (disk) if this process cannot open the file for writing.
void check_writable(const std::string& path);

/// Throws failure (disk) if the first part of the file, where HDF5 has its tables, cannot be read. HDF5 may report an
/// object as missing when reading it failed.
void check_readable(const std::string& path);

/// Throws failure (missing_input) if there is no file on disk that can be a result.
void check_result_place(const std::string& path);

}  // namespace voxherd
