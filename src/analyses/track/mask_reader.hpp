#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "src/analyses/track/inputs.hpp"
#include "src/analyses/track/options.hpp"
#include "src/analyses/track/surface_reader.hpp"
#include "src/io/fingerprint.hpp"
#include "src/scan/label_image.hpp"

namespace voxherd {

/// Reads masks and seeds in the image of the seeds: marks its voxels, collects surfaces, and notes the files. In one
/// process.
class mask_reader {
 public:
  /// Begins without masks, except that of the samples. Samples and space outlive this. Throws failure.
  mask_reader(const track_request& request, const sample_contents& samples, const track_space& space);

  const sample_contents& samples() const { return samples_; }
  const track_space& space() const { return space_; }
  const fsl_grid& grid() const { return space_.grid; }
  const track_places& places() const { return places_; }
  const inverse_error& warp_error() const { return warp_error_; }
  surface_reader& surfaces() { return surfaces_; }

  /// Whether a streamline from this voxel's centre starts in the samples.
  bool has_samples(std::uint64_t voxel) const;
  /// The labels of an image in the grid. Throws failure.
  label_image read_image(const std::string& path, label_kind kind) const;

  /// Notes the fingerprint of a file under a name.
  void note(const std::string& name, const std::string& path) { notes_[name] = fingerprint(path); }
  /// The voxels of an image; their number is noted, too.
  std::vector<std::uint64_t> noted_voxels(const std::string& name, const label_image& image);
  /// What was noted since the last call.
  nlohmann::json take_notes() { return std::exchange(notes_, nlohmann::json::object()); }

  void mark(std::uint64_t voxel, std::uint32_t marks) { places_.voxels[voxel].marks |= marks; }
  /// Moves the marks of masks from the voxels to the draw whose masks they are.
  void move_marks(track_draw& draw);
  track_places take_places() { return std::move(places_); }

 private:
  const sample_contents& samples_;
  const track_space& space_;
  std::string reference_;  ///< seed_space_image()
  mask_rules rules_;
  track_places places_;
  inverse_error warp_error_;
  surface_reader surfaces_;
  nlohmann::json notes_ = nlohmann::json::object();
};

}  // namespace voxherd
