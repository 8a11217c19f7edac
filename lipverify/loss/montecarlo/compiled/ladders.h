/* Softmax sums on ladders of w, several contexts at once: windows.cuh with lanes in place of threads.
 *
 * A token has t for the query x and -t for -x. With w t = k log 2 + f, k an integer,
 *
 *     exp(w t) = 2^k (cosh f + sinh f),    exp(-w t) = 2^-k (cosh f - sinh f),
 *
 * two weights for little more than the cost of one. Weights are relative to 2^K with K the k of the nearest token:
 *
 *     g_i(w) = 2^-K exp(w t_i) <= sqrt 2,    noise and bias do not depend on K,
 *
 * so the maximum enters through an integer, and when it rises the sums are rescaled by powers of two, which is exact.
 * Beyond w = 2^50 weights do not change: the error of t is at least 2^-52, so larger w cannot be distinguished.
 */
#ifndef LIPVERIFY_LADDERS
#define LIPVERIFY_LADDERS

#include "tokens.h"

#define LARGEST_WINDOW 0x1p50
#define NOTHING_YET (-0x1p51) /* below every K */

/* Sums of one query on a ladder: K and, in units of 2^(K 2^k), S and T on rung k. */
typedef struct {
    lanes exponent, S[MOST_RUNGS + 1], T[MOST_VALUES][MOST_RUNGS + 1];
} Ladder;

/* Rescale weights to 2^K with K at least `exponent`. */
static void measure_from(lanes exponent, int law, int rungs, Ladder *ladder)
{
    const lanes raised = larger_of(ladder->exponent, exponent);
    if (!any(raised > ladder->exponent))
        return;
    lanes factor = power_of_2(ladder->exponent - raised);
    ladder->exponent = raised;
    for (int k = 0; k <= rungs; ++k) {
        ladder->S[k] *= factor;
        for (int j = 0; j < values_of(law); ++j)
            ladder->T[j][k] *= factor;
        factor *= factor;
    }
}

/* Weights for the queries x and -x, at t and -t: 2^(k - K) (cosh f + sinh f), 2^(-k - K') (cosh f - sinh f). */
static void weigh(const lanes *t, int vectors, double base, lanes K, lanes opposite_K, lanes *g, lanes *opposite_g)
{
    const masks down = exponents(K + SHIFT), opposite_down = exponents(opposite_K + SHIFT);
    const lanes least = K - LOST, most = LOST - opposite_K;
    for (int at = 0; at < vectors; ++at) {
        const Split parts = split(base * t[at]);
        const masks k = exponents(parts.shifted);
        const lanes even = 1.0 + parts.cosh_less_1;
        g[at] = (lanes)(((masks)(even + parts.sinh) + k - down) & (parts.k >= least));
        opposite_g[at] = (lanes)(((masks)(even - parts.sinh) - k - opposite_down) & (parts.k <= most));
    }
}

/* Add the tokens of a tile to the sums on a ladder. T_2 of the affine law is needed at 2w, all others at w. */
INLINE void add_on(int law, int rungs, int vectors, const lanes *weights, const lanes *v0, const lanes *v1, Ladder *sums)
{
    const int two = values_of(law) == 2, later = law == AFFINE;
    lanes S[MOST_RUNGS + 1], T0[MOST_RUNGS + 1], T1[MOST_RUNGS + 1];
#pragma GCC unroll 9
    for (int k = 0; k <= rungs; ++k) {
        S[k] = sums->S[k];
        T0[k] = sums->T[0][k];
        T1[k] = sums->T[1][k];
    }
    for (int at = 0; at < vectors; ++at) {
        lanes g = weights[at];
#pragma GCC unroll 9
        for (int k = 0; k <= rungs; ++k) {
            S[k] += g;
            if (k < rungs)
                T0[k] += g * v0[at];
            if (two && later <= k && k < rungs + later)
                T1[k] += g * v1[at];
            g *= g;
        }
    }
#pragma GCC unroll 9
    for (int k = 0; k <= rungs; ++k) {
        sums->S[k] = S[k];
        sums->T[0][k] = T0[k];
        if (two)
            sums->T[1][k] = T1[k];
    }
}

