#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <sstream>

#include "core/command.hpp"
#include "mpi/result/result_reader.hpp"
#include "mpi/run/signals.hpp"
#include "mpi/run/study_question.hpp"
#include "src/analyses/track/mask_files.hpp"
#include "src/analyses/track/options.hpp"
#include "src/analyses/track/spaces.hpp"
#include "src/export/dot_folder.hpp"
#include "src/fsl/fsl_output.hpp"
#include "src/fsl/fsl_words.hpp"
#include "src/fsl/probtrackx2.hpp"
#include "src/fsl/probtrackx2_matrices.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/fsl_grid.hpp"
#include "src/scan/image_checks.hpp"
#include "src/scan/voxel_map.hpp"
#include "src/scan/warps/transform.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

std::string tracked_in(const std::string& folder) { return folder + "/voxherd.h5"; }

constexpr std::uint64_t max_saved_paths = 100'000'000;  // the most that track stores

struct probtrackx2_request : track_request {
  std::string dir = "logdir", file_name = "fdt_paths";
  bool force_dir = false;
  bool density = false, distance_corrected = false, mean_lengths = false, to_targets = false;
  bool target_text = false, target_densities = false, saved_paths = false;
  bool simple = false;  ///< the seeds are voxels, listed in a text file
  /// FSL's matrices 1, 2, 3, 4.
  bool matrix_of_seeds = false, matrix_of_mask = false, matrix_of_pairs = false, matrix_of_fibres = false;
  std::string mask2, mask3, columns3, mask4, columns4;  ///< masks of the matrices 2, 3 and 4; "" for none
  bool one_vertex = false;
  std::string counted_surface;  ///< whose vertices count streamlines, or a list of them; "" for none
  double min_length1_mm = 0, min_length3_mm = 0;
  std::int32_t points = 2000;              ///< points of both halves together
  float min_cosine = 0.2f;                 ///< between two steps
  std::vector<std::string> no_difference;  ///< options of FSL
};

void check_probtrackx2(const probtrackx2_request& r, const given_options&) {
  const auto need = [](bool is_given, const char* words) {
    if (!is_given) refuse_usage("probtrackx2: {} is missing", words);
  };
  need(!r.samples.empty(), "-s, the samples (subject.bedpostX/merged),");
  need(!r.mask.empty(), "-m, the mask of the samples (subject.bedpostX/nodif_brain_mask),");
  need(!r.seed_image.empty() || !r.connectome.empty(), "-x, the seeds,");
  if (r.has_counted_regions()) refuse_usage("probtrackx2: give --seed-image or --network-masks, not both");
  if (r.file_name.find('/') != std::string::npos)
    refuse_usage("probtrackx2: -o {}: expected a name without folders; --dir is the folder", r.file_name);
  if (!r.inverse_transform.empty() && r.transform.empty())
    refuse_usage("probtrackx2: --invxfm has no meaning without --xfm");
  if (r.transform.size() > 1 || r.inverse_transform.size() > 1)
    refuse_usage("probtrackx2: --xfm and --invxfm take one file each; voxherd track takes several of ITK");
  if (r.to_targets && r.targets.empty())
    refuse_usage("probtrackx2: --os2t needs --targetmasks, the masks that are counted");
  const bool has_matrix = r.matrix_of_seeds || r.matrix_of_mask || r.matrix_of_pairs || r.matrix_of_fibres;
  if (r.simple && (!r.connectome.empty() || r.to_targets || has_matrix))
    refuse_usage("probtrackx2: --simple has no --network, --os2t and --omatrix1, 2, 3, 4; give a mask of the seeds");
  if (r.target_densities && r.distance_corrected)
    refuse_usage("probtrackx2: --otargetpaths has no --pd; run the command without --pd for its densities");
  if (r.saved_paths && !r.paths.empty()) refuse_usage("probtrackx2: give --savepaths or --paths, not both");
  if (!r.counted_surface.empty() && (r.matrix_of_mask || r.simple))
    refuse_usage("probtrackx2: --fopd has no --omatrix2 and --simple; run the command for each");
  if (r.matrix_of_mask != !r.mask2.empty()) refuse_usage("probtrackx2: give --omatrix2 and --target2 together");
  if (r.matrix_of_pairs != !r.mask3.empty()) refuse_usage("probtrackx2: give --omatrix3 and --target3 together");
  if (r.matrix_of_fibres != !r.mask4.empty()) refuse_usage("probtrackx2: give --omatrix4 and --target4 together");
  if (!r.matrix_of_pairs && !r.columns3.empty())
    refuse_usage("probtrackx2: --lrtarget3 has no meaning without --omatrix3");
  if (r.matrix_of_seeds && r.matrix_of_pairs && r.min_length1_mm != r.min_length3_mm)
    refuse_usage("probtrackx2: --distthresh1 and --distthresh3 differ; run the command for each matrix");
  if (r.density || r.to_targets || has_matrix) return;
  if (r.distance_corrected) refuse_usage("probtrackx2: --pd has no meaning without --opd, --os2t or --omatrix1, 2, 3");
}

