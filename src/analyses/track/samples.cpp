#include "src/analyses/track/samples.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>

#include "mpi/result/result_reader.hpp"
#include "src/analyses/common/openmp_team.hpp"
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
  nlohmann::json provenance = nlohmann::json::object();
  /// (voxel, sample, fibre). Throws failure (bad_data) if the values cannot be samples.
  void read(packed_fibre* packed, int threads) {
    sample_check check;
    read(packed, threads, check);
    check.refuse_bad(names());
  }

 private:
  virtual void read(packed_fibre* packed, int threads, sample_check& check) = 0;
  /// Of th, ph, f of each fibre, for messages.
  virtual std::vector<std::string> names() const = 0;
};

/// Polar angle, azimuth and volume fraction of a fibre.
constexpr std::array sample_names{"th", "ph", "f"};

class result_source final : public sample_source {
 public:
  explicit result_source(const std::string& path) : result_(noted(path)) {
    if (!result_.complete())
      refuse_data(fmt::format("{}: is an incomplete result; complete it with --resume first", printable(path)));
    while (result_.has(fmt::format("th{}", fibres + 1))) ++fibres;
    if (fibres == 0)
      refuse_data(
          fmt::format("{}: is a result of {}, expected one of ballstick", printable(path), result_.analysis_name()));
    const auto& shape = result_.output("th1").shape;
    samples = shape.empty() ? 1 : static_cast<std::int32_t>(shape[0]);
    grid = result_.grid();
    voxels = result_.item_voxels();
    for (const std::string& name : columns())
      if (result_.output(name).shape != shape)
        refuse_data(fmt::format("{}: {} and th1 have different shapes; is it a complete copy of a voxherd result?",
                                printable(path), name));
    const auto& inputs = result_.provenance().value("inputs", nlohmann::json::object());
    if (inputs.contains("image")) provenance["image"] = inputs.at("image");
  }

 private:
  void read(packed_fibre* packed, int threads, sample_check& check) override {
    const std::vector<std::uint64_t> offsets = column_offsets();
    if (offsets.empty()) {
      read_with_hdf5(packed, threads, check);
    } else {
      read_on_threads(offsets, packed, threads, check);
    }
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> all;
    for (const std::string& column : columns()) all.push_back(printable(result_.path()) + ": " + column);
    return all;
  }

  /// Before the file is read, so that the check at the end of the run finds one that was replaced in between.
  const std::string& noted(const std::string& path) {
    provenance["samples"] = fingerprint(path);
    return path;
  }

  /// The names of th, ph, f of each fibre.
  std::vector<std::string> columns() const {
    std::vector<std::string> names;
    for (std::int32_t k = 1; k <= fibres; ++k)
      for (const char* name : sample_names) names.push_back(fmt::format("{}{}", name, k));
    return names;
  }

  /// Where the columns begin in the file; empty if only HDF5 can read one of them.
  std::vector<std::uint64_t> column_offsets() const {
    std::vector<std::uint64_t> offsets;
    for (const std::string& name : columns()) {
      const std::optional<std::uint64_t> offset = result_.rows_offset(name);
      if (!offset || result_.output(name).type != element_type::float32) return {};
      offsets.push_back(*offset);
    }
    return offsets;
  }

  /// Each thread reads and packs blocks of rows. HDF5 would read on one thread only.
  void read_on_threads(const std::vector<std::uint64_t>& offsets, packed_fibre* packed, int threads,
                       sample_check& check) const {
    constexpr std::size_t block_bytes = 512 << 10;  // size of a column's block
    const std::size_t row_bytes = static_cast<std::size_t>(samples) * sizeof(float);
    const std::size_t rows = std::max<std::size_t>(1, block_bytes / row_bytes);
    const auto blocks = static_cast<std::ptrdiff_t>((voxels.size() + rows - 1) / rows);
    const input_file file(result_.path());
    std::exception_ptr error;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (std::ptrdiff_t block = 0; block < blocks; ++block) {
      const std::size_t first = static_cast<std::size_t>(block) * rows, end = std::min(first + rows, voxels.size());
      try {
        for (const std::uint64_t begin : offsets) file.will_need(begin + first * row_bytes, (end - first) * row_bytes);
        const sample_check own = read_block(file, offsets, first, end, packed);
#pragma omp critical(voxherd_check_samples)
        check.add(own);
      } catch (...) {
#pragma omp critical(voxherd_read_samples)
        error = std::current_exception();
      }
    }
    if (error) std::rethrow_exception(error);
  }

