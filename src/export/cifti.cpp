#include "src/export/cifti.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <mutex>
#include <numeric>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "mpi/run/progress.hpp"
#include "src/export/matrix_models.hpp"
#include "src/export/matrix_stream.hpp"
#include "src/io/number_table.hpp"

namespace voxherd {

namespace {

enum class cifti_kind { dense, parcels, scalars };

/// From the end of the name, which Workbench requires.
cifti_kind find_cifti_kind(const export_settings& settings) {
  std::string name = settings.out;
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  const bool has_parcels = !settings.cifti.parcels.empty();
  if (name.ends_with(".dconn.nii") && !has_parcels) return cifti_kind::dense;
  if (name.ends_with(".pconn.nii") && has_parcels) return cifti_kind::parcels;
  if (name.ends_with(".dscalar.nii") && !has_parcels) return cifti_kind::scalars;
  refuse_usage("--out {}: expected a name that ends in {}, or the same with .gz", settings.out,
               has_parcels ? ".pconn.nii with --parcels" : ".dconn.nii, or in .dscalar.nii for sums of rows");
}

double read_waytotal(const std::string& path) {
  double sum = 0;
  if (path.ends_with(".h5")) {
    const result_reader result(path);  // only a constant is read, which the reader has checked
    if (const constant* waytotal = result.find_constant("streamlines", "waytotal"))
      sum = std::accumulate(waytotal->values.begin(), waytotal->values.end(), 0.0);
  } else {
    const number_table table = read_number_table(path);
    sum = std::accumulate(table.values.begin(), table.values.end(), 0.0);
  }
  if (!(sum > 0)) refuse_data("{}: has no waytotal above 0", path);
  return sum;
}

double find_factor(const result_reader& result, const cifti_request& request, bool rows_are_seeds) {
  if (request.divisor == matrix_divisor::none) return 1;
  if (request.divisor == matrix_divisor::waytotal) return 1 / read_waytotal(request.waytotal);
  const double per_seed = result.configuration().value("samples-per-seed", 0.0);
  if (!rows_are_seeds || !(per_seed > 0))
    refuse_usage("--normalise seed: the rows of this matrix are not seeds; use --normalise waytotal");
  return 1 / per_seed;
}

matrix_axis make_axis(const matrix_places& places, const cifti_request& request) {
  if (!request.parcels.empty()) return make_parcels(places, request.structures, request.parcels);
  if (!request.brain_models.empty()) return match_models(places, request.structures, request.brain_models);
  return make_models(places, request.structures);
}

/// Options name the structures of the rows' files only, and the voxels of --target2 and --target4 need not be
/// greyordinates.
matrix_axis make_column_axis(const matrix_places& places, const cifti_request& request, int number) {
  cifti_request own = request;
  own.structures.clear();
  if (number == 2 || number == 4) own.brain_models.clear();
  return make_axis(places, own);
}

/// The directions in which entries count. Matrix 3 stores only one triangle.
void set_directions(const cifti_request& request, int number, bool is_square, matrix_form& form) {
  if (request.symmetric && !is_square)
    refuse_usage("--symmetric: rows and columns of this matrix are different places");
  const bool is_triangle = number == 3 && is_square;
  form.direct = is_triangle || !request.transpose;
  form.turned = is_triangle || request.symmetric || request.transpose;
  form.weight = request.symmetric && !is_triangle ? 0.5 : 1;
}

struct exported_matrix {
  cifti_axis rows, columns;
  matrix_form form;
};

exported_matrix plan_matrix(const result_reader& result, const export_settings& settings, cifti_kind kind) {
  const cifti_request& request = settings.cifti;
  const int number = fsl_matrix_number(result);
  if (request.quantity != matrix_quantity::count && !result.has("length_sum"))
    refuse_data("{}: has no lengths; run track with --lengths", settings.result);
  const matrix_places row_places = read_row_places(result), column_places = read_column_places(result);
  const bool is_square = row_places == column_places;
  exported_matrix m;
  set_directions(request, number, is_square, m.form);
  matrix_axis rows = make_axis(row_places, request);
  matrix_axis columns = is_square ? rows : make_column_axis(column_places, request, number);
  m.form.row_position = std::move(rows.position);
  m.form.column_position = std::move(columns.position);
  const bool is_turned = request.transpose && !m.form.direct;
  m.rows = is_turned ? columns.axis : rows.axis;
  m.columns = is_turned ? std::move(rows.axis) : std::move(columns.axis);
  if (kind == cifti_kind::scalars) {
    m.columns = named_maps{{"sum of row"}, {}};
    m.form.sums_rows = true;
  }
  m.form.rows = axis_size(m.rows);
  m.form.columns = axis_size(m.columns);
  m.form.quantity = request.quantity;
  m.form.factor = find_factor(result, request, has_seed_rows(result));
  m.form.log = request.log;
  return m;
}

void write_matrix(const export_settings& settings, const result_reader& result, cifti_kind kind) {
  const exported_matrix m = plan_matrix(result, settings, kind);
  cifti_writer writer(settings.out, m.rows, m.columns);
  progress shown(choose_progress_style(settings.quiet, true), m.form.rows, 0, "export", "row");
  std::mutex mutex;
  std::uint64_t rows = 0;
  const row_sink sink{[&](std::uint64_t row, std::span<const float> values) {
                        writer.put_row(row, values);
                        const std::lock_guard lock(mutex);
                        shown.update(++rows);
                      },
                      writer.takes_any_order()};
  if (kind == cifti_kind::dense) {
    constexpr double bytes_per_gb = 1e9;
    stream_rows(result, m.form, static_cast<std::uint64_t>(settings.cifti.host_memory_gb * bytes_per_gb), sink);
  } else {
    sum_entries(result, m.form, sink);
  }
  writer.finish();
  spdlog::info("{}: {} x {} values from {}", settings.out, m.form.rows, m.form.columns,
               counted(result.point_count(), "stored value"));
}

void write_maps(const export_settings& settings, const place_maps& maps) {
  const matrix_axis rows = make_axis(maps.places, settings.cifti);
  const std::size_t width = maps.names.size();
  std::vector<float> ordered(axis_size(rows.axis) * width);
  for (std::size_t i = 0; i < rows.position.size(); ++i)
    if (rows.position[i] != no_position)
      std::copy_n(&maps.values[i * width], width, &ordered[rows.position[i] * width]);
  cifti_writer writer(settings.out, rows.axis, named_maps{maps.names, {}});
  writer.append(ordered);
  writer.finish();
  spdlog::info("{}: {} of {} places", settings.out, counted(width, "map"), axis_size(rows.axis));
}

/// Seeds on surfaces have a few numbers each; what is for matrices is refused.
void write_seed_maps(const export_settings& settings, const result_reader& result, cifti_kind kind) {
  const cifti_request& r = settings.cifti;
  if (kind != cifti_kind::scalars || r.symmetric || r.transpose || r.quantity != matrix_quantity::count)
    refuse_usage(
        "{}: is no matrix; its seeds on surfaces can be written as .dscalar.nii, without --symmetric, --transpose, "
        "--values",
        settings.result);
  write_maps(settings, read_seed_maps(result, find_factor(result, r, true), r.log));
}

void write_cifti(const export_settings& settings) {
  refuse_existing(settings.out, settings);
  const result_reader result(settings.result);
  require_complete(result);
  // Seeds on surfaces are written as .dscalar.nii, unless a matrix of their connectome is asked for.
  if (has_region_matrices(result) && (!has_vertex_seeds(result) || !settings.cifti.matrix.empty()))
    return write_region_matrix(settings, result);
  if (!settings.cifti.matrix.empty())
    refuse_usage("--matrix {}: {} has no matrices between regions; leave it out", settings.cifti.matrix,
                 settings.result);
  const cifti_kind kind = find_cifti_kind(settings);
  if (!settings.cifti.blueprint.empty()) {
    if (kind != cifti_kind::scalars)
      refuse_usage("--out {}: expected a name that ends in .dscalar.nii with --blueprint", settings.out);
    write_maps(settings,
               make_blueprint(result, settings.cifti.blueprint, settings.tract_threshold, settings.cifti.quantity));
  } else if (has_vertex_seeds(result)) {
    write_seed_maps(settings, result, kind);
  } else {
    write_matrix(settings, result, kind);
  }
}

void export_cifti(session& s, const export_settings& settings) {
  s.on_root([&] { write_cifti(settings); });
}

}  // namespace

const export_kind cifti_export{
    "cifti", "FILE",
    "a matrix of track or of any connectome, or seeds on surfaces, as .dconn.nii, .pconn.nii or .dscalar.nii", false,
    export_cifti};

}  // namespace voxherd
