#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "core/run_request.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/result_layout.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/analyses/ballstick/options.hpp"

namespace voxherd {

/// Complete results of xfibres, one item after another: of each item the bytes of all outputs.
class joined_rows final : public item_input {
 public:
  /// `voxels_apart`: from the first voxel of one result's image to that of the next in the joined image; 0 if all have
  /// the same image. Throws failure (missing_input, bad_data).
  joined_rows(const std::vector<std::string>& paths, std::uint64_t voxels_apart);

  const result_reader& first() const { return *parts_.front(); }
  const std::vector<std::unique_ptr<result_reader>>& parts() const { return parts_; }
  /// Of the joined image, in the order of the results.
  const std::vector<std::uint64_t>& voxels() const { return voxels_; }

  std::size_t bytes_per_item() const override { return bytes_; }
  void load(const batch& items, std::span<std::byte> rows) override;

 private:
  void load_part(const result_reader& part, const batch& items, std::span<std::byte> rows) const;

  std::vector<std::unique_ptr<result_reader>> parts_;
  std::vector<std::uint64_t> voxels_;
  std::size_t bytes_ = 0;
};

/// What a result of ballstick with these options and inputs is compared with.
result_layout describe_fit(const nlohmann::json& configuration, const nlohmann::json& inputs);

/// The first option or input in which a result differs from `wanted`, except for the device and the part of the mask.
std::optional<std::string> find_other_fit(const result_reader& result, const result_layout& wanted);

/// Throws failure (bad_data) if a result differs from `wanted`. `own_inputs`: inputs that each result has of its own,
/// which only must all or none of them have.
void check_fits(const joined_rows& joined, const result_layout& wanted,
                const std::vector<const char*>& own_inputs = {});

/// Whether `out` is a complete result of `wanted`, so that nothing is left to join. If it is asked
/// (study_question.hpp), it answers. Throws failure (usage) if it is another one and --overwrite does not replace it.
bool is_joined_already(const std::string& out, const result_layout& wanted, const run_request& request);

/// Writes the joined result to `out`. `inputs`: its description of the inputs. Collective. Throws failure.
exit_status run_joined(session& s, joined_rows& rows, const image_grid& grid, const run_request& request,
                       const std::string& out, nlohmann::json inputs);

}  // namespace voxherd
