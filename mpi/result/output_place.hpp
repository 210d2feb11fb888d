#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/removed_at_end.hpp"
#include "mpi/result/file_names.hpp"
#include "mpi/result/result_layout.hpp"

namespace voxherd {

/// OUT.part, the name of a result until it is complete.
std::string unfinished_path(const std::string& out);

/// Prevents a second job from writing the same result, with OUT.lock. The lock is released when the process ends.
/// Throws failure (usage) if another job holds it.
class output_lock {
 public:
  explicit output_lock(const std::string& out);
  ~output_lock();
  output_lock(const output_lock&) = delete;
  output_lock& operator=(const output_lock&) = delete;

 private:
  std::string path_;
  int file_ = -1;
  std::optional<removed_at_end> removed_;  ///< once the lock is held
};

/// Whether a job holds OUT.lock now. False where the file system has no locks.
bool is_being_written(const std::string& out);

enum class beginning {
  fresh,             ///< no file, or it will be overwritten
  resumed,           ///< OUT.part is a part of the same study
  already_complete,  ///< OUT is complete
};

/// How much of the wanted layout is known.
enum class compared_with { full_layout, options };

/// Where to write a result, and what to do with an existing file.
struct output_request {
  std::string out;
  std::string option = "--out";  ///< that names it, for messages
  bool resume = false;
  bool overwrite = false;
  bool is_step = false;  ///< the file of a step, which its command removes at the end: messages say so
};

/// What --resume and --overwrite mean for the files at request.out. Throws failure (usage) if neither allows the run to
/// start, or if --resume finds another study, with the first value that differs. Changes no file.
beginning decide_beginning(const output_request& request, const result_layout& wanted,
                           compared_with wanted_is = compared_with::full_layout);

/// Throws failure (disk) if the folder of `out` is missing or not writable, or has less than `bytes` free. `option`
/// named the file.
void check_output_folder(const std::string& out, std::uint64_t bytes, const std::string& option = "--out");

/// A file under one of the names that a run into `out` uses which no run wrote: by its first bytes neither a result nor
/// one that was being created, or a lock that is not empty.
std::optional<std::string> find_foreign_file(const std::string& out);

/// Removes what a killed job left of a file that is no longer needed: OUT.part, OUT.part.new, OUT.lock. Does nothing
/// while a job writes it.
void remove_leftovers(const std::string& out);

/// Throws failure (disk) if OUT.part was removed while it is being written.
void check_still_there(const std::string& out);

/// Gives a complete OUT.part its final name, after reading it again. Throws failure (disk, internal_error), also if a
/// file of that name has appeared since the start and is not to be replaced.
void give_final_name(const std::string& out, existing_file existing);

}  // namespace voxherd
