#include "src/export/cifti_options.hpp"

namespace voxherd {

namespace {

void check_cifti_request(const cifti_request& r, const given_options& given) {
  if (r.divisor == matrix_divisor::waytotal && r.waytotal.empty())
    refuse_usage("--normalise waytotal needs --waytotal FILE: the result of the same run of track, or a file waytotal");
  if (r.divisor != matrix_divisor::waytotal) option::refuse_given(given, "waytotal", "without --normalise waytotal");
  if (r.quantity == matrix_quantity::mean_length && r.divisor != matrix_divisor::none)
    refuse_usage("--normalise has no meaning with --values mean-length");
  if (r.quantity == matrix_quantity::mean_length && !r.blueprint.empty())
    refuse_usage("--blueprint has no meaning with --values mean-length");
  if (!r.blueprint.empty())
    for (const char* name : {"normalise", "log", "symmetric", "transpose", "parcels"})
      option::refuse_given(given, name, "with --blueprint");
  if (r.symmetric && r.transpose) refuse_usage("--transpose has no meaning with --symmetric");
}

}  // namespace

const option_table<cifti_request>& cifti_options() {
  using T = cifti_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("CIFTI", {
      {"brain-models", &T::brain_models, text_kind::file,
       {.text = "CIFTI file whose greyordinates become rows and columns, such as HCP's 91282_Greyordinates.dscalar.nii; those without a seed are 0",
        .standard = "the seeds"}},
      {"structures", &T::structures, text_kind::any,
       {.text = "structure of each file of seeds, as CORTEX_LEFT; - for what the file says: a surface's structure, a name with CIFTI_STRUCTURE_NAME, or FreeSurfer's labels",
        .value = "NAME", .standard = "-", .many = true}},
      {"parcels", &T::parcels, text_kind::file,
       {.text = "sums over parcels, as OUT.pconn.nii: a .dlabel.nii, or a .label.gii per surface", .many = true}},
      {"matrix", &T::matrix, text_kind::any,
       {.text = "matrix between regions to write as OUT.pconn.nii, by its name in --to csv, as share; its parcels are the regions' voxels",
        .value = "NAME", .standard = "the first one, as count"}},
      {"blueprint", &T::blueprint, text_kind::file,
       {.text = "connectivity blueprint of a matrix 2, as OUT.dscalar.nii: this result of track --tracts"}},
      {"values", &T::quantity, {{"count", matrix_quantity::count}, {"mean-length", matrix_quantity::mean_length}, {"length-sum", matrix_quantity::length_sum}},
       {.text = "streamlines, their mean length in mm, or the sum of their lengths (FSL's pd)"}},
      {"normalise", &T::divisor, {{"none", matrix_divisor::none}, {"waytotal", matrix_divisor::waytotal}, {"seed", matrix_divisor::seed}},
       {.text = "divide by the accepted streamlines of the run (--waytotal), or by the streamlines of one seed"}},
      {"waytotal", &T::waytotal, text_kind::file,
       {.text = "where --normalise waytotal finds them: the result of the same run of track (.h5), or a text file waytotal"}},
      {"symmetric", &T::symmetric, {"mean of the matrix and its transpose; mean lengths are over the streamlines of both"}},
      {"transpose", &T::transpose, {"exchange rows and columns"}},
      {"log", &T::log, {"write the decimal logarithm of 1 + value, after --normalise"}},
      {"host-memory", &T::host_memory_gb, range{0.000001, 1000000},
       {.text = "rows of the matrix that are in memory at the same time; fewer rows need more passes over a symmetric or transposed matrix", .unit = "GB"}}})
    .check(check_cifti_request);
  // clang-format on
  return table;
}

}  // namespace voxherd