  /// Rows [first, end), in pieces that stay in a core's cache between reading and packing.
  sample_check read_block(const input_file& file, const std::vector<std::uint64_t>& offsets, std::size_t first,
                          std::size_t end, packed_fibre* packed) const {
    constexpr std::size_t piece_bytes = 64 << 10;  // size of a column's piece
    const auto row = static_cast<std::size_t>(samples), stride = static_cast<std::size_t>(fibres);
    const std::size_t rows = std::max<std::size_t>(1, piece_bytes / (row * sizeof(float)));
    std::array<std::vector<float>, 3> column;
    sample_check check;
    for (; first < end; first += rows) {
      const std::size_t values = std::min(rows, end - first) * row;
      packed_fibre* const to = packed + first * row * stride;
      for (std::size_t k = 0; k < stride; ++k) {
        for (std::size_t c = 0; c < 3; ++c) {
          column[c].resize(values);
          file.read(offsets[3 * k + c] + first * row * sizeof(float), column[c].data(), values * sizeof(float));
        }
        check.add(k, track::pack_fibres(column[0], column[1], column[2], to + k, stride, 1));
      }
      check.add_overfull(track::count_overfull(to, values, stride, stride));
    }
    return check;
  }

  /// For files that were repacked: some rows are packed while this thread reads the next ones.
  void read_with_hdf5(packed_fibre* packed, int threads, sample_check& check) const {
    constexpr std::uint64_t rows_at_once = 16384;
    const auto stride = static_cast<std::size_t>(fibres);
    const std::size_t row = static_cast<std::size_t>(samples) * stride;
    std::future<void> packing;
    for (std::uint64_t first = 0; first < voxels.size(); first += rows_at_once) {
      auto columns = read_columns(first, std::min<std::uint64_t>(rows_at_once, voxels.size() - first));
      if (packing.valid()) packing.get();
      packing = std::async(
          threads > 1 ? std::launch::async : std::launch::deferred,
          [&check, own = std::move(columns), to = packed + first * row, stride, threads] {
            for (std::size_t k = 0; k < stride; ++k)
              check.add(k, track::pack_fibres(own[3 * k], own[3 * k + 1], own[3 * k + 2], to + k, stride, threads));
            check.add_overfull(track::count_overfull(to, own[0].size(), stride, stride));
          });
    }
    if (packing.valid()) packing.get();
  }

  std::vector<std::vector<float>> read_columns(std::uint64_t first, std::uint64_t rows) const {
    std::vector<std::vector<float>> values;
    for (const std::string& name : columns()) values.push_back(result_.read_rows<float>(name, first, rows));
    return values;
  }

  result_reader result_;
};

/// "" if there is no such image.
std::string find_samples_image(const std::string& name) {
  for (const char* extension : {".nii.gz", ".nii"})
    if (std::filesystem::exists(name + extension)) return name + extension;
  return "";
}

