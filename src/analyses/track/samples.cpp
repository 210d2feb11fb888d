#include "src/analyses/track/samples.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "core/failure.hpp"
#include "core/threads.hpp"
#include "mpi/run/study_question.hpp"
#include "src/analyses/common/openmp_team.hpp"
#include "src/analyses/track/result_samples.hpp"
#include "src/analyses/track/sample_check.hpp"
#include "src/export/exported_samples.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/mask.hpp"
#include "src/scan/node_resources.hpp"

namespace voxherd {

namespace {

using track::packed_fibre;

/// Where samples are read from, by one process.
class sample_source {
 public:
  virtual ~sample_source() = default;
  image_grid grid;
  std::vector<std::uint64_t> voxels;  ///< linear indices in the files
  std::int32_t fibres = 0, samples = 0;
  nlohmann::json image;                      ///< header of the samples, for exported files; null if it is not known
  std::future<nlohmann::json> fingerprints;  ///< of the files that are read
  /// (voxel, sample, fibre), into zeros. Throws failure (bad_data) if the values cannot be samples.
  void read(packed_fibre* packed, int threads) {
    sample_check check;
    read(packed, threads, check);
    check.refuse_bad(names());
  }

 private:
  virtual void read(packed_fibre* packed, int threads, sample_check& check) = 0;
  /// Names of th, ph, f of each fibre, for messages.
  virtual std::vector<std::string> names() const = 0;
};

/// Polar angle, azimuth and volume fraction of a fibre.
constexpr std::array sample_names{"th", "ph", "f"};

class result_source final : public sample_source {
 public:
  explicit result_source(const std::string& path) : rows_(noted(path)) {
    fibres = rows_.fibres();
    samples = rows_.samples();
    grid = rows_.result().grid();
    voxels = rows_.voxels();
    const auto& inputs = rows_.result().provenance().value("inputs", nlohmann::json::object());
    if (inputs.contains("image")) image = inputs.at("image");
  }

 private:
  void read(packed_fibre* packed, int threads, sample_check& check) override { rows_.read(packed, threads, check); }
  std::vector<std::string> names() const override { return rows_.names(fibres); }

  /// Before the file is read, so that the check at the end of the run finds one that was replaced in between.
  const std::string& noted(const std::string& path) {
    fingerprints = fingerprint_later({path});
    return path;
  }

  result_samples rows_;
};

/// "" if there is no such image.
std::string find_samples_image(const std::string& name) {
  std::error_code none;  // for example links that lead to themselves
  for (const char* extension : {".nii.gz", ".nii"})
    if (std::filesystem::exists(name + extension, none)) return name + extension;
  return "";
}

/// What the names of the samples' files begin with.
std::string sample_prefix(const std::string& path) {
  std::error_code none;
  return std::filesystem::is_directory(path, none) ? (std::filesystem::path(path) / "merged").string() : path;
}

/// Whether a fibre has a file of samples. Without a number there is one fibre, as old versions of FSL write it.
bool has_samples(const std::string& prefix, const std::string& number) {
  return std::any_of(sample_names.begin(), sample_names.end(), [&](const char* name) {
    return !find_samples_image(fmt::format("{}_{}{}samples", prefix, name, number)).empty();
  });
}

/// Whether there is a file of this fibre or of a later one. A folder that was copied in part has gaps.
bool has_samples_from(const std::string& prefix, std::int32_t fibre) {
  constexpr std::int32_t max_fibres = 32;  // more than bedpostX computes
  for (; fibre <= max_fibres; ++fibre)
    if (has_samples(prefix, std::to_string(fibre))) return true;
  return false;
}

class folder_source final : public sample_source {
 public:
  folder_source(const std::string& path, const std::string& given_mask, mask_rules rules) {
    const std::string prefix = sample_prefix(path);
    std::vector<std::string> paths;
    while (has_samples_from(prefix, fibres + 1)) add_fibre(prefix, std::to_string(fibres + 1), paths);
    if (fibres == 0 && has_samples(prefix, "")) add_fibre(prefix, "", paths);
    if (fibres == 0)
      refuse_missing(
          "{}: has no {}_th1samples.nii.gz, expected a folder of bedpostX or a result of "
          "ballstick (.h5)",
          path, std::filesystem::path(prefix).filename().string());
    const std::filesystem::path folder = std::filesystem::path(prefix).parent_path();
    const std::string mask = given_mask.empty() ? required((folder / "nodif_brain_mask").string()) : given_mask;
    open_result(folder.string(), paths, mask);
    if (exported_) {
      paths.resize(1);  // the others have the same grid
    } else {
      paths.push_back(mask);
      fingerprints = fingerprint_later(paths);
      paths.pop_back();
    }
    for (const std::string& file : paths) add(file);
    const nifti_header& first = headers_.front();
    samples = static_cast<std::int32_t>(first.volumes);
    grid = first.grid;
    voxels = voxels_inside(mask, first, rules);
    image = first.geometry;
  }

