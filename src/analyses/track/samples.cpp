#include "src/analyses/track/samples.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "mpi/result/result_reader.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/mask.hpp"

namespace voxherd {

namespace {

using track::packed_fibre;

/// Where samples are read from, by one process.
class sample_source {
 public:
  virtual ~sample_source() = default;
  image_grid grid;
  std::vector<std::uint64_t> voxels;
  std::int32_t fibres = 0, samples = 0;
  nlohmann::json provenance = nlohmann::json::object();
  /// (voxel, sample, fibre)
  virtual void read(packed_fibre* packed, int threads) = 0;
};

[[noreturn]] void refuse(const std::string& message) { throw failure(exit_status::bad_data, message); }

class result_source final : public sample_source {
 public:
  explicit result_source(const std::string& path) : result_(noted(path)) {
    if (!result_.complete())
      refuse(fmt::format("{}: is an incomplete result; complete it with --resume first", printable(path)));
    while (result_.has(fmt::format("th{}", fibres + 1))) ++fibres;
    if (result_.analysis_name() != "ballstick" || fibres == 0)
      refuse(fmt::format("{}: is a result of {}, expected one of ballstick", printable(path), result_.analysis_name()));
    const auto& shape = result_.output("th1").shape;
    samples = shape.empty() ? 1 : static_cast<std::int32_t>(shape[0]);
    grid = result_.grid();
    voxels = result_.item_voxels();
    const auto& inputs = result_.provenance().value("inputs", nlohmann::json::object());
    if (inputs.contains("image")) provenance["image"] = inputs.at("image");
  }

  void read(packed_fibre* packed, int threads) override {
    constexpr std::uint64_t rows_at_once = 16384;
    const auto width = static_cast<std::size_t>(samples), stride = static_cast<std::size_t>(fibres);
    for (std::uint64_t first = 0; first < voxels.size(); first += rows_at_once) {
      const std::uint64_t rows = std::min<std::uint64_t>(rows_at_once, voxels.size() - first);
      for (std::int32_t k = 0; k < fibres; ++k) {
        const auto column = [&](const char* name) {
          return result_.read_rows<float>(fmt::format("{}{}", name, k + 1), first, rows);
        };
        const auto polar = column("th"), azimuth = column("ph"), fraction = column("f");
        track::pack_fibres(polar, azimuth, fraction, packed + first * width * stride + static_cast<std::size_t>(k),
                           stride, threads);
      }
    }
  }

 private:
  /// Before the file is read, so that the check at the end of the run finds one that was replaced in between.
  const std::string& noted(const std::string& path) {
    provenance["samples"] = fingerprint(path);
    return path;
  }

  result_reader result_;
};

std::string image_in(const std::string& folder, const std::string& name) {
  for (const char* extension : {".nii.gz", ".nii"}) {
    const std::string path = (std::filesystem::path(folder) / (name + extension)).string();
    if (std::filesystem::exists(path)) return path;
  }
  return "";
}

class folder_source final : public sample_source {
 public:
  explicit folder_source(const std::string& folder) {
    std::vector<std::string> paths;
    for (;; ++fibres) {
      const std::string n = std::to_string(fibres + 1);
      if (image_in(folder, "merged_th" + n + "samples").empty()) break;
      for (const char* name : {"th", "ph", "f"})
        paths.push_back(required(folder, fmt::format("merged_{}{}samples", name, n)));
    }
    if (fibres == 0)
      throw failure(exit_status::missing_input,
                    fmt::format("{}: has no merged_th1samples.nii.gz, expected a folder of bedpostX or a result of "
                                "ballstick (.h5)",
                                printable(folder)));
    const std::string mask = required(folder, "nodif_brain_mask");
    paths.push_back(mask);
    provenance["samples"] = fingerprint(paths);
    paths.pop_back();
    for (const std::string& path : paths) add(path);
    const nifti_header& first = headers_.front();
    samples = static_cast<std::int32_t>(first.volumes);
    grid = first.grid;
    voxels = voxels_inside(mask, first);
    provenance["image"] = first.geometry;
  }

  void read(packed_fibre* packed, int threads) override {
    const auto stride = static_cast<std::size_t>(samples) * static_cast<std::size_t>(fibres);
    std::vector<float> volume(grid.voxel_count()), inside[3];
    for (std::size_t k = 0; k < static_cast<std::size_t>(fibres); ++k) {
      std::vector<nifti_reader> readers;
      for (std::size_t i = 0; i < 3; ++i) readers.emplace_back(headers_[3 * k + i]);
      for (std::size_t sample = 0; sample < static_cast<std::size_t>(samples); ++sample) {
        for (std::size_t i = 0; i < 3; ++i) {
          readers[i].read(sample, 0, volume.size(), volume.data());
          inside[i].clear();
          for (const std::uint64_t v : voxels) inside[i].push_back(volume[v]);
        }
        track::pack_fibres(inside[0], inside[1], inside[2], packed + sample * static_cast<std::size_t>(fibres) + k,
                           stride, threads);
      }
    }
  }

 private:
  static std::string required(const std::string& folder, const std::string& name) {
    const std::string path = image_in(folder, name);
    if (!path.empty()) return path;
    throw failure(exit_status::missing_input,
                  fmt::format("{}: has no {}.nii.gz, expected a folder of bedpostX", printable(folder), name));
  }

  void add(const std::string& path) {
    headers_.push_back(read_nifti_header(path));
    const nifti_header &first = headers_.front(), &own = headers_.back();
    if (own.grid.size != first.grid.size || own.volumes != first.volumes)
      refuse(fmt::format("{}: has {} x {} x {} voxels and {} volumes, expected {} x {} x {} and {} as in {}",
                         printable(path), own.grid.size[0], own.grid.size[1], own.grid.size[2], own.volumes,
                         first.grid.size[0], first.grid.size[1], first.grid.size[2], first.volumes,
                         printable(first.path)));
  }

  std::vector<nifti_header> headers_;  ///< th, ph, f of each fibre
};

std::unique_ptr<sample_source> open_source(const std::string& path) {
  if (std::filesystem::is_directory(path)) return std::make_unique<folder_source>(path);
  return std::make_unique<result_source>(path);
}

}  // namespace

posterior_samples read_posterior_samples(const session& s, const std::string& path, int threads) {
  std::unique_ptr<sample_source> source;
  image_grid grid;
  std::vector<std::uint64_t> voxels;
  std::int32_t counts[2] = {};
  nlohmann::json provenance;
  s.on_root([&] {
    source = open_source(path);
    grid = source->grid;
    voxels = source->voxels;
    counts[0] = source->fibres, counts[1] = source->samples;
    provenance = source->provenance;
  });
  s.broadcast(grid);
  s.broadcast(voxels);
  for (std::int32_t& n : counts) s.broadcast(n);
  s.broadcast(provenance);
  const std::size_t bytes =
      voxels.size() * static_cast<std::size_t>(counts[0]) * static_cast<std::size_t>(counts[1]) * sizeof(packed_fibre);
  posterior_samples all{grid,      std::move(voxels), counts[0],
                        counts[1], provenance,        node_memory(s, bytes, "the posterior samples")};
  s.agree([&] {
    if (s.node_rank() != 0) return;
    if (!source) source = open_source(path);
    source->read(reinterpret_cast<packed_fibre*>(all.memory.bytes().data()), threads);
  });
  return all;
}

}  // namespace voxherd