/// The options of track. Names that mean something else to FSL are replaced; the folder takes the place of --out.
option_table<probtrackx2_request> with_track_options(option_table<probtrackx2_request> table) {
  using T = probtrackx2_request;
  return std::move(table)
      .inherit(track_options(),
               [](const option_spec& spec) -> std::string {
                 if (spec.name == "out" || spec.name.starts_with("tract") || spec.group == "Matrices") return "";
                 if (spec.name == "join-regions" || spec.name == "end-radius") return "";
                 if (spec.name == "max-steps" || spec.name == "max-angle") return "";
                 if (spec.name == "random-seed") return "rseed";
                 return spec.name == "connectome" ? "network-masks" : spec.name;
               })
      .group("Streamlines",
             {{"nsteps",
               &T::points,
               range{4, 1'000'000},
               {"points of a streamline, half of them on each side of the seed"}},
              {"cthr", &T::min_cosine, range{0, 1}, {"smallest cosine of the angle between two steps"}}});
}

const option_table<probtrackx2_request>& probtrackx2_options() {
  using T = probtrackx2_request;
  static const option_table<T> table =
      with_track_options(
          option_table<T>().group(
              "FSL's folder",
              {{"dir",
                &T::dir,
                text_kind::file,
                {.text = "folder to write; while it exists, + is appended to its name", .value = "DIR"}},
               {"forcedir", &T::force_dir, {"write into DIR if it exists, and replace the results there"}},
               {"file-name",
                &T::file_name,
                text_kind::any,
                {.text = "name of the density (FSL's --out)", .value = "NAME"}},
               {"opd", &T::density, {"write the density of streamlines"}},
               {"os2t", &T::to_targets, {"write an image of the seed voxels for each of --targets: seeds_to_NAME"}},
               {"s2tastext",
                &T::target_text,
                {.text = "also write this as text, one row per seed voxel: matrix_seeds_to_all_targets",
                 .needs = "os2t"}},
               {"otargetpaths",
                &T::target_densities,
                {.text = "also write a density of the streamlines to each target: target_paths_NAME", .needs = "os2t"}},
               {"simple",
                &T::simple,
                {"the seeds are a text file with the voxel x y z of one seed per line; write a density of each: "
                 "NAME_X_Y_Z"}},
               {"savepaths",
                &T::saved_paths,
                {"write the points of all accepted streamlines; if there are more than 100 million, of that many, "
                 "evenly chosen: "
                 "saved_paths.txt"}},
               {"pd",
                &T::distance_corrected,
                {"write it with distance correction: times the mean length of the paths"}},
               {"ompl", &T::mean_lengths, {"also write the mean lengths of the paths: NAME_lengths, and of a network"}},
               {"omatrix1", &T::matrix_of_seeds, {"write the matrix of seeds by seeds: fdt_matrix1.dot"}},
               {"omatrix2", &T::matrix_of_mask, {"write the matrix of seeds by voxels of --target2: fdt_matrix2.dot"}},
               {"target2", &T::mask2, text_kind::file, {"mask of the columns of --omatrix2, on a grid of its own"}},
               {"omatrix3",
                &T::matrix_of_pairs,
                {"write the matrix of pairs of voxels of --target3 that streamlines connect: fdt_matrix3.dot"}},
               {"target3", &T::mask3, text_kind::file, {"mask of the rows and columns of --omatrix3"}},
               {"fopd",
                &T::counted_surface,
                text_kind::file,
                {"surface, or a list of them, whose vertices count streamlines: NAME_alt.gii"}},
               {"lrtarget3",
                &T::columns3,
                text_kind::file,
                {"another mask of the columns of --omatrix3, on a grid of its own"}},
               {"omatrix4",
                &T::matrix_of_fibres,
                {"write the matrix of voxels of --target4 by seeds, with the fibres followed: fdt_matrix4_1.mtx, _2, "
                 "_3"}},
               {"target4", &T::mask4, text_kind::file, {"mask of the rows of --omatrix4, on the grid of the samples"}},
               {"colmask4",
                &T::columns4,
                text_kind::file,
                {"mask of the columns of --omatrix4, or a list of them, instead of the seeds"}},
               {"closestvertex",
                &T::one_vertex,
                {"in matrices, a crossed triangle of a surface reaches one corner, not all three"}},
               {"distthresh1",
                &T::min_length1_mm,
                range{0, 100000},
                {.text = "shorter streamlines are not counted in --omatrix1", .unit = "mm"}},
               {"distthresh3",
                &T::min_length3_mm,
                range{0, 100000},
                {.text = "shorter streamlines are not counted in --omatrix3", .unit = "mm"}},
               {"no-difference",
                &T::no_difference,
                text_kind::any,
                {.text = "an option of FSL that has no effect here (-V, ...)", .value = "OPTION"}}}))
          .check(check_probtrackx2);
  return table;
}

