#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/command.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/export/cifti_options.hpp"
#include "src/export/export_record.hpp"
#include "src/io/nifti/nifti_writer.hpp"

namespace voxherd {

/// Receives one volume on the image grid, x fastest, zero outside the mask.
using volume_sink = std::function<void(std::span<const float>)>;

/// Throws failure (bad_data) if the result is incomplete, or its values are not those that were written. Reads them
/// all.
void require_complete(const result_reader& result);

/// A complete result, read volume by volume by several threads, which take turns because HDF5 allows only one caller.
class result_volumes {
 public:
  /// `chunk_bytes`: memory that one call of samples() may use, at least one volume of voxels. Throws failure
  /// (missing_input, bad_data), also if the result is incomplete.
  result_volumes(const std::string& path, std::size_t chunk_bytes);

  const result_reader& result() const { return result_; }  ///< do not read from it while threads are running
  const image_grid& grid() const { return result_.grid(); }
  bool has(const std::string& output) const { return result_.has(output); }
  /// Number of values per voxel, or of samples per item.
  std::size_t components(const std::string& output) const;
  /// Number of outputs NAME1, NAME2, ...
  int count(const std::string& name) const;

  /// A map, one component after another. `components`: as of result_reader::read_map().
  std::vector<float> map(const std::string& name, std::uint64_t components = 0) const;
  /// 1 inside the mask, 0 outside.
  std::vector<float> mask() const;
  /// Passes one volume of each output, in the given order, for each stored sample. The outputs must have the same
  /// number of samples.
  void samples(const std::vector<std::string>& outputs, const volume_sink& sink) const;

 private:
  void read_columns(const std::string& output, std::size_t first, std::span<float> columns) const;

  result_reader result_;
  std::size_t chunk_bytes_;
  mutable std::mutex reading_;
};

/// An output that an image is made from.
struct needed_output {
  std::string name;
  std::uint64_t components = 0;                  ///< number of values per voxel that the image relies on; 0: any
  output_layout layout = output_layout::volume;  ///< items: samples
};

/// What an image can be made from: the outputs that it needs and no others, so that a missing one is found before the
/// first file is written.
class image_source {
 public:
  image_source(const result_volumes& result, const std::vector<needed_output>& needs)
      : result_(result), needs_(needs) {}

  const image_grid& grid() const { return result_.grid(); }
  /// A map, one component after another.
  std::vector<float> map(const std::string& name) const;
  std::vector<float> mask() const { return result_.mask(); }
  /// As result_volumes::samples().
  void samples(const std::vector<std::string>& outputs, const volume_sink& sink) const;

 private:
  const needed_output& find(const std::string& name, output_layout layout) const;

  const result_volumes& result_;
  const std::vector<needed_output>& needs_;
};

using image_maker = std::function<void(const image_source&, const volume_sink&)>;

/// An image to write: its header, and a function that makes its volumes one after another.
struct export_image {
  std::string name;  ///< relative to the folder, with extension
  nifti_image form;
  std::vector<needed_output> needs;  ///< outputs that `make` reads
  image_maker make;
};

struct export_text {
  std::string name;
  std::string text;
  bool shared = false;  ///< may exist already from another export to the same folder, and is then kept
  /// Makes a new text of a shared file that exists. Empty: it is kept as it is.
  std::function<std::string(const std::string& existing)> update = {};
};

/// A file in another format, written by rank 0.
struct export_file {
  std::string name;  ///< relative to the folder
  std::function<void(const std::string& path)> write;
};

/// All files of an exported folder.
struct export_plan {
  std::vector<std::string> folders;  ///< created even if they stay empty
  std::vector<export_image> images;
  std::vector<export_file> files;
  std::vector<export_text> texts;
  std::vector<export_text> marks;  ///< written last; removed before anything is replaced
};

/// Describes an image with the grid and geometry of the result's input; `meaning` becomes descrip.
nifti_image describe_image(const result_volumes& result, std::uint64_t volumes, const std::string& meaning);
/// The same with a display range for viewers.
nifti_image describe_image(const result_volumes& result, std::uint64_t volumes, const std::string& meaning, float least,
                           float most);

/// What an image of these samples needs.
std::vector<needed_output> needed_samples(const std::vector<std::string>& outputs);

/// Exports a map of the result under another name.
export_image map_image(const result_volumes& result, const std::string& map, const std::string& name);

struct export_settings {
  std::string result;  ///< file
  std::string out;     ///< folder or file
  bool overwrite = false;
  /// With overwrite: files that it knows to be made from this result are kept, texts only if equal. Null for none; used
  /// on rank 0.
  export_record* record = nullptr;
  /// With overwrite: whether an existing file may be replaced; null for all files.
  bool (*may_replace)(const std::string& path) = nullptr;
  bool quiet = false;
  /// Of the images of a program of FSL, which replace images of the same names with another ending; none: .nii.gz
  std::optional<image_type> type = {};
  bool half_positions = false;             ///< whether points in TRX are stored in 16 bits
  int threads = 1;                         ///< of this rank, that compress
  std::string subject, session;            ///< labels of BIDS names; "" for none
  std::vector<std::string> statistics_of;  ///< images whose means are written as CSV
  double tract_threshold = 0.001;          ///< of the density divided by waytotal, in a tract's voxels
  cifti_request cifti;
};

using export_planner = std::function<export_plan(const result_volumes&)>;

/// Opens the result, plans the files, and writes the folder; images are distributed over ranks and threads. Collective.
/// Throws failure, the same on every rank: errors of the planner, missing_input or bad_data for the result, usage if a
/// file exists and must not be overwritten, disk.
void export_folder(const session& s, const export_settings& settings, const export_planner& planner);

/// Throws failure (usage) if `path` exists and must not be overwritten.
void refuse_existing(const std::string& path, const export_settings& settings);

/// A format that results can be exported to: one word after `--to`.
struct export_kind {
  const char* name;
  const char* place;    ///< type of its output: "DIR" or "FILE"
  const char* meaning;  ///< for the help text
  bool has_labels;      ///< uses --subject and --session
  /// Collective. Throws failure.
  void (*run)(session&, const export_settings&);
};

/// Number of threads with which this rank compresses: `asked`, or for 0 its share of the available cores, at most 32.
/// Throws failure (usage).
int export_threads(const session& s, long long asked);

/// Bytes of samples that may be held for an image while they are reordered from voxels to volumes: 1 GiB per rank,
/// divided by the number of images that `threads` write at the same time.
std::size_t chunk_bytes_for(int threads);

}  // namespace voxherd
