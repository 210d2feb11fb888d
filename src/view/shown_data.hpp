#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mpi/result/result_reader.hpp"
#include "src/analyses/connect/options.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/show/surfaces.hpp"

namespace voxherd::view {

/// A map that can be shown.
struct shown_map {
  std::string name, unit, meaning;
  std::string output;  ///< of the result; "" for the density of its paths, a volume of the image, or around a surface
  std::size_t components = 1, component = 0;
};

/// The file that was named: a result of any analysis, a NIfTI image, or a surface. For one thread. Throws failure.
class shown_data {
 public:
  /// `surface_values`: files for a surface. Throws failure (usage) if there are some for another file.
  explicit shown_data(const std::string& path, const std::vector<std::string>& surface_values = {});

  const std::string& path() const { return path_; }
  /// Of a surface: around it.
  const image_grid& grid() const { return grid_; }
  const result_reader* result() const { return result_.get(); }  ///< null for another file
  std::string analysis() const;                                  ///< analysis of a result; "" for another file
  const std::vector<shown_map>& maps() const { return maps_; }
  /// (nz, ny, nx) in the file's order.
  std::vector<float> read(const shown_map& map) const;

  bool has_image() const { return !surface_; }
  /// The surface, or those among a result's inputs.
  std::vector<shown_surface> read_surfaces() const;

  /// The inputs and settings of connect: tensors of a result of `tensor`, the series of another one, or the gradients
  /// beside a series. `why`: in words, if there are none.
  std::optional<connect_request> find_connect_request(std::string& why) const;
  /// The regions of a result's connectome, if their image still exists; else "".
  std::string find_parcellation() const;
  /// The map that is shown in colour first; "" for none.
  std::string find_overlay() const;

 private:
  std::vector<float> read_anatomy() const;
  void list_outputs();
  void list_volumes();

  std::string path_;
  std::unique_ptr<result_reader> result_;
  std::optional<nifti_header> image_;
  std::optional<shown_surface> surface_;
  image_grid grid_;
  std::vector<shown_map> maps_;
};

}  // namespace voxherd::view