/* The same with the law and the number of rungs as constants for the compiler, so that the sums stay in registers. */
#define ON_RUNGS(law, m) \
    case m: \
        add_on(law, m, vectors, weights, v0, v1, sums); \
        break;
#if REGISTERED_RUNGS == 8
#define ON_MORE_RUNGS(law) ON_RUNGS(law, 5) ON_RUNGS(law, 6) ON_RUNGS(law, 7) ON_RUNGS(law, 8)
#else
#define ON_MORE_RUNGS(law)
#endif
#define ON_LADDERS(name, law) \
    static void name(int rungs, int vectors, const lanes *weights, const lanes *v0, const lanes *v1, Ladder *sums) \
    { \
        switch (rungs) { \
            ON_RUNGS(law, 1) ON_RUNGS(law, 2) ON_RUNGS(law, 3) ON_RUNGS(law, 4) ON_MORE_RUNGS(law) \
        } \
    }
ON_LADDERS(add_affine, AFFINE)
ON_LADDERS(add_two_links, RELU)
ON_LADDERS(add_one_link, QUADRATIC)

static void add(int law, int rungs, int vectors, const Drawn *tile, int r, Ladder *sums)
{
    const lanes *weights = tile->weights[r / 2], *v0 = tile->values[0][r], *v1 = tile->values[1][r];
    (law == AFFINE ? add_affine : law == RELU ? add_two_links : add_one_link)(rungs, vectors, weights, v0, v1, sums);
}

/* Add a tile of `numbers` tokens, over all lanes, to the sums of the four queries on a ladder. */
static void score(int law, int rungs, double base, int numbers, const lanes nearest[QUERIES], Drawn *tile, Ladder *sums)
{
    const int vectors = (numbers + LANES - 1) / LANES;
    for (int r = 0; r < QUERIES; ++r)
        measure_from(nearest_integer(base * nearest[r] * LOG_2[0]), law, rungs, &sums[r]);
    for (int r = 0; r < QUERIES / 2; ++r) {
        double *g = (double *)tile->weights[0], *opposite_g = (double *)tile->weights[1];
        weigh(r ? tile->b : tile->a, vectors, base, sums[r].exponent, sums[r + 2].exponent, tile->weights[0],
              tile->weights[1]);
        for (int at = numbers; at < vectors * LANES; ++at)
            g[at] = opposite_g[at] = 0.0;
        add(law, rungs, vectors, tile, r, &sums[r]);
        add(law, rungs, vectors, tile, r + 2, &sums[r + 2]);
    }
}

static double across_lanes(lanes x)
{
    double sum = 0.0;
    for (int lane = 0; lane < LANES; ++lane)
        sum += x[lane];
    return sum;
}

/* Combine lanes that share a bundle. */
static void join(int law, int rungs, Ladder *sums)
{
    double exponent = sums->exponent[0];
    for (int lane = 1; lane < LANES; ++lane)
        exponent = larger(exponent, sums->exponent[lane]);
    measure_from(all(exponent), law, rungs, sums);
    for (int k = 0; k <= rungs; ++k) {
        sums->S[k] = all(across_lanes(sums->S[k]));
        for (int j = 0; j < values_of(law); ++j)
            sums->T[j][k] = all(across_lanes(sums->T[j][k]));
    }
}

/* Noise and bias at rung k, averaged over the four queries: see windows.cuh. */
static void terms_on(int k, int law, const Ladder *sums, lanes *noise, lanes *bias)
{
    *noise = *bias = all(0.0);
    for (int r = 0; r < QUERIES; ++r) {
        const lanes share = 1.0 / sums[r].S[k], first = sums[r].T[0][k] * share, second = sums[r].T[1][k] * share;
        *noise += sums[r].S[k + 1] / (sums[r].S[k] * sums[r].S[k]); /* exactly 1 if one token has all the weight */
        *bias += first * first;
        if (law == AFFINE)
            *bias += sums[r].T[1][k + 1] * share * share;
        if (law == RELU)
            *bias += second * second;
    }
    *noise *= 1.0 / QUERIES;
    *bias *= 1.0 / QUERIES;
}

#endif
