/* Softmax sums of one context on a ladder w_0, 2 w_0, 4 w_0, ...: one exponential per token.
 *
 * With g_i(w) = exp(w (t_i - max_j t_j)), doubling w squares the weight: g_i(2w) = g_i(w)^2. The sums are
 *
 *     S(w) = sum_i g_i(w),    T_k(w) = sum_i g_i(w) v_k,i
 *
 * at m + 1 values of w for a ladder of m rungs, because the noise at w is S(2w) / S(w)^2. The maximum is a running one:
 * when it rises, the sums are multiplied by exp(w (old - new)), and likewise when two sets of sums are combined.
 */
#ifndef LIPVERIFY_WINDOWS
#define LIPVERIFY_WINDOWS

#include "exponential.cuh"
#include "laws.cuh"

#define MOST_RUNGS 8

typedef struct {
    double nearest;
    double S[MOST_RUNGS + 1];
    double T[MOST_VALUES][MOST_RUNGS + 1];
} Sums;

/* The larger of two numbers, neither of which is NaN: one comparison, where fmax needs more. */
LIPVERIFY_DEVICE double larger(double a, double b) { return a > b ? a : b; }

/* No token yet. Every t is above -2, and a finite start keeps 0 * (old - new) = 0 at w = 0. */
LIPVERIFY_DEVICE Sums no_tokens(void)
{
    Sums sums;
    sums.nearest = -2.0;
    LIPVERIFY_UNROLL
    for (int k = 0; k <= MOST_RUNGS; ++k)
        sums.S[k] = sums.T[0][k] = sums.T[1][k] = 0.0;
    return sums;
}

/* Rescale the sums to the maximum `nearest`, which must not be below any t so far. */
LIPVERIFY_DEVICE void raise_to(double nearest, int law, int rungs, double base, Sums *sums)
{
    double factor = decaying_exponential(base * (sums->nearest - nearest));
    sums->nearest = nearest;
    LIPVERIFY_UNROLL
    for (int k = 0; k <= rungs; ++k) {
        sums->S[k] *= factor;
        LIPVERIFY_UNROLL
        for (int j = 0; j < values_of(law); ++j)
            sums->T[j][k] *= factor;
        factor *= factor;
    }
}

/* One more token, with t no larger than sums->nearest. */
LIPVERIFY_DEVICE void add_token(double t, const double v[MOST_VALUES], int law, int rungs, double base, Sums *sums)
{
    double g = decaying_exponential(base * (t - sums->nearest));
    LIPVERIFY_UNROLL
    for (int k = 0; k <= rungs; ++k) {
        sums->S[k] += g;
        LIPVERIFY_UNROLL
        for (int j = 0; j < values_of(law); ++j)
            sums->T[j][k] += g * v[j];
        g *= g;
    }
}

/* Noise and bias at rung k, in units of sigma^2 and of the amplitude's variance. */
LIPVERIFY_DEVICE void terms_at(int k, int law, const Sums *sums, double *noise, double *bias)
{
    const double share = 1.0 / sums->S[k];
    const double first = sums->T[0][k] * share, second = sums->T[1][k] * share;
    *noise = sums->S[k + 1] * share * share;
    if (law == AFFINE)
        *bias = first * first + sums->T[1][k + 1] * share * share;
    else
        *bias = first * first + (law == RELU ? second * second : 0.0);
}

#endif
