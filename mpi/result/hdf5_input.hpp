#pragma once

#include <memory>
#include <string>
#include <vector>

namespace voxherd {

/// An HDF5 file that another program wrote. Throws failure (bad_data, disk) with the file's name.
class hdf5_input {
 public:
  explicit hdf5_input(const std::string& path);
  ~hdf5_input();

  /// Whether a dataset exists; its groups need not.
  bool has(const std::string& dataset) const;
  std::string text(const std::string& dataset) const;
  /// All values in the order of the file, converted from any type of numbers.
  std::vector<double> doubles(const std::string& dataset) const;
  std::vector<float> floats(const std::string& dataset) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace voxherd
