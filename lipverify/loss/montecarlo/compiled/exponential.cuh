/* The exponential of a negative number, without branches.
 *
 * With k the integer nearest to x / log 2 and f = x - k log 2, exp(x) = 2^k exp(f), |f| <= log(2) / 2. There
 *
 *     exp(f) = 1 + f + f^2 p(f),
 *
 * with p the polynomial of degree 9 that agrees at ten Chebyshev nodes: the relative error is below 2^-55. The one
 * rounded log 2 costs 0.15 eps |x|, less than the rounding of x itself. This replaces exp because the GPU compiler builds
 * its coefficients from immediate halves, two instructions each, and guards it with a branch. The coefficients here are in
 * constant memory, which arithmetic reads directly, and the loop over tokens has no branch.
 */
#ifndef LIPVERIFY_EXPONENTIAL
#define LIPVERIFY_EXPONENTIAL

#include "portable.cuh"

LIPVERIFY_CONSTANT double EXPONENTIAL[] = {
    0x1.af389eea54156p-26, 0x1.28917c9f3a495p-22, 0x1.71de0db2eb873p-19, 0x1.a019b914881bap-16, 0x1.a01a01a7c2f2cp-13,
    0x1.6c16c17889f3cp-10, 0x1.11111111109b5p-7,  0x1.5555555553d68p-5,  0x1.5555555555556p-3,  0x1.0000000000001p-1,
};
LIPVERIFY_CONSTANT double LOG_2[] = {0x1.71547652b82fep+0, 0x1.62e42fefa39efp-1}; /* 1 / log 2, log 2 */

/* exp(x) for x <= 0. Below exp(-700) = 1e-304, which is negligible relative to a weight of 1, it is 0. */
LIPVERIFY_DEVICE double decaying_exponential(double x)
{
    const double shift = 0x1.8p52; /* adding it rounds to an integer, which is then in the lowest bits */
    const double shifted = x * LOG_2[0] + shift;
    const double f = x - (shifted - shift) * LOG_2[1];
    double p = EXPONENTIAL[0];
    LIPVERIFY_UNROLL
    for (int i = 1; i < 10; ++i)
        p = p * f + EXPONENTIAL[i];
    p = (p * f + 1.0) * f + 1.0;
    return x < -700.0 ? 0.0 : of_bits(bits_of(p) + (bits_of(shifted) << 52));
}

#endif
