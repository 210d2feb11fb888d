#include <gtest/gtest.h>

#include <cmath>

#include "kernels/noddi/protocol.hpp"
#include "kernels/noddi/shell_steps.hpp"
#include "tests/noddi/reference/noddi_reference.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;

/// One b-value of each table of the protocol.
noddi::protocol protocol_of(const std::vector<double>& b_s_per_mm2) {
  gradient_table table;
  for (const double b : b_s_per_mm2)
    table.x.push_back(1), table.y.push_back(0), table.z.push_back(0), table.b_s_per_mm2.push_back(b);
  return {table, noddi::settings{}};
}

/// Signal inside neurites, and its derivative by kappa, from the tables of the fit.
struct fit_signal {
  double value, by_kappa;
};

fit_signal signal_of_fit(const noddi::protocol& p, std::size_t shell, double kappa, double cosine) {
  double w[noddi::many_terms + 1];
  noddi::legendre_moments<noddi::many_terms + 1>(-kappa, w);
  const auto n = static_cast<std::size_t>(p.terms);
  fit_signal s{0, 0};
  for (std::size_t j = n; j-- > 0;) {
    double value = 0, slope = 0;
    for (std::size_t i = 0; i < n; ++i) {
      value += p.stick[(shell * n + j) * n + i] * w[i];
      slope += p.stick[(shell * n + j) * n + i] * noddi::moment_slope(w, static_cast<int>(i));
    }
    const double y = 2 * cosine * cosine - 1;
    s.value = s.value * y + value;
    s.by_kappa = s.by_kappa * y + slope;
  }
  return s;
}

float signal_of_chain(const noddi::protocol& p, const std::vector<float>& table, int shell, float odi, float cosine) {
  const noddi::table_place place(table.data(), p.row_numbers(), odi);
  const float y = 2 * cosine * cosine - 1;
  float value = 0;
  for (int j = p.terms - 1; j >= 0; --j) value = value * y + place(p.row_numbers(), shell * p.terms + j);
  return value;
}

const std::vector<double> b_values{5, 300, 700, 1000, 2000, 3000, 5000, 7000, 10000};

TEST(NoddiSignal, AgreesWithQuadrature) {
  const noddi::protocol p = protocol_of({0, 1000, 3000});
  for (const double kappa : {0.02, 1.0, 10.0})
    for (const double cosine : {0.0, 0.5, 1.0})
      EXPECT_NEAR(signal_of_fit(p, 2, kappa, cosine).value, watson_stick(5.1, kappa, cosine), 1e-7) << kappa;
}

TEST(NoddiSignal, TheMeanSquareAgreesWithQuadrature) {
  for (const double kappa : {0.0, 0.3, 4.0, 30.0, 64.0}) {
    double w[3];
    noddi::legendre_moments<3>(-kappa, w);
    EXPECT_NEAR((1 + 2 * w[1]) / 3, watson_mean_square(kappa), 1e-7) << kappa;
  }
}

/// The reference data: 24 kappas, 9 b-values up to 10000 s/mm2, 13 angles, accurate to 1e-15.
TEST(NoddiSignal, AgreesWithTheReferenceTables) {
  const noddi_table kappas("tables/stick_kappas.tsv"), places("tables/stick_bcos.tsv"),
      values("tables/stick_by_b_kappa_cos.tsv");
  if (values.size() == 0) GTEST_SKIP() << "no reference data";
  double largest_fit = 0, largest_slope = 0, largest_chain = 0;
  std::vector<std::unique_ptr<noddi::protocol>> protocols;
  std::vector<std::vector<float>> tables;
  for (const double b : b_values) {
    protocols.push_back(std::make_unique<noddi::protocol>(protocol_of({b})));
    tables.push_back(protocols.back()->chain_table());
  }
  for (std::size_t row = 0; row < values.size(); ++row) {
    const double kappa = kappas.number(static_cast<std::size_t>(values.number(row, "kappa_index")), "kappa");
    const auto place = static_cast<std::size_t>(values.number(row, "bcos_index"));
    const double b = places.number(place, "b"), cosine = places.number(place, "cos");
    const auto found = std::find(b_values.begin(), b_values.end(), b);
    if (kappa > 64 || found == b_values.end()) continue;
    const auto i = static_cast<std::size_t>(found - b_values.begin());
    const fit_signal fit = signal_of_fit(*protocols[i], 0, kappa, cosine);
    const double truth = values.number(row, "intra");
    largest_fit = std::max(largest_fit, std::abs(fit.value - truth));
    largest_slope = std::max(largest_slope, std::abs(fit.by_kappa - values.number(row, "dintra_dkappa")));
    const float chain = signal_of_chain(*protocols[i], tables[i], 0, static_cast<float>(noddi::odi_of(kappa)),
                                        static_cast<float>(cosine));
    largest_chain = std::max(largest_chain, std::abs(static_cast<double>(chain) - truth));
  }
  RecordProperty("fit", std::to_string(largest_fit));
  EXPECT_LT(largest_fit, 1e-6);
  EXPECT_LT(largest_slope, 1e-6);
  EXPECT_LT(largest_chain, 1e-5);
  EXPECT_GT(largest_chain, 0);
}

TEST(NoddiSignal, EachBValueHasATableUpToALimit) {
  std::vector<double> b{5};
  for (int i = 0; i < 100; ++i) b.push_back(1000 + i % 20);
  EXPECT_EQ(protocol_of(b).shells(), 21);
  EXPECT_NEAR(protocol_of(b).shell_b[20], 1.019, 1e-12);
  for (int i = 0; i < 100; ++i) b.push_back(2000 + i);
  const noddi::protocol many = protocol_of(b);
  EXPECT_EQ(many.shells(), noddi::max_shells);
  gradient_table table;
  table.b_s_per_mm2 = b;
  const double difference = noddi::largest_b_difference(many, table);
  EXPECT_GT(difference, 0);
  EXPECT_LT(difference, 10);
}

}  // namespace