/// The image whose grid all masks but that of the samples must have: on another one they would be in FSL's millimetres,
/// not in the world's.
std::string find_reference(const track_request& r) {
  const bool has_seed_image = !r.seed_image.empty() || !r.connectome.empty();
  if (r.reference.empty() && (r.transform.empty() || !has_seed_image)) return r.mask;
  return seed_space_image(r);
}

/// How far the headers' matrices place the corners of an image from where FSL's millimetres do.
double largest_shift_mm(const fsl_grid& seeds, const fsl_grid& samples) {
  const voxel_map by_world = map_by_world(seeds, samples), by_size = map_by_voxel_size(seeds, samples);
  double largest = 0;
  for (int corner = 0; corner < 8; ++corner) {
    vector3 voxel{};
    for (std::size_t d = 0; d < 3; ++d)
      voxel[d] = (corner >> d & 1) != 0 ? static_cast<double>(seeds.size[d] - 1) : 0.0;
    const vector3 a = by_world(voxel), b = by_size(voxel);
    double squares = 0;
    for (std::size_t d = 0; d < 3; ++d) squares += std::pow((a[d] - b[d]) * samples.voxel_size_mm[d], 2);
    largest = std::max(largest, std::sqrt(squares));
  }
  return largest;
}

bool has_grid(const nifti_header& image, const nifti_header& other) {
  constexpr double tolerance = 1e-3;
  const auto &a = image.grid.voxel_size_mm, &b = other.grid.voxel_size_mm;
  return image.grid.size == other.grid.size &&
         std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) { return std::abs(x - y) <= tolerance * y; });
}

/// Without --xfm: seeds on another grid than the samples are placed by voxel sizes, as FSL does.
void choose_seed_space(track_request& r) {
  if (!r.transform.empty()) return;
  const auto& seeds = r.seeds();
  const bool has_image = !std::all_of(seeds.begin(), seeds.end(), is_surface_mask);
  const std::string image = !r.reference.empty() ? r.reference : has_image ? first_image(seeds) : r.mask;
  r.reference.clear();  // the samples' grid
  const nifti_header own = read_nifti_header(image), samples = read_nifti_header(r.mask);
  if (has_grid(own, samples)) return;
  r.reference = image;
  r.match = space_match::voxel_size;
}

