#include "mpi/result/older_texts.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "mpi/result/dataset_checksum.hpp"

namespace voxherd {

namespace {

constexpr unsigned seconds_to_read = 10;

bool has_older_texts(hid_t file) {
  if (!hdf5::has_attribute(file, "voxherd_version")) return false;
  const hdf5::handle a(H5Aopen(file, "voxherd_version", H5P_DEFAULT), H5Aclose, "attribute `voxherd_version`");
  const hdf5::handle type(H5Aget_type(a), H5Tclose, "HDF5 type");
  return H5Tis_variable_str(type) > 0;
}

[[noreturn]] void read_and_exit(const std::string& path) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (const int fatal : {SIGSEGV, SIGBUS, SIGABRT, SIGALRM}) std::signal(fatal, SIG_DFL);  // MPI's would print
  alarm(seconds_to_read);
  try {
    const hdf5::handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, path);
    for (const char* name : text_names) {
      (void)hdf5::read_text_attribute(file, name);
    }
  } catch (const failure&) {
    // The caller reads the same texts and reports the error.
  }
  _exit(0);
}

}  // namespace

void try_older_texts(const std::string& path, hid_t file) {
  if (!has_older_texts(file)) return;
  const pid_t child = fork();
  if (child == 0) read_and_exit(path);
  int status = 0;
  if (child < 0) return;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFSIGNALED(status)) return;
  throw failure(exit_status::bad_data, "the attributes of / are damaged: HDF5 cannot read them");
}

}  // namespace voxherd
