/* Vectors of doubles, and the elementary functions on them that sampling and scoring need.
 *
 * The vector extensions of GCC and Clang: arithmetic is elementwise, a comparison gives a mask of all bits, a cast
 * keeps the bits. All functions are without branches, so the result of a lane does not depend on the other lanes.
 *
 * Polynomials agree with their function at Chebyshev nodes. The relative errors below are those of the whole
 * function, without rounding of the arithmetic but with that of the coefficients.
 */
#ifndef LIPVERIFY_LANES
#define LIPVERIFY_LANES

#include "exponential.cuh"

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif

/* The largest number of rungs m whose sums fit into the registers: 3 m + 1, and a few for the terms being added. */
#if LANES == 8 || defined(__aarch64__)
#define REGISTERED_RUNGS 8
#else
#define REGISTERED_RUNGS 4
#endif

typedef double lanes __attribute__((vector_size(8 * LANES), may_alias));
typedef long long masks __attribute__((vector_size(8 * LANES), may_alias));

#define INLINE static inline __attribute__((always_inline))

static const double SHIFT = 0x1.8p52; /* adding it rounds to an integer, which is then in the lowest bits */
static const double LOST = 1000.0; /* numbers below 2^-LOST count as 0 */

/* The same number in all lanes (also -0, which 0 + x would turn into 0). */
INLINE lanes all(double x) { return x - (lanes){0}; }

INLINE lanes where(masks mask, lanes yes, lanes no) { return (lanes)(((masks)yes & mask) | ((masks)no & ~mask)); }
INLINE lanes larger_of(lanes a, lanes b) { return where(a > b, a, b); }

/* True if a mask is set in some lane. */
INLINE int any(masks mask)
{
    long long bits = 0;
    for (int i = 0; i < LANES; ++i)
        bits |= mask[i];
    return bits != 0;
}

/* The nearest integer, for |x| < 2^51. */
INLINE lanes nearest_integer(lanes x) { return x + SHIFT - SHIFT; }

INLINE lanes root(lanes x)
{
    for (int i = 0; i < LANES; ++i)
        x[i] = __builtin_sqrt(x[i]);
    return x;
}

/* p(x), coefficients from the highest power down. */
INLINE lanes polynomial(int terms, const double *coefficients, lanes x)
{
    lanes p = all(coefficients[0]);
    for (int i = 1; i < terms; ++i)
        p = p * x + coefficients[i];
    return p;
}

/* x = k log 2 + f with an integer k; `shifted` has k in its lowest bits. Computes cosh f - 1 and sinh f, from which exp(x)
 * and exp(-x) follow: each within 2^-56 of exp f. The rounding of log 2 costs 0.15 eps |x|. */
typedef struct {
    lanes shifted, k, cosh_less_1, sinh;
} Split;

static const double COSH[] = {
    0x1.289185613a3d6p-22, 0x1.a019b90d2ae7ap-16, 0x1.6c16c1788bd90p-10, 0x1.5555555553d63p-5, 0x1.0000000000001p-1,
};
static const double SINH[] = {
    0x1.af38a9b0ec855p-26, 0x1.71de0dae63bb3p-19, 0x1.a01a01a7c41d5p-13, 0x1.11111111109b3p-7, 0x1.5555555555556p-3,
};

INLINE Split split(lanes x)
{
    Split parts;
    parts.shifted = x * LOG_2[0] + SHIFT;
    parts.k = parts.shifted - SHIFT;
    const lanes f = x - parts.k * LOG_2[1], square = f * f;
    parts.cosh_less_1 = square * polynomial(5, COSH, square);
    parts.sinh = f * square * polynomial(5, SINH, square) + f;
    return parts;
}

/* k, to be added to the exponents of doubles, from k + SHIFT. */
INLINE masks exponents(lanes shifted) { return (masks)shifted << 52; }

/* 2^k for integers k <= 0. Below 2^-1000, which is negligible relative to a weight near 1, it is 0. */
INLINE lanes power_of_2(lanes k)
{
    return (lanes)(((masks)all(1.0) + exponents(k + SHIFT)) & (k >= -LOST));
}

/* 1 - exp(x) for -1000 log 2 <= x <= 0: (1 - 2^k) - 2^k (exp(f) - 1), whose first term is exact or correctly rounded. */
INLINE lanes one_less_exponential(lanes x)
{
    const Split parts = split(x);
    const lanes power = power_of_2(parts.k);
    return (1.0 - power) - power * (parts.cosh_less_1 + parts.sinh);
}

/* log x for normal x > 0: x = 2^e m with m in [1 / sqrt 2, sqrt 2), log m = 2 artanh(s) with s = (m - 1) / (m + 1). */
static const double ARTANH[] = {
    0x1.2b5900de53b32p-3, 0x1.39fe51a7c18f9p-3, 0x1.7462b51cb66b1p-3, 0x1.c71c62e3f11e6p-3,
    0x1.2492492df281ap-2, 0x1.99999999952d7p-2, 0x1.5555555555558p-1,
};

INLINE lanes logarithm(lanes x)
{
    const masks least = (masks)all(0x1.6a09e667f3bcdp-1);
    const masks e = ((masks)x - least) >> 52;
    const lanes m = (lanes)((masks)x - (e << 52)), power = (lanes)(e + (masks)all(SHIFT)) - SHIFT;
    const lanes s = (m - 1.0) / (m + 1.0), square = s * s;
    return power * LOG_2[1] + (s * square * polynomial(7, ARTANH, square) + 2.0 * s);
}

/* Cosine and sine of v full turns, |v| < 2^49: v is a number of quarters, subtracted exactly, and a remainder in
 * [-1/8, 1/8]; the relative errors are 2^-55 and 2^-54. */
static const double SINE[] = {
    0x1.e3f38399551bfp+1, -0x1.e30071afc3e59p+3, 0x1.50782fda12d96p+5, -0x1.32d2cce2e5b19p+6,
    0x1.466bc677587f8p+6, -0x1.4abbce625be41p+5, 0x1.921fb54442d18p+2,
};
static const double COSINE_LESS_1[] = {
    -0x1.b2f3eb054afcdp+0, 0x1.f9ce245cada0bp+2, -0x1.a6d1eef479be1p+4, 0x1.e1f5068688d5bp+5,
    -0x1.55d3c7e3cb241p+6, 0x1.03c1f081b5ac0p+6, -0x1.3bd3cc9be45dep+4,
};

INLINE void turned(lanes v, lanes *cosine, lanes *sine)
{
    const lanes shifted = 4.0 * v + SHIFT, rest = v - 0.25 * (shifted - SHIFT), square = rest * rest;
    const masks quarters = (masks)shifted, sign = (masks)all(-0.0);
    const lanes c = square * polynomial(7, COSINE_LESS_1, square) + 1.0, s = rest * polynomial(7, SINE, square);
    const masks odd = -(quarters & 1);
    *cosine = (lanes)((masks)where(odd, s, c) ^ ((quarters + 1) << 62 & sign));
    *sine = (lanes)((masks)where(odd, c, s) ^ (quarters << 62 & sign));
}

#endif
