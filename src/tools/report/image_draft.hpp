#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/tools/report/draft.hpp"

namespace voxherd::report {

/// A page that is being made from images.
struct image_draft final : draft {
  explicit image_draft(const image_grid& g) : draft(g) {}

  const output_spec* find(const std::string& name) const override;
  std::vector<output_spec> outputs() const override;
  std::vector<float> read_map(const std::string& name) const override;
  /// `width`: numbers per voxel, component fastest.
  void add(std::string name, std::size_t width, std::string unit, std::string meaning, std::vector<float> values);
  /// Pictures and distributions are of these voxels.
  void show(std::vector<std::uint64_t> inside);

 private:
  std::vector<std::pair<output_spec, std::vector<float>>> maps_;
};

/// An image of several volumes, or a folder of FSL's bedpostX, instead of a result.
bool is_image(const std::string& path);
bool is_folder(const std::string& path);

struct scan_files {
  std::string image, bvals, bvecs, mask;  ///< "" for none
};

/// The page of a scan: its volumes, noise and gradients. Throws failure (missing_input, bad_data).
page make_scan_page(const scan_files& files);
/// The page of a folder of bedpostX: the ball & stick model's maps. Throws failure (missing_input, bad_data).
page make_fsl_page(const std::string& folder);

/// Pictures and distributions of the ball & stick model's maps, which a result and FSL's folder have. Returns the
/// number of fibres.
int add_ballstick_maps(draft& d);
void add_ballstick_distributions(draft& d, int fibres);

}  // namespace voxherd::report