 private:
  void read(packed_fibre* packed, int threads, sample_check& check) override {
    if (!exported_) return inflate(packed, threads, check);
    exported_->read(exported_->find_rows(voxels), fibres, packed, threads, check);
  }

  /// The files are inflated side by side, one volume of each at a time.
  void inflate(packed_fibre* packed, int threads, sample_check& check) {
    const auto stride = static_cast<std::size_t>(samples) * static_cast<std::size_t>(fibres);
    std::vector<nifti_reader> readers;
    for (const nifti_header& header : headers_) readers.emplace_back(header);
    std::vector<std::vector<float>> inside(readers.size(), std::vector<float>(voxels.size()));
    std::vector<std::vector<float>> volumes(readers.size(), std::vector<float>(grid.voxel_count()));
    std::vector<std::exception_ptr> errors(readers.size());
    for (std::size_t sample = 0; sample < static_cast<std::size_t>(samples); ++sample) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
      for (std::size_t i = 0; i < readers.size(); ++i)
        errors[i] = read_volume(readers[i], sample, volumes[i], inside[i]);
      for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
      packed_fibre* to = packed + sample * static_cast<std::size_t>(fibres);
      for (std::size_t k = 0; k < static_cast<std::size_t>(fibres); ++k)
        check.add(k, track::pack_fibres(inside[3 * k], inside[3 * k + 1], inside[3 * k + 2], to + k, stride, threads));
      check.add_overfull(track::count_overfull(to, voxels.size(), stride, static_cast<std::size_t>(fibres)));
    }
  }

  std::vector<std::string> names() const override {
    if (exported_) return exported_->names(fibres);
    std::vector<std::string> all;
    for (const nifti_header& header : headers_) all.push_back(header.path);
    return all;
  }