/// On one process.
void log_seed_space(const track_request& r) {
  if (r.match == space_match::world) return;
  const nifti_header own = read_nifti_header(r.reference), samples = read_nifti_header(r.mask);
  const double shift_mm = largest_shift_mm(fsl_grid(own), fsl_grid(samples));
  const auto& voxel = samples.grid.voxel_size_mm;
  const std::string told =
      fmt::format("{}: is on another grid than {}; without --transform it is placed by voxel sizes, as FSL does",
                  r.reference, r.mask);
  if (shift_mm > *std::max_element(voxel.begin(), voxel.end())) {
    spdlog::warn("{}; the matrices of the headers place it up to {:.3g} mm away from there", told, shift_mm);
  } else {
    spdlog::info("{}", told);
  }
}

/// FSL places the coarser grid of --target2 by voxel sizes, whatever its header says. On one process.
void log_target_space(const track_request& r) {
  if (r.target2.empty() || is_surface_mask(r.target2) || !is_nifti_name(r.target2)) return;
  const nifti_header targets = read_nifti_header(r.target2), seeds = read_nifti_header(find_reference(r));
  const double shift_mm = largest_shift_mm(fsl_grid(seeds), fsl_grid(targets));
  const auto& voxel = targets.grid.voxel_size_mm;
  if (shift_mm > *std::max_element(voxel.begin(), voxel.end()))
    spdlog::warn(
        "--target2 {}: is placed by the matrices of its header and that of {}; FSL places it by voxel sizes alone, up "
        "to {:.3g} mm away from there",
        r.target2, seeds.path, shift_mm);
}

void check_grids(const track_request& r) {
  const nifti_header first = read_nifti_header(find_reference(r));
  for (const mask_option& option : mask_options)
    for (const std::string& path : r.*option.masks) {
      if (is_surface_mask(path)) continue;
      const auto &found = read_nifti_header(path).grid.size, &expected = first.grid.size;
      if (found != expected)
        refuse_data("{}: has {} x {} x {} voxels, expected {} x {} x {} as in {}; resample it to this grid", path,
                    found[0], found[1], found[2], expected[0], expected[1], expected[2], first.path);
    }
}

// Results of what only FSL's command asks for.
std::string simple_file(const std::string& folder) { return folder + "/voxherd_simple.h5"; }
std::string target_paths_file(const std::string& folder) { return folder + "/voxherd_target_paths.h5"; }

std::string matrix_file(const std::string& folder, int number) {
  return fmt::format("{}/voxherd_matrix{}.h5", folder, number);
}

/// The path of a mask, or of a list of them.
std::string find_one_or_list(const std::string& name, const char* option) {
  const std::vector<std::string> masks = find_mask_files({name}, option);
  return masks.size() == 1 ? masks.front() : name;
}

/// --target4: an image on the grid of the samples' mask.
std::string find_samples_mask(const std::string& name, const std::string& mask) {
  const std::string path = find_mask_file(name, "target4");
  const auto found = read_nifti_header(path).grid.size, expected = read_nifti_header(mask).grid.size;
  if (found != expected)
    refuse_data("--target4 {}: has {} x {} x {} voxels, expected {} x {} x {} as in {}; resample it to this grid", path,
                found[0], found[1], found[2], expected[0], expected[1], expected[2], mask);
  return path;
}