/// What the names of the samples' files begin with.
std::string sample_prefix(const std::string& path) {
  return std::filesystem::is_directory(path) ? (std::filesystem::path(path) / "merged").string() : path;
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
  folder_source(const std::string& path, const std::string& given_mask) {
    const std::string prefix = sample_prefix(path);
    std::vector<std::string> paths;
    while (has_samples_from(prefix, fibres + 1)) add_fibre(prefix, std::to_string(fibres + 1), paths);
    if (fibres == 0 && has_samples(prefix, "")) add_fibre(prefix, "", paths);
    if (fibres == 0)
      throw failure(exit_status::missing_input,
                    fmt::format("{}: has no {}_th1samples.nii.gz, expected a folder of bedpostX or a result of "
                                "ballstick (.h5)",
                                printable(path), std::filesystem::path(prefix).filename().string()));
    const std::filesystem::path folder = std::filesystem::path(prefix).parent_path();
    const std::string mask = given_mask.empty() ? required((folder / "nodif_brain_mask").string()) : given_mask;
    paths.push_back(mask);
    provenance["samples"] = fingerprint(paths);
    paths.pop_back();
    for (const std::string& image : paths) add(image);
    const nifti_header& first = headers_.front();
    samples = static_cast<std::int32_t>(first.volumes);
    grid = first.grid;
    voxels = voxels_inside(mask, first);
    provenance["image"] = first.geometry;
  }

 private:
  /// The files are inflated side by side, one volume of each at a time.
  void read(packed_fibre* packed, int threads, sample_check& check) override {
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
    std::vector<std::string> all;
    for (const nifti_header& header : headers_) all.push_back(printable(header.path));
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

  void add_fibre(const std::string& prefix, const std::string& number, std::vector<std::string>& paths) {
    for (const char* name : sample_names)
      paths.push_back(required(fmt::format("{}_{}{}samples", prefix, name, number)));
    ++fibres;
  }

  static std::string required(const std::string& name) {
    const std::string path = find_samples_image(name);
    if (!path.empty()) return path;
    throw failure(exit_status::missing_input,
                  fmt::format("{}.nii.gz: no such file, expected in a folder of bedpostX", printable(name)));
  }

  void add(const std::string& path) {
    headers_.push_back(read_nifti_header(path));
    const nifti_header &first = headers_.front(), &own = headers_.back();
    if (own.grid.size != first.grid.size || own.volumes != first.volumes)
      refuse_data(fmt::format("{}: has {} x {} x {} voxels and {} volumes, expected {} x {} x {} and {} as in {}",
                              printable(path), own.grid.size[0], own.grid.size[1], own.grid.size[2], own.volumes,
                              first.grid.size[0], first.grid.size[1], first.grid.size[2], first.volumes,
                              printable(first.path)));
    const double apart = largest_displacement_mm(first.grid.size, own.grid.voxel_to_world, first.grid.voxel_to_world);
    if (apart > 0.01 * *std::min_element(first.grid.voxel_size_mm.begin(), first.grid.voxel_size_mm.end()))
      refuse_data(
          fmt::format("{}: its matrix places voxels up to {:.3g} mm away from those of {}, expected the same "
                      "matrix in all samples",
                      printable(path), apart, printable(first.path)));
  }

  std::vector<nifti_header> headers_;  ///< th, ph, f of each fibre
};

bool is_folder(const std::string& path) {
  return std::filesystem::is_directory(path) || has_samples(path, "1") || has_samples(path, "");
}

std::unique_ptr<sample_source> open_source(const std::string& path, const std::string& mask) {
  if (is_folder(path)) return std::make_unique<folder_source>(path, mask);
  return std::make_unique<result_source>(path);
}

}  // namespace

posterior_samples read_posterior_samples(const session& s, const std::string& path, const std::string& mask,
                                         int threads) {
  std::unique_ptr<sample_source> source;
  fsl_grid grid;
  std::vector<std::uint64_t> voxels;
  std::int32_t counts[2] = {};
  nlohmann::json provenance;
  bool is_masked = false;
  s.on_root([&] {
    source = open_source(path, mask);
    is_masked = !mask.empty() && is_folder(path);
    grid = fsl_grid(source->grid);
    voxels = grid.turned(source->voxels);
    counts[0] = source->fibres, counts[1] = source->samples;
    provenance = source->provenance;
  });
  s.note_stage("samples opened");
  s.broadcast(grid);
  s.broadcast(voxels);
  for (std::int32_t& n : counts) s.broadcast(n);
  s.broadcast(provenance);
  const std::size_t bytes =
      voxels.size() * static_cast<std::size_t>(counts[0]) * static_cast<std::size_t>(counts[1]) * sizeof(packed_fibre);
  s.broadcast(is_masked);
  posterior_samples all{grid,
                        std::move(voxels),
                        counts[0],
                        counts[1],
                        provenance,
                        is_masked,
                        node_memory(s, bytes, "the posterior samples")};
  const node_cores cores(s);
  s.agree([&] {
    if (s.node_rank() != 0) return;
    if (!source) source = open_source(path, mask);
    // In a thread of its own, because this rank may be bound to a few cores while the others of its node wait.
    const auto read_on_all_cores = [&] {
      const openmp_team team;
      cores.use_all();
      source->read(reinterpret_cast<packed_fibre*>(all.memory.bytes().data()), threads > 0 ? threads : cores.count());
    };
    std::async(std::launch::async, read_on_all_cores).get();
  });
  return all;
}

}  // namespace voxherd
