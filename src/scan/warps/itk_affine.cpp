
#include <cmath>
#include <cstring>
#include <sstream>

#include "core/failure.hpp"
#include "src/scan/warps/transform.hpp"

namespace voxherd {

namespace {

itk_numbers read_text(const std::string& text, const std::string& name) {
  itk_numbers found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "Transform:") {
      if (!found.kind.empty())
        refuse_data("{}: has several transforms, expected one; give them as separate files", name);
      words >> found.kind;
    }
    std::vector<double>* numbers = key == "Parameters:"        ? &found.parameters
                                   : key == "FixedParameters:" ? &found.fixed
                                                               : nullptr;
    if (numbers == nullptr) continue;
    for (double number = 0; words >> number;) numbers->push_back(number);
  }
  return found;
}

/// Matrices of a MATLAB file, version 4 (MAT-File Format, MathWorks, appendix): five 32-bit numbers (type, rows,
/// columns, imaginary, length of the name), the name, the values.
itk_numbers read_matlab(const std::string& bytes, const std::string& name) {
  itk_numbers found;
  const auto refuse = [&] {
    refuse_data("{}: is not an affine transform of ITK (MATLAB file version 4), a text of one, or a matrix of FLIRT",
                name);
  };
  for (std::size_t at = 0; at < bytes.size();) {
    std::int32_t head[5];
    if (bytes.size() - at < sizeof head) refuse();
    std::memcpy(head, bytes.data() + at, sizeof head);
    at += sizeof head;
    const std::int32_t precision = head[0] / 10;  // 0: double, 1: float; other bits: byte order, kind of matrix
    if (head[0] % 10 != 0 || (precision != 0 && precision != 1) || head[1] < 0 || head[1] > 100 || head[2] != 1 ||
        head[3] != 0 || head[4] < 1 || head[4] > 256)
      refuse();
    const auto letters = static_cast<std::size_t>(head[4]), count = static_cast<std::size_t>(head[1]);
    const std::size_t width = precision == 0 ? sizeof(double) : sizeof(float);
    if (bytes.size() - at < letters + count * width) refuse();
    const std::string word(bytes.data() + at, strnlen(bytes.data() + at, letters));
    at += letters;
    std::vector<double>& numbers = word == "fixed" ? found.fixed : found.parameters;
    if (word != "fixed") {
      if (!found.kind.empty()) refuse_data("{}: has several transforms, expected one", name);
      found.kind = word;
    }
    for (std::size_t i = 0; i < count; ++i, at += width) {
      double wide = 0;
      float narrow = 0;
      if (precision == 0) {
        std::memcpy(&wide, bytes.data() + at, sizeof wide);
      } else {
        std::memcpy(&narrow, bytes.data() + at, sizeof narrow);
        wide = static_cast<double>(narrow);
      }
      numbers.push_back(wide);
    }
  }
  return found;
}

}  // namespace

transform read_itk_text(const std::string& text, const std::string& name) {
  return make_itk_affine(read_text(text, name), name);
}

transform read_itk_matlab(const std::string& bytes, const std::string& name) {
  return make_itk_affine(read_matlab(bytes, name), name);
}

transform make_itk_affine(const itk_numbers& found, const std::string& name) {
  const bool is_affine =
      found.kind.starts_with("AffineTransform_") || found.kind.starts_with("MatrixOffsetTransformBase_");
  const bool is_shift = found.kind.starts_with("TranslationTransform_");
  if (!is_affine && !is_shift)
    refuse_data("{}: is a {}, expected an AffineTransform, MatrixOffsetTransformBase or TranslationTransform", name,
                found.kind.empty() ? "file without a transform" : found.kind);
  if (found.parameters.size() != (is_affine ? 12 : 3) || found.fixed.size() != (is_affine ? 3 : found.fixed.size()))
    refuse_data("{}: has {} parameters and {} fixed ones, expected {}", name, found.parameters.size(),
                found.fixed.size(), is_affine ? "12 and 3" : "3");
  // y = M (x - centre) + centre + shift, with both first axes reversed from ITK's world to NIfTI's.
  transform t;
  voxel_map& map = t.before;
  const auto sign = [](std::size_t d) { return d < 2 ? -1.0 : 1.0; };
  double sum = 0;
  for (std::size_t r = 0; r < 3; ++r) {
    double shift = found.parameters[found.parameters.size() - 3 + r];
    for (std::size_t c = 0; is_affine && c < 3; ++c) {
      map.axes[3 * r + c] = sign(r) * sign(c) * found.parameters[3 * r + c];
      shift += ((r == c ? 1 : 0) - found.parameters[3 * r + c]) * found.fixed[c];
    }
    map.origin[r] = sign(r) * shift;
    sum += map.origin[r];
  }
  const double size = determinant(map.axes);
  if (!std::isfinite(size + sum) || std::abs(size) < 1e-6)
    refuse_data("{}: its determinant is {:.3g}, expected a map that can be inverted", name, size);
  return t;
}

}  // namespace voxherd