/// The matrices, in files of their own in the folder.
void add_matrices(const probtrackx2_request& request, const std::string& folder, track_request& r) {
  if (request.matrix_of_seeds) r.matrix1 = matrix_file(folder, 1);
  if (request.matrix_of_mask) {
    r.matrix2 = matrix_file(folder, 2);
    r.target2 = find_mask_file(request.mask2, "target2");
    std::error_code none;
    if (!is_nifti_name(r.target2) && fs::is_regular_file(r.target2, none))
      refuse_data("--target2 {}: expected one image", r.target2);
  }
  if (!request.counted_surface.empty()) {
    r.matrix2 = folder + "/voxherd_surface_paths.h5";
    r.target2 = request.counted_surface;
    for (const std::string& path : find_mask_files({r.target2}, "fopd"))
      if (!is_surface_mask(path))
        refuse_usage("probtrackx2: --fopd {}: is not a surface; multiply the density by it", path);
  }
  if (request.matrix_of_pairs) {
    r.matrix3 = matrix_file(folder, 3);
    r.target3 = find_one_or_list(request.mask3, "target3");
    if (!request.columns3.empty()) r.target3_columns = find_one_or_list(request.columns3, "lrtarget3");
  }
  if (request.matrix_of_fibres) {
    r.matrix4 = matrix_file(folder, 4);
    r.target4 = find_samples_mask(request.mask4, r.mask);
    if (!request.columns4.empty()) r.matrix4_rows = find_one_or_list(request.columns4, "colmask4");
  }
  r.closest_vertex = request.one_vertex;
  // FSL counts the points, one more than the steps.
  const double min_length_mm = request.matrix_of_seeds ? request.min_length1_mm : request.min_length3_mm;
  r.matrix_min_length_mm = std::max(0.0, min_length_mm - static_cast<double>(r.step_mm));
}

/// Its cosine, rounded to a float, is `cosine`. Six decimals if they are enough.
double angle_degrees(float cosine) {
  const double angle = std::acos(static_cast<double>(cosine)) * 180 / std::numbers::pi;
  const double rounded = std::round(angle * 1e6) / 1e6;
  return static_cast<float>(std::cos(rounded * std::numbers::pi / 180)) == cosine ? rounded : angle;
}

/// With a matrix FSL does not read --invxfm. Throws failure (usage) if a warp has no inverse.
void drop_unused_inverse(track_request& r) {
  if (r.transform.empty()) return;
  const std::string& file = r.transform.front();
  if (!is_warp(file)) {
    r.inverse_transform.clear();
  } else if (r.inverse_transform.empty() || !is_warp(r.inverse_transform.front())) {
    refuse_usage("probtrackx2: --xfm {} is a warp; give --invxfm, the warp of the other direction", file);
  }
}

/// The request for track, with the images of its lists.
track_request make_track_request(const probtrackx2_request& request, const std::string& folder) {
  track_request r = request;
  r.masks = mask_rules::fsl;
  // XTRACT passes --ordered with one mask too.
  if (r.ordered && find_mask_files(r.includes, "include").size() < 2) r.ordered = false;
  if (request.simple) {
    (void)input_file(request.seed_image.front());
    r.seed_image.clear();  // it is a list of voxels, not a mask
    if (r.reference.empty() && !r.transform.empty()) r.reference = r.mask;
  }
  drop_unused_inverse(r);
  r = with_mask_files(r);
  if (r.connectome.size() == 1)
    refuse_usage(
        "probtrackx2: -x {}: --network needs a text file with at least two masks; for a parcellation use the command "
        "track of voxherd",
        request.connectome.front());
  choose_seed_space(r);
  check_grids(r);
  r.max_steps = request.points / 2 - 1;
  r.max_angle_degrees = angle_degrees(request.min_cosine);
  r.tallies.set<track::lengths>(request.distance_corrected || request.mean_lengths);
  add_matrices(request, folder, r);
  if (request.saved_paths) {
    r.paths = folder + "/voxherd_paths.h5";
    r.max_paths = max_saved_paths;
  }
  r.run.out = tracked_in(folder);
  r.run.overwrite = r.run.overwrite || (request.force_dir && !r.run.resume);
  return r;
}

track_extension make_extension(const probtrackx2_request& request, const std::string& folder) {
  track_extension more;
  if (request.simple) more.seeds = {request.seed_image.front(), read_voxel_list};
  more.add_matrices = [simple = request.simple, to_targets = request.target_densities, folder](
                          const session& s, const track_inputs& in, track_matrices& matrices) {
    if (simple) matrices.rows.push_back(make_seed_densities(s, simple_file(folder), in));
    if (to_targets) matrices.pairs.push_back(make_target_densities(s, target_paths_file(folder), in));
  };
  return more;
}

