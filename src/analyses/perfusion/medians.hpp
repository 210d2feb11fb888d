#pragma once

#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/comm/session.hpp"
#include "src/analyses/perfusion/text_values.hpp"

namespace voxherd {

/// Medians of maps over the fitted voxels of a study; of every second, third, ... item in a large one.
class median_collector {
 public:
  /// `written`: the outputs of the study's `items`.
  median_collector(const perfusion::model_info& model, const perfusion::map_set& written, std::uint64_t items);
  /// A batch that this rank receives.
  void add(const batch& voxels, std::span<const std::span<const std::byte>> outputs);
  /// Logs the medians over all ranks. Collective; once.
  void log(const session& s);

 private:
  struct summed_map {
    std::string name, unit;  ///< unit: " s", "" where the next map has the same
    std::size_t place = 0;   ///< among the outputs that are written
    std::vector<float> values = {};
  };

  std::vector<summed_map> maps_;
  std::size_t status_ = 0;
  std::uint64_t every_;
  std::uint64_t fitted_ = 0;
};

}  // namespace voxherd
