#include "kernels/noddi/bingham.hpp"

#include <cmath>
#include <numbers>

namespace voxherd {

namespace noddi::bingham {

node_table<double> make_node_table() {
  node_table<double> table{};
  for (int i = 0; i < nodes; ++i) {
    // Newton's method for a zero of the Legendre polynomial.
    double x = std::cos(std::numbers::pi * (i + 0.75) / (nodes + 0.5)), slope = 1;
    for (int round = 0; round < 8; ++round) {
      double before = 1, value = x;
      for (int l = 2; l <= nodes; ++l) {
        const double next = ((2 * l - 1) * x * value - (l - 1) * before) / l;
        before = value;
        value = next;
      }
      slope = nodes * (x * value - before) / (x * x - 1);
      x -= value / slope;
    }
    const double z = (1 + x) / 2;
    table.square[i] = 1 - z * z;
    table.weight[i] = 1 / ((1 - x * x) * slope * slope);
  }
  return table;
}

}  // namespace noddi::bingham

}  // namespace voxherd