/// Whether the folder must be a new one, as FSL chooses it: unless a run is to be continued.
bool must_be_new(const probtrackx2_request& request) { return !request.force_dir && !request.run.resume; }

std::string choose_folder(const probtrackx2_request& request) {
  std::string folder = request.dir;
  std::error_code none;
  while (must_be_new(request) && fs::exists(fs::symlink_status(folder, none))) folder += "+";
  return folder;
}

/// The seed voxels, also those without samples, as the result numbers them and in FSL's order.
std::vector<std::uint64_t> list_seed_voxels(const std::vector<std::string>& masks, bool is_list,
                                            const result_reader& result) {
  const fsl_grid grid(result);
  std::vector<std::int32_t> inside(grid.voxel_count());
  for (const std::string& path : masks) {
    const label_image mask =
        is_list ? read_voxel_list(path, grid) : read_labels(path, grid, label_kind::mask, "", mask_rules::fsl);
    std::transform(inside.begin(), inside.end(), mask.label.begin(), inside.begin(), std::plus<>());
  }
  std::vector<std::uint64_t> voxels;
  for (std::uint64_t v = 0; v < inside.size(); ++v)
    if (inside[v] > 0) voxels.push_back(grid.turned(v));
  return voxels;
}

/// The files of seeds, and the voxels of their images one after another.
void list_seed_files(const track_request& r, const result_reader& result, probtrackx2_outputs& wanted) {
  for (const std::string& path : r.seeds()) {
    wanted.seed_files.push_back({path, is_surface_mask(path)});
    if (wanted.seed_files.back().is_surface) continue;
    std::vector<std::uint64_t>& voxels = wanted.seed_files.back().voxels;
    voxels = list_seed_voxels({path}, false, result);
    wanted.seeds.insert(wanted.seeds.end(), voxels.begin(), voxels.end());
  }
}

/// The tables of the matrices in the folder: values, and places of rows.
std::vector<std::string> list_tables(const probtrackx2_request& request, const track_request& track) {
  std::vector<std::string> names;
  const auto add = [&](int number, std::initializer_list<const char*> endings) {
    for (const char* ending : endings) names.push_back(fmt::format("fdt_matrix{}{}", number, ending));
    names.push_back(fmt::format("coords_for_fdt_matrix{}", number));
    if (request.mean_lengths && number < 4) names.push_back(fmt::format("fdt_matrix{}_lengths.dot", number));
  };
  const bool has_counts = !request.counted_surface.empty();
  if (!track.matrix1.empty()) add(1, {".dot"});
  if (!track.matrix2.empty() && !has_counts && !request.simple) add(2, {".dot"});
  if (!track.matrix3.empty()) add(3, {".dot"});
  if (!track.matrix4.empty()) add(4, {"_1.mtx", "_2.mtx", "_3.mtx"});
  return names;
}

/// The options that change images and not the result. A stored command line has no quotes, but these are words alone.
std::vector<std::string> image_options(const std::string& command_line) {
  std::vector<std::string> found;
  std::istringstream words(command_line);
  for (std::string word; words >> word;)
    for (const char* name : {"pd", "ompl"})
      if (word == std::string("--") + name || word == std::string("-") + name) found.emplace_back(name);
  std::sort(found.begin(), found.end());
  return found;
}

/// The rest of the answer to a question: the tables, which have no plan, and whether the images that exist are those of
/// these options.
void answer_by_tables(const probtrackx2_request& request, const track_request& track, const std::string& folder) {
  for (const std::string& name : list_tables(request, track))
    if (std::error_code none; !fs::exists(fs::path(folder) / name, none))
      answer_unfinished(fmt::format("{}/{} is not written yet", folder, name));
  const std::string stored = result_reader(track.run.out).provenance().value("command_line", "");
  const auto before = image_options(stored), now = image_options(request.run.command_line);
  if (before != now)
    answer_with_difference(track.run.out, fmt::format("options of images: [{}] in the file, [{}] now",
                                                      fmt::join(before, " "), fmt::join(now, " ")));
}

