#pragma once

#include <cstdint>
#include <string>

#include "mpi/result/result_layout.hpp"

namespace voxherd {

/// OUT.part, where a result lies until it is whole.
std::string unfinished_path(const std::string& out);

/// Keeps a second job from writing the same result, through OUT.lock. The lock goes when the process goes.
/// Throws failure (usage) when another job holds it.
class output_lock {
 public:
  explicit output_lock(const std::string& out);
  ~output_lock();
  output_lock(const output_lock&) = delete;
  output_lock& operator=(const output_lock&) = delete;

 private:
  std::string path_;
  int file_ = -1;
};

/// Whether a job holds OUT.lock now. False where the file system has no locks.
bool is_being_written(const std::string& out);

enum class beginning {
  fresh,          ///< nothing there, or to be overwritten
  resumed,        ///< OUT.part holds a part of the same study
  already_whole,  ///< OUT holds all of it
};

/// How much of the wanted layout is known.
enum class compared_with { whole_layout, options };

/// Where a result is to be written, and what may happen to a file that exists there.
struct output_request {
  std::string out;
  bool resume = false;
  bool overwrite = false;
  bool is_step = false;  ///< the file of a step, which its command removes at the end: messages say so
};

/// What --resume and --overwrite mean for the files at request.out. Throws failure (usage) when neither allows to go
/// on, or when --resume finds another study, naming the first value that differs. Touches nothing.
beginning decide_beginning(const output_request& request, const result_layout& wanted,
                           compared_with wanted_is = compared_with::whole_layout);

/// Throws failure (disk) when OUT's folder is missing or not writable, or has less than `bytes` free.
void check_output_folder(const std::string& out, std::uint64_t bytes);

/// Asks the file system for all blocks of the file now, where it can, so that it does not fill up in the middle.
void reserve_blocks(const std::string& path);

/// Gives a whole OUT.part its final name, after reading it again. Throws failure (disk, ours).
void give_final_name(const std::string& out);

}  // namespace voxherd
