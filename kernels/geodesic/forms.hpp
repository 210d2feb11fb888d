#pragma once

#include "kernels/geodesic/place.hpp"
#include "kernels/tensor_field/finsler4.hpp"
#include "kernels/tensor_field/symmetric3.hpp"

/// The first-order equations of a ray, for its position x (index space) and a companion q. A form provides
///   start(at, v, q, E): q for the index velocity v, scaled so that the energy E = v^T G v is 1;
///   read(at): the field at a position;
///   rates(sample, q, velocity, force): dx/dt and dq/dt;
///   energy(sample, q, velocity): E, constant along a geodesic;
///   follows_axis: whether it is a streamline; fills_registers: whether a step needs all registers of a GPU thread.
namespace voxherd::geodesic {

/// q = p = G v; x' = D p, p' = -1/2 grad(p^T D p). Needs neither the inverse nor Christoffel symbols; E is exactly
/// conserved for the interpolated field.
template <class Reader>
struct hamiltonian_form {
  using number = typename Reader::number;
  // Read when p is known, so that derivatives can be contracted immediately; rk2-frozen reads the same voxels twice.
  using sample = place<number>;
  static constexpr bool follows_axis = false, fills_registers = false;
  Reader reader;

  VOXHERD_FUNCTION void start(const place<number>& at, const number (&v)[3], number (&p)[3]) const {
    number d[6];
    reader.values(at, d);
    solve(d, v, p);
    const number scale = 1.0f / lane::sqrt(dot(p, v));
    for (number& x : p) x *= scale;
  }
  VOXHERD_FUNCTION sample read(const place<number>& at) const { return at; }
  VOXHERD_FUNCTION void rates(const sample& at, const number (&p)[3], number (&velocity)[3], number (&force)[3]) const {
    reader.flow(at, p, velocity, force);
    for (number& f : force) f *= -0.5f;
  }
  VOXHERD_FUNCTION number energy(const sample&, const number (&p)[3], const number (&velocity)[3]) const {
    return dot(p, velocity);
  }
};

/// a . b, where the caller also uses one of the products. On a CPU, adding the first product to 0 leaves a compiler no
/// choice which products it rounds, so that the bytes do not depend on how it unrolls.
template <class Number>
VOXHERD_FUNCTION inline Number fused_dot(const Number (&a)[3], const Number (&b)[3]) {
#if defined(__CUDACC__)
  return dot(a, b);
#else
  Number sum = 0.0f;
  for (int i = 0; i < 3; ++i) sum += a[i] * b[i];
  return sum;
#endif
}

/// q = v; v'^g = -Gamma^g_ab v^a v^b (van Aart 2011, equations 2 to 4). The 18 symbols are never computed: w_s = sum_k
/// v_k (d_k G v)_s - 1/2 v^T (d_s G) v, v' = -D w.
template <class Reader>
struct christoffel_form {
  using number = typename Reader::number;
  struct sample {
    number value[24];  ///< D, then d_x G, d_y G, d_z G
  };
  static constexpr bool follows_axis = false, fills_registers = true;
  Reader reader;

  VOXHERD_FUNCTION void start(const place<number>& at, const number (&direction)[3], number (&v)[3]) const {
    number d[6], p[3];
    reader.values(at, d);
    solve(d, direction, p);
    const number scale = 1.0f / lane::sqrt(dot(p, direction));
    for (int i = 0; i < 3; ++i) v[i] = scale * direction[i];
  }
  VOXHERD_FUNCTION sample read(const place<number>& at) const {
    sample t;
    reader.values(at, t.value);
    return t;
  }
  VOXHERD_FUNCTION void rates(const sample& t, const number (&v)[3], number (&velocity)[3], number (&force)[3]) const {
    number w[3] = {};
    VOXHERD_UNROLL for (int k = 0; k < 3; ++k) {
      const number* g = t.value + 6 + 6 * k;
      const number m[6] = {g[0], g[1], g[2], g[3], g[4], g[5]};
      number gv[3];
      apply(m, v, gv);
      for (int s = 0; s < 3; ++s) w[s] += v[k] * gv[s];
      w[k] -= 0.5f * fused_dot(v, gv);
    }
    const number d[6] = {t.value[0], t.value[1], t.value[2], t.value[3], t.value[4], t.value[5]};
    apply(d, w, force);
    for (int i = 0; i < 3; ++i) force[i] = -force[i], velocity[i] = v[i];
  }
  VOXHERD_FUNCTION number energy(const sample& t, const number (&v)[3], const number (&)[3]) const {
    const number d[6] = {t.value[0], t.value[1], t.value[2], t.value[3], t.value[4], t.value[5]};
    number p[3];
    solve(d, v, p);
    return dot(p, v);
  }
};

/// q = the previous direction, in the world, which determines the sign of the main eigenvector. The tensor is
/// interpolated, not the eigenvector. Not a geodesic: E is the metric's value of the speed, and is not conserved.
template <class Reader>
struct streamline_form {
  using number = typename Reader::number;
  struct sample {
    number tensor[6];
  };
  static constexpr bool follows_axis = true, fills_registers = false;
  Reader reader;

  VOXHERD_FUNCTION void start(const place<number>&, const number (&v)[3], number (&q)[3]) const {
    transform(reader.field().axes, v, q);
  }
  VOXHERD_FUNCTION sample read(const place<number>& at) const {
    sample t;
    reader.values(at, t.tensor);
    return t;
  }
  VOXHERD_FUNCTION void rates(const sample& t, const number (&q)[3], number (&velocity)[3], number (&force)[3]) const {
    number axis[3];
    main_axis(t.tensor, q, axis);
    transform(reader.field().inverse_axes, axis, velocity);
    force[0] = force[1] = force[2] = 0.0f;
  }
  VOXHERD_FUNCTION number energy(const sample& t, const number (&)[3], const number (&velocity)[3]) const {
    number axis[3];
    transform(reader.field().axes, velocity, axis);
    return 1.0f / quadratic(t.tensor, axis);
  }
};

/// q = v; geodesics of the norm F = (T v v v v)^(1/4) (finsler4.hpp). E = F^2.
template <class Reader>
struct finsler4_form {
  using number = typename Reader::number;
  struct sample {
    number quartic[quartic_size], derivative[3][quartic_size];
  };
  static constexpr bool follows_axis = false, fills_registers = false;
  Reader reader;

  VOXHERD_FUNCTION void start(const place<number>& at, const number (&direction)[3], number (&v)[3]) const {
    number t[quartic_size];
    reader.values(at, t);
    const number scale = 1.0f / lane::sqrt(finsler4_energy(t, direction));
    for (int i = 0; i < 3; ++i) v[i] = scale * direction[i];
  }
  VOXHERD_FUNCTION sample read(const place<number>& at) const {
    sample t;
    reader.values_and_gradients(at, t.quartic, t.derivative);
    return t;
  }
  VOXHERD_FUNCTION void rates(const sample& t, const number (&v)[3], number (&velocity)[3], number (&force)[3]) const {
    finsler4_acceleration(t.quartic, t.derivative, v, force);
    for (int i = 0; i < 3; ++i) velocity[i] = v[i];
  }
  VOXHERD_FUNCTION number energy(const sample& t, const number (&v)[3], const number (&)[3]) const {
    return finsler4_energy(t.quartic, v);
  }
};

}  // namespace voxherd::geodesic