void write_folder(session& s, const probtrackx2_request& request, const track_request& track,
                  const std::string& folder) {
  export_settings settings = make_fsl_settings(s, track.run.out, folder, request.run);
  probtrackx2_outputs wanted{request.file_name, request.density, request.distance_corrected, request.mean_lengths,
                             request.tallies.has<track::directions>()};
  if (request.saved_paths) wanted.paths = track.paths;
  if (request.simple) wanted.densities = simple_file(folder);
  if (request.target_densities) wanted.target_paths = target_paths_file(folder);
  wanted.has_target_text = request.target_text;
  // Targets of a network are counted by region.
  const bool by_file = (request.to_targets && !track.connectome.empty()) || has_surfaces(track.seed_image);
  if (request.target_text || request.target_densities || by_file)
    for (const std::string& path : track.targets) wanted.targets.push_back(mask_name(path));
  wanted.target_files = track.targets;
  export_folder(s, settings, [&](const result_volumes& result) {
    if (by_file) {
      list_seed_files(track, result.result(), wanted);
    } else if (request.simple || request.target_text) {
      wanted.seeds =
          list_seed_voxels(request.simple ? request.seed_image : track.seed_image, request.simple, result.result());
    }
    return plan_probtrackx2_folder(result, wanted);
  });
  if (is_asked()) return answer_by_tables(request, track, folder);
  s.on_root([&] {
    const bool has_counts = !request.counted_surface.empty();
    if (has_counts)
      write_surface_counts(track.matrix2, find_mask_files({track.target2}, "fopd"),
                           fmt::format("{}/{}_alt", folder, request.file_name), request.distance_corrected);
    for (const std::string& matrix :
         {track.matrix1, has_counts ? std::string() : track.matrix2, track.matrix3, track.matrix4}) {
      settings.result = matrix;
      if (!matrix.empty() && !request.simple)
        write_matrix_folder(settings, {request.distance_corrected, request.mean_lengths});
    }
  });
  spdlog::info("{} written", folder);
}

exit_status run_probtrackx2(session& s, const probtrackx2_request& request) {
  begin_fsl_command(request.no_difference);
  if (!request.inverse_transform.empty() && !is_warp(request.transform.front()))
    spdlog::info("--invxfm {}: not read; the matrix of --xfm is inverted", request.inverse_transform.front());
  output_folder output;
  const std::string folder = s.from_root([&] {
    std::string chosen = choose_folder(request);
    (void)make_track_request(request, chosen);
    bool created = output.create(chosen);
    // Another command may have taken it at this moment.
    while (!created && must_be_new(request)) created = output.create(chosen = choose_folder(request));
    return chosen;
  });
  track_request track;
  s.agree([&] { track = make_track_request(request, folder); });
  s.on_root([&] {
    log_seed_space(track);
    log_target_space(track);
  });
  const run_listener listener = listen_as_part(request.run);
  track.run.listener = &listener;
  const exit_status status = run_track_with(s, track, make_extension(request, folder));
  stop_signals::release();  // the result is complete: a signal may end the export
  if (goes_on_with_images(status, request.run)) write_folder(s, request, track, folder);
  return status;
}

}  // namespace

const option_list& probtrackx2_table() { return probtrackx2_options(); }

constexpr command make_probtrackx2_command() {
  command c = make_command<probtrackx2_options, run_probtrackx2>(
      {"probtrackx2", "FSL's probtrackx2: accepts its options, writes its folder",
       "voxherd probtrackx2 -s subject.bedpostX/merged \\\n"
       "  -m subject.bedpostX/nodif_brain_mask -x seeds.nii.gz -l --opd --dir=tract"});
  c.translate = from_probtrackx2;
  c.other_usage = "-s BASENAME -m MASK -x SEEDS";
  c.notes = list_probtrackx2_flags;
  c.retell = retell_probtrackx2;
  c.other_names = "probtrackx2 probtrackx2_gpu";
  c.own_result = [](const given_options& given) { return tracked_in(probtrackx2_options().read(given).dir); };
  return c;
}

extern const command probtrackx2_command = make_probtrackx2_command();

}  // namespace voxherd
