#include "src/scan/direction_frame.hpp"

#include <nlohmann/json.hpp>

#include "src/io/nifti/storage_order.hpp"

namespace voxherd {

namespace {

constexpr direction_frame all_frames[] = {direction_frame::fsl, direction_frame::image, direction_frame::world};

}  // namespace

const char* frame_word(direction_frame frame) {
  switch (frame) {
    case direction_frame::image:
      return "image";
    case direction_frame::world:
      return "world";
    default:
      return "fsl";
  }
}

const char* frame_name(direction_frame frame) {
  switch (frame) {
    case direction_frame::image:
      return "the image axes";
    case direction_frame::world:
      return "the world axes";
    default:
      return "FSL's axes";
  }
}

std::string frame_form(direction_frame frame) { return std::string("directions along ") + frame_name(frame); }

direction_frame stored_frame(const nlohmann::json& input) {
  const std::string form = input.is_object() ? input.value("form", "") : "";
  for (const direction_frame frame : all_frames)
    if (form == frame_form(frame)) return frame;
  return direction_frame::fsl;
}

matrix3 frame_matrix(direction_frame frame, const image_grid& grid) {
  switch (frame) {
    case direction_frame::image:
      return {is_right_handed(grid) ? -1.0 : 1.0, 0, 0, 0, 1, 0, 0, 0, 1};
    case direction_frame::world:
      return transposed(bvec_frame(grid));
    default:
      return {1, 0, 0, 0, 1, 0, 0, 0, 1};
  }
}

gradient_table to_fsl_frame(gradient_table table, direction_frame frame, const image_grid& grid) {
  if (frame == direction_frame::fsl) return table;  // also signs of zeros stay as they are
  const matrix3 matrix = frame_matrix(frame, grid);
  for (std::size_t k = 0; k < table.size(); ++k) {
    const vector3 g = product(matrix, vector3{table.x[k], table.y[k], table.z[k]});
    table.x[k] = g[0], table.y[k] = g[1], table.z[k] = g[2];
  }
  return table;
}

}  // namespace voxherd
