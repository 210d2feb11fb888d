#include "mpi/result/table_walk.hpp"

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <span>

#include "mpi/result/dataset_checksum.hpp"

namespace voxherd {

namespace {

constexpr rlim_t max_cpu_seconds = 10;
constexpr hsize_t max_links = 1 << 16;
constexpr int max_objects = 1 << 16;
constexpr std::size_t max_value_bytes = 1 << 20;

enum class walk_end { crash, complete, error, disk_error };

/// In memory that both processes share.
struct walk_report {
  walk_end end;
  bool is_opened;
  char place[256];  ///< what is being read
  char message[1024];
  bool has_text[std::size(text_names)];  ///< texts of variable length
  std::size_t text_bytes[std::size(text_names)];
  char texts[hdf5::max_text_bytes];  ///< one after the other
};

void copy_text(std::span<char> to, const std::string& text) {
  const std::size_t bytes = std::min(text.size(), to.size() - 1);
  std::memcpy(to.data(), text.data(), bytes);
  to[bytes] = '\0';
}

/// The first error in the tables of a file.
struct walk_error {
  walk_end end = walk_end::complete;
  std::string message;
};

class table_walker {
 public:
  explicit table_walker(walk_report& report) : report_(report) {}

  walk_error run(hid_t file) {
    attempt("/", [&] { walk(hdf5::open_group(file, "/"), "/", 0); });
    attempt("/", [&] { copy_older_texts(file); });
    return first_;
  }

 private:
  void walk(hid_t object, const std::string& path, int depth) {
    if (depth > max_group_depth || ++objects_ > max_objects) {
      throw failure(exit_status::bad_data, fmt::format("group {} is not one of voxherd", path));
    }
    attempt(path, [&] { read_attributes(object, path); });
    const H5I_type_t kind = H5Iget_type(object);
    if (kind == H5I_DATASET) attempt(path, [&] { open_tables(object, path); });
    if (kind == H5I_GROUP) attempt(path, [&] { walk_links(object, path == "/" ? path : path + "/", depth); });
  }

  /// A reader may need what comes after a damaged table, so the walk goes on after an error.
  template <class Step>
  void attempt(const std::string& path, const Step& step) {
    copy_text(report_.place, path);
    try {
      step();
    } catch (const hdf5::disk_failure& f) {
      note({walk_end::disk_error, f.what()});
    } catch (const failure& f) {
      note({walk_end::error, f.what()});
    }
  }

  void note(const walk_error& e) {
    if (first_.end == walk_end::complete) first_ = e;
  }

  void walk_links(hid_t group, const std::string& path, int depth) {
    for (const std::string& name : link_names(group, path)) {
      attempt(path + name, [&] {
        const hdf5::handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose, "opening " + path + name);
        walk(object, path + name, depth + 1);
      });
    }
  }

  static void read_attributes(hid_t object, const std::string& path) {
    const int count = hdf5::checked(H5Aget_num_attrs(object), "attributes of " + path);
    for (int i = 0; i < count; ++i) {
      const hdf5::handle a(
          H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_NATIVE, static_cast<hsize_t>(i), H5P_DEFAULT, H5P_DEFAULT),
          H5Aclose, "attributes of " + path);
      const hdf5::handle type(H5Aget_type(a), H5Tclose, "attributes of " + path);
      const hdf5::handle space(H5Aget_space(a), H5Sclose, "attributes of " + path);
      if (H5Tget_class(type) == H5T_STRING) {
        char name[256] = "";
        hdf5::checked(H5Aget_name(a, sizeof name, name), "attributes of " + path);
        (void)hdf5::read_text_attribute(object, name);
      } else {
        read_numbers(a, type, space);
      }
    }
  }

