#pragma once

#include <concepts>
#include <iterator>

#include "kernels/portable/function.hpp"
#include "kernels/portable/lanes.hpp"

/// A tissue model is one header, models/NAME.hpp, with a class:
///   texts          its name and what reports and BIDS say of it
///   parameters     a constant array of perfusion::parameter, in the order of all arrays, tables and files; at most 8
///   derived        a constant array of perfusion::derived_value: outputs that are computed from the parameters by
///                  derive(const double (&p)[n], double (&value)[count]), both in the units of outputs
///   inputs         1 (arterial) or 2 (arterial and portal)
/// and its impulse response, one of the two:
///   - derived from washout<inputs>: one exponential whose rate and amplitudes are the first parameters. Such a model
///     also has variable projection, the linear fit and the paper's discretisation; with two inputs the paper's
///     convolutions and the dictionary of starts.
///   - exponentials, has_instant, respond() and differentiate(): see `response`. `starts`, an optional constant array
///   of
///     rows in the units of outputs, lists starting points other than that of the table.
/// Solvers, bounds, outputs, texts of the command line, reports, the viewer's panel and names of BIDS follow from
/// these. models.hpp lists the models.
namespace voxherd::perfusion {

/// 1/s to ml/100 g/min for tissue of 1 g/ml.
inline constexpr double per_second = 6000;

/// Kinds of numbers, which have a unit and a name in OSIPI's lexicon.
enum class quantity { flow, exchange_rate, delay, volume_fraction, transit_time, flow_fraction };

struct quantity_unit {
  const char *name, *spelled;  ///< of outputs; in sentences
  double factor;               ///< from 1/s, s or 1, in which kernels compute
  bool is_per_mass;            ///< numbers are of 1 g/ml unless divided by the density
};
constexpr quantity_unit unit_of(quantity q) {
  switch (q) {
    case quantity::flow:
    case quantity::exchange_rate:
      return {"ml/100g/min", "ml/100 g/min", per_second, true};
    case quantity::delay:
    case quantity::transit_time:
      return {"s", "s", 1, false};
    default:
      return {"1", "1", 1, false};
  }
}

enum class parameter_role {
  shape,  ///< of the impulse response
  flow,   ///< the curve of its input is proportional to it while the shape is kept: variable projection eliminates it
  delay,  ///< of its input
};

struct parameter {
  const char* name;
  quantity what;
  const char* meaning;
  double low, high, start;  ///< bounds and default start, in its unit; a bound above 0 excludes 0 everywhere
  parameter_role role = parameter_role::shape;
  int input = 0;           ///< of a flow or a delay: 0 arterial, 1 portal
  const char* label = "";  ///< what distinguishes it from others of its quantity in names of BIDS: "arterial"

  constexpr quantity_unit unit() const { return unit_of(what); }
};

/// An output that is computed from the parameters.
struct derived_value {
  const char* name;
  quantity what;
  const char* meaning;
  const char* label = "";
  bool in_summary = true;  ///< medians and histograms show it
};

struct model_texts {
  const char* name;    ///< of --model
  const char* kind;    ///< "single compartment"
  const char* method;  ///< "single-compartment model"
  const char *author, *year, *citation;
};

template <class Tissue>
inline constexpr int parameter_count = static_cast<int>(std::size(Tissue::parameters));

/// The table of parameters without its texts, which a GPU reads.
template <class Tissue>
struct parameter_facts {
  bool is_flow[parameter_count<Tissue>] = {}, is_delay[parameter_count<Tissue>] = {};
  int input[parameter_count<Tissue>] = {};
  double factor[parameter_count<Tissue>] = {};  ///< to the unit of outputs