  /// One volume's values in the mask. Returns the error, if any: none may leave a thread.
  std::exception_ptr read_volume(nifti_reader& reader, std::size_t number, std::vector<float>& volume,
                                 std::vector<float>& inside) const {
    try {
      reader.read(number, 0, volume.size(), volume.data());
      for (std::size_t i = 0; i < voxels.size(); ++i) inside[i] = volume[voxels[i]];
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

  /// Opens the result from which the files were exported, if it is certain that they have the same values.
  void open_result(const std::string& folder, const std::vector<std::string>& paths, const std::string& mask) {
    std::vector<std::string> names;
    for (const std::string& path : paths) names.push_back(std::filesystem::path(path).filename().string());
    exported_samples found = find_exported_samples(folder.empty() ? "." : folder, names);
    if (!found.result.empty()) {
      fingerprints = fingerprint_later({found.result, mask});
      found.problem = try_result(found.result);
    }
    if (exported_) {
      spdlog::info("samples: {}, from which {} and the others were exported", found.result, names.front());
    } else if (!found.problem.empty()) {
      spdlog::info("samples: {} and the others are inflated: {}", paths.front(), found.problem);
    }
  }

  /// Returns why the result cannot be read as quickly; "" if it is open.
  std::string try_result(const std::string& path) {
    try {
      result_samples result(path);
      const std::vector<std::uint64_t>& stored = result.voxels();
      if (!result.has_plain_rows() || result.fibres() < fibres || !std::is_sorted(stored.begin(), stored.end()))
        return path + " is arranged differently";
      exported_.emplace(std::move(result));
      return "";
    } catch (const failure& f) {
      return f.what();
    }
  }

  void add_fibre(const std::string& prefix, const std::string& number, std::vector<std::string>& paths) {
    for (const char* name : sample_names)
      paths.push_back(required(fmt::format("{}_{}{}samples", prefix, name, number)));
    ++fibres;
  }

  static std::string required(const std::string& name) {
    const std::string path = find_samples_image(name);
    if (!path.empty()) return path;
    refuse_missing("{}.nii.gz: no such file, expected in a folder of bedpostX", name);
  }

  void add(const std::string& path) {
    headers_.push_back(read_nifti_header(path));
    const nifti_header &first = headers_.front(), &own = headers_.back();
    if (own.grid.size != first.grid.size || own.volumes != first.volumes)
      refuse_data("{}: has {} x {} x {} voxels and {} volumes, expected {} x {} x {} and {} as in {}", path,
                  own.grid.size[0], own.grid.size[1], own.grid.size[2], own.volumes, first.grid.size[0],
                  first.grid.size[1], first.grid.size[2], first.volumes, first.path);
    const double apart = largest_displacement_mm(first.grid.size, own.grid.voxel_to_world, first.grid.voxel_to_world);
    if (apart > 0.01 * *std::min_element(first.grid.voxel_size_mm.begin(), first.grid.voxel_size_mm.end()))
      refuse_data(
          "{}: its matrix places voxels up to {:.3g} mm away from those of {}, expected the same "
          "matrix in all samples",
          path, apart, first.path);
  }

  std::vector<nifti_header> headers_;       ///< th, ph, f of each fibre
  std::optional<result_samples> exported_;  ///< has the same values, uncompressed
};

bool is_folder(const std::string& path) {
  std::error_code none;
  return std::filesystem::is_directory(path, none) || has_samples(path, "1") || has_samples(path, "");
}

std::unique_ptr<sample_source> open_source(const std::string& path, const std::string& mask, mask_rules rules) {
  if (is_folder(path)) return std::make_unique<folder_source>(path, mask, rules);
  return std::make_unique<result_source>(path);
}

sample_contents describe(const sample_source& source, const std::string& mask) {
  const fsl_grid grid(source.grid, source.image);
  return {grid, grid.turned(source.voxels), source.fibres, source.samples, mask};
}

}  // namespace

posterior_samples read_posterior_samples(const session& s, const std::string& path, const std::string& mask,
                                         mask_rules rules, int threads) {
  std::unique_ptr<sample_source> source;  // on rank 0 of each node
  sample_contents contents = s.from_root([&] {
    source = open_source(path, mask, rules);
    return describe(*source, is_folder(path) ? mask : "");
  });
  s.note_stage("samples opened");
  // For a question the files' fingerprints are enough.
  const std::size_t voxels_read = is_asked() ? 1 : contents.voxels.size();
  const std::size_t bytes = voxels_read * static_cast<std::size_t>(contents.fibres) *
                            static_cast<std::size_t>(contents.samples) * sizeof(packed_fibre);
  posterior_samples all{std::move(contents), nlohmann::json::object(), node_memory(s, bytes, "the posterior samples")};
  const node_cores cores(s);
  s.agree([&] {
    if (s.node_rank() != 0 || is_asked()) return;
    if (!source) source = open_source(path, all.mask, rules);
    // In a thread of its own, because this rank may be bound to a few cores while the others of its node wait.
    const auto read_on_all_cores = [&] {
      const openmp_team team;
      cores.use_all();
      source->read(reinterpret_cast<packed_fibre*>(all.memory.bytes().data()),
                   std::min(threads > 0 ? threads : cores.count(), max_team_threads()));
    };
    start_task("reads samples", read_on_all_cores).get();
  });
  all.provenance = s.from_root([&] {
    nlohmann::json files;
    files["samples"] = source->fingerprints.get();
    files["samples"]["voxels"] = all.voxels.size();
    if (!source->image.is_null()) files["image"] = source->image;
    return files;
  });
  return all;
}

}  // namespace voxherd