  /// As a reader does, with a conversion. It reports what it cannot use.
  static void read_numbers(hid_t attribute, hid_t type, hid_t space) {
    const H5T_class_t kind = H5Tget_class(type);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || count <= 0) return;
    if (static_cast<std::size_t>(count) > max_value_bytes / sizeof(double)) return;
    std::vector<double> values(static_cast<std::size_t>(count));
    (void)H5Aread(attribute, kind == H5T_INTEGER ? H5T_NATIVE_UINT64 : H5T_NATIVE_DOUBLE, values.data());
  }

  static void open_tables(hid_t dataset, const std::string& path) {
    const hdf5::handle type(H5Dget_type(dataset), H5Tclose, "HDF5 type of " + path);
    const hdf5::handle properties(H5Dget_create_plist(dataset), H5Pclose, "HDF5 properties of " + path);
    (void)hdf5::shape_of(dataset);
    (void)H5Dget_storage_size(dataset);  // goes through the index of a dataset in chunks
  }

  /// What a process read without a crash may make another crash, so that it gets the texts.
  void copy_older_texts(hid_t file) {
    std::size_t used = 0;
    for (std::size_t i = 0; i < std::size(text_names); ++i) {
      if (!hdf5::has_variable_text(file, text_names[i])) continue;
      const std::string text = hdf5::read_text_attribute(file, text_names[i]);
      if (text.size() > sizeof report_.texts - used) {
        throw failure(exit_status::bad_data, fmt::format("attribute `{}` has {} bytes", text_names[i], text.size()));
      }
      std::memcpy(report_.texts + used, text.data(), text.size());
      used += text.size();
      report_.text_bytes[i] = text.size();
      report_.has_text[i] = true;
    }
  }

  walk_report& report_;
  walk_error first_;
  int objects_ = 0;
};

walk_error walk_file(const std::string& path, walk_report& report) {
  try {
    const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (id < 0) hdf5::fail(exit_status::bad_data, "is not a readable HDF5 file");
    report.is_opened = true;
    return table_walker(report).run(id);  // the end of the process closes the file
  } catch (const hdf5::disk_failure& f) {
    return {walk_end::disk_error, f.what()};
  } catch (const failure& f) {
    return {walk_end::error, f.what()};
  }
}

[[noreturn]] void walk_and_exit(const std::string& path, walk_report& report) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // CPU time: a slow disk is no defect of the file.
  const rlimit cpu_seconds{max_cpu_seconds, max_cpu_seconds + 1};
  setrlimit(RLIMIT_CPU, &cpu_seconds);
  for (const int fatal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU})
    std::signal(fatal, SIG_DFL);  // MPI's print
  const walk_error found = walk_file(path, report);
  copy_text(report.message, found.message);
  report.end = found.end;
  _exit(0);
}

/// Memory shared with a process that fork() starts; null if there is none.
class shared_report {
 public:
  shared_report()
      : memory_(mmap(nullptr, sizeof(walk_report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~shared_report() {
    if (memory_ != MAP_FAILED) munmap(memory_, sizeof(walk_report));
  }
  shared_report(const shared_report&) = delete;
  shared_report& operator=(const shared_report&) = delete;

  walk_report* get() const { return memory_ == MAP_FAILED ? nullptr : static_cast<walk_report*>(memory_); }

 private:
  void* memory_;
};

/// How the other process ended.
std::string describe_crash(int status, const walk_report& report) {
  const bool endless = WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
  return fmt::format("HDF5 {} in a damaged table of {}", endless ? "does not end" : "crashes",
                     report.place[0] == '\0' ? "the file" : report.place);
}

std::map<std::string, std::string> older_texts(const walk_report& report) {
  std::map<std::string, std::string> texts;
  const char* from = report.texts;
  for (std::size_t i = 0; i < std::size(text_names); ++i) {
    if (report.has_text[i]) texts[text_names[i]] = std::string(from, report.text_bytes[i]);
    from += report.text_bytes[i];
  }
  return texts;
}

}  // namespace

walked_tables walk_tables_elsewhere(const std::string& path) {
  hdf5::prepare();
  const shared_report shared;
  if (shared.get() == nullptr) return {};
  walk_report& report = *shared.get();
  const pid_t child = fork();
  if (child == 0) walk_and_exit(path, report);
  if (child < 0) return {};
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (report.end == walk_end::crash) {
    throw failure(exit_status::bad_data, fmt::format("{}: {}; is it a complete copy of a voxherd result?", path,
                                                     describe_crash(status, report)));
  }
  const std::string message = report.message, where = report.is_opened ? path + ": " : path + " ";
  if (report.end == walk_end::disk_error) throw failure(exit_status::disk, where + message);
  if (!report.is_opened) throw failure(exit_status::bad_data, where + message);
  return {message, older_texts(report)};
}

std::vector<std::string> link_names(hid_t group, const std::string& path) {
  H5G_info_t info{};
  hdf5::checked(H5Gget_info(group, &info), "listing " + path);
  if (info.nlinks > max_links) {
    throw failure(exit_status::bad_data, fmt::format("group {} is not one of voxherd", path));
  }
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    char name[256];
    // In the order of the file: to sort the names HDF5 fills a table, and after an error it frees also the entries that
    // it has not filled.
    const auto length =
        H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_NATIVE, i, name, sizeof name, H5P_DEFAULT);
    hdf5::checked(length, "listing " + path);
    names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace voxherd