  VOXHERD_FUNCTION constexpr parameter_facts() {
    for (int i = 0; i < parameter_count<Tissue>; ++i) {
      const parameter& p = Tissue::parameters[i];
      is_flow[i] = p.role == parameter_role::flow, is_delay[i] = p.role == parameter_role::delay;
      input[i] = p.input, factor[i] = p.unit().factor;
    }
  }
};

/// One well-mixed compartment: C is the sum over the inputs of flow(i) times the input, delayed by delay(i) and
/// convolved with e^{-rate t}. The order of its parameters: rate, flows, delays.
template <int Inputs>
struct washout {
  static_assert(Inputs == 1 || Inputs == 2);
  static constexpr int inputs = Inputs, exponentials = 1, count = 1 + 2 * Inputs;
  static constexpr bool has_instant = false;
  static constexpr int rate = 0;
  VOXHERD_FUNCTION static constexpr int flow(int input) { return 1 + input; }
  VOXHERD_FUNCTION static constexpr int delay(int input) { return 1 + Inputs + input; }
};

template <class Tissue>
concept is_washout = std::derived_from<Tissue, washout<Tissue::inputs>>;

/// Whether the direct sum, the Block-FFT and the dictionary of starts are for this model.
template <class Tissue>
inline constexpr bool has_papers_convolutions = std::derived_from<Tissue, washout<2>>;

/// The curve of a model's parameters, 1/s and s: the sum over its inputs c_i(t - delay) of
///   instant c_i + sum_j amplitude_j int c_i(s) e^{-rate_j (t - s)} ds.
/// Every model has
///   respond(const Number (&p)[n], response<Number, ...>& r), which sets `instant` only if has_instant, and
///   differentiate(const Number (&p)[n], const response<Number, ...>& r, response<Number, ...> (&by)[n]), the
///   derivatives of these numbers by each parameter; `by` is 0 before.
template <class Number, int Inputs, int Exponentials>
struct response {
  Number instant[Inputs], amplitude[Inputs][Exponentials], rate[Exponentials], delay[Inputs];
};
template <class Tissue, class Number>
using response_of = response<Number, Tissue::inputs, Tissue::exponentials>;

template <class Tissue, class Number>
VOXHERD_INLINED response_of<Tissue, Number> respond(const Number (&p)[parameter_count<Tissue>]) {
  response_of<Tissue, Number> r;
  if constexpr (is_washout<Tissue>) {
    r.rate[0] = p[Tissue::rate];
    VOXHERD_UNROLL
    for (int i = 0; i < Tissue::inputs; ++i) r.amplitude[i][0] = p[Tissue::flow(i)], r.delay[i] = p[Tissue::delay(i)];
  } else {
    Tissue::respond(p, r);
  }
  return r;
}

/// Calls use(0), ..., use(Count - 1), where a loop would keep arrays of inputs out of registers until it is unrolled.
template <int Count, class Use>
VOXHERD_INLINED void each_of(const Use& use) {
  use(0);
  if constexpr (Count > 1) use(1);
  if constexpr (Count > 2) use(2);
  if constexpr (Count > 3) use(3);
  static_assert(Count <= 4);
}
/// Without the first.
template <int Count, class Use>
VOXHERD_INLINED void each_after_first(const Use& use) {
  if constexpr (Count > 1) each_of<Count - 1>([&](int i) VOXHERD_INLINED_LAMBDA { use(i + 1); });
}

/// Sum over one or two inputs of term(i).
template <int Inputs, class Term>
VOXHERD_INLINED auto sum_over_inputs(const Term& term) {
  if constexpr (Inputs == 1)
    return term(0);
  else
    return term(0) + term(1);
}

/// Whether a table of parameters has the order of washout<inputs>.
template <class Tissue>
constexpr bool has_washout_order() {
  bool right = parameter_count<Tissue> == Tissue::count;
  const auto is = [&](int at, parameter_role role, int input) {
    const parameter& p = Tissue::parameters[at];
    right = right && p.role == role && (role == parameter_role::shape || p.input == input);
  };
  is(Tissue::rate, parameter_role::shape, 0);
  for (int i = 0; i < Tissue::inputs; ++i) {
    is(Tissue::flow(i), parameter_role::flow, i);
    is(Tissue::delay(i), parameter_role::delay, i);
  }
  return right;
}

}  // namespace voxherd::perfusion
