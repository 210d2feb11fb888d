#include "mpi/result/hdf5_input.hpp"

#include "mpi/result/hdf5_handle.hpp"

namespace voxherd {

struct hdf5_input::state {
  std::string name;
  hdf5::handle file;
};

namespace {

/// Calls read(); what it throws names the file.
template <class Read>
auto read_named(const std::string& name, const Read& read) {
  try {
    return read();
  } catch (const hdf5::disk_failure& f) {
    fail_on_disk("{}: {}", name, f.what());
  } catch (const failure& f) {
    refuse_data("{}: {}", name, f.what());
  }
}

/// Text of variable or fixed length, alone or in an array of one.
std::string read_text(hid_t file, const std::string& name) {
  const hdf5::handle dataset = hdf5::open_dataset(file, name),
                     type(H5Dget_type(dataset), H5Tclose, "HDF5 type of " + name);
  if (H5Tget_class(type) != H5T_STRING || hdf5::count_values(file, dataset, name) != 1)
    refuse_data(name + " is not a text");
  const std::string what = "reading " + name;
  if (H5Tis_variable_str(type) > 0) {
    char* stored = nullptr;
    hdf5::checked(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &stored), what);
    const std::string text = stored == nullptr ? "" : stored;
    H5free_memory(stored);
    return text;
  }
  std::string text(H5Tget_size(type), '\0');
  hdf5::checked(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()), what);
  return text.substr(0, text.find('\0'));
}

}  // namespace

hdf5_input::hdf5_input(const std::string& path) : state_(new state{path, hdf5::open_file(path)}) {}

hdf5_input::~hdf5_input() = default;

bool hdf5_input::has(const std::string& dataset) const {
  for (std::size_t at = dataset.find('/'); at != dataset.npos; at = dataset.find('/', at + 1))
    if (H5Lexists(state_->file, dataset.substr(0, at).c_str(), H5P_DEFAULT) <= 0) return false;
  return H5Lexists(state_->file, dataset.c_str(), H5P_DEFAULT) > 0;
}

std::string hdf5_input::text(const std::string& dataset) const {
  return read_named(state_->name, [&] { return read_text(state_->file, dataset); });
}

std::vector<double> hdf5_input::doubles(const std::string& dataset) const {
  return read_named(state_->name, [&] { return hdf5::read_all<double>(state_->file, dataset, H5T_NATIVE_DOUBLE); });
}

std::vector<float> hdf5_input::floats(const std::string& dataset) const {
  return read_named(state_->name, [&] { return hdf5::read_all<float>(state_->file, dataset, H5T_NATIVE_FLOAT); });
}

}  // namespace voxherd
