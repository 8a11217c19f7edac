/* The samples of kernels.cu on a processor: the same points, drawn and summed by its vector registers.
 *
 * A lane has a bundle of its own, so that nothing is ever summed across lanes; for large n, of which few bundles are
 * wanted, all lanes share one bundle and are joined at the end. Tokens pass through a tile that stays in the nearest
 * cache. What a lane holds depends on its bundle alone: how the work is cut into calls changes no bit.
 *
 * The queries x and -x see t and -t. With w t = k log 2 + f, k whole,
 *
 *     exp(w t) = 2^k (cosh f + sinh f),    exp(-w t) = 2^-k (cosh f - sinh f),
 *
 * two weights for little more than the price of one. Weights are measured from 2^K with K the k of the nearest token:
 *
 *     g_i(w) = 2^-K exp(w t_i) <= sqrt 2,    noise and bias do not depend on K,
 *
 * so the maximum enters by an integer, and sums are rescaled by powers of two, exactly, when it rises. Beyond
 * w = 2^50 weights do not change: t is known to 2^-52 at best, and no window can be told from a larger one.
 */
#include "contexts.cuh"
#include "lanes.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#define TILE 32                /* vectors of tokens drawn at a time */
#define LARGE_CONTEXT 2048     /* tokens from which on all lanes share a bundle */
#define LARGEST_WINDOW 0x1p50
#define NOTHING_YET (-0x1p51)  /* below every K */

/* A tile: uniforms, coordinates, values of the law for each query, weights for the queries x and -x. */
typedef struct {
    lanes u[TILE], v[TILE], a[TILE], b[TILE], values[MOST_VALUES][QUERIES][TILE], weights[2][TILE];
} Drawn;

/* Sums of one query on a ladder: K and, in units of 2^(K 2^k), S and T on rung k. */
typedef struct {
    lanes exponent, S[MOST_RUNGS + 1], T[MOST_VALUES][MOST_RUNGS + 1];
} Ladder;

/* Directions of the four queries of each lane's bundle, and what the law observes at the query itself. */
typedef struct {
    lanes c[QUERIES], across[QUERIES], y0[QUERIES];
} Tasks;

/* Bundles of one pass through the lanes: their places in the stream, and how many differ (LANES or 1). */
typedef struct {
    Wide key, places[LANES];
    int slots;
} Group;

/* (R cos 2 pi v, R sin 2 pi v), see sphere.cuh. */
INLINE void coordinates_of(lanes u, lanes v, int d, lanes *a, lanes *b)
{
    turned(v, a, b);
    if (d == 2)
        return;
    const lanes radius = root(one_less_exponential(logarithm(u) * (2.0 / (d - 2))));
    *a *= radius;
    *b *= radius;
}

INLINE lanes observed_by(int law, double L, lanes z)
{
    lanes cosine, unused;
    if (law == QUADRATIC)
        return z * z;
    if (law != COSINE)
        return z;
    turned(z * (L * 0.15915494309189535), &cosine, &unused); /* L z / (2 pi) */
    return cosine;
}

INLINE lanes positive_parts(lanes z) { return larger_of(z, all(0.0)); }

static void draw_tasks(const Group *group, Question question, Tasks *tasks)
{
    lanes u[QUERIES], v[QUERIES], unused;
    for (int lane = 0; lane < LANES; ++lane)
        for (int r = 0; r < QUERIES; r += 2) {
            const Block header = philox(group->key, plus(group->places[lane], r / 2));
            u[r][lane] = positive_uniform(header.x[0]);
            v[r][lane] = uniform(header.x[1]);
            u[r + 1][lane] = positive_uniform(header.x[2]);
            v[r + 1][lane] = uniform(header.x[3]);
        }
    for (int r = 0; r < QUERIES; ++r) {
        coordinates_of(u[r], v[r], question.d, &tasks->c[r], &unused);
        tasks->across[r] = root((1.0 - tasks->c[r]) * (1.0 + tasks->c[r]));
        tasks->y0[r] = observed_by(question.law, question.L, tasks->c[r]);
    }
}

/* Uniforms of the tokens [first, first + count) of each bundle, first even: token i of slot s is at i slots + s. */
static void draw_uniforms(const Group *group, word first, int count, Drawn *tile)
{
    double *u = (double *)tile->u, *v = (double *)tile->v;
    for (int slot = 0; slot < group->slots; ++slot)
        for (int pair = 0; 2 * pair < count; ++pair) {
            const Block block = philox(group->key, plus(group->places[slot], HEADER_BLOCKS + first / 2 + pair));
            const int at = 2 * pair * group->slots + slot;
            u[at] = positive_uniform(block.x[0]);
            v[at] = uniform(block.x[1]);
            u[at + group->slots] = positive_uniform(block.x[2]);
            v[at + group->slots] = uniform(block.x[3]);
        }
}

/* Places of a last vector beyond its tokens: they repeat the first token, which moves no maximum. */
static void repeat_first(int from, int to, Drawn *tile)
{
    double *u = (double *)tile->u, *v = (double *)tile->v;
    for (int at = from; at < to; ++at) {
        u[at] = u[0];
        v[at] = v[0];
    }
}

/* The values v_k of laws.cuh for the query r, whose token is at (t, s). */
INLINE void put_values(Question question, const Tasks *tasks, int r, lanes t, lanes s, int at, Drawn *tile)
{
    lanes *first = &tile->values[0][r][at], *second = &tile->values[1][r][at];
    if (question.law == AFFINE) {
        *first = 1.0 - t;
        *second = *first * (1.0 + t);
        return;
    }
    const lanes z = tasks->c[r] * t + tasks->across[r] * s;
    if (question.law == RELU) {
        *first = positive_parts(z) - positive_parts(tasks->c[r]);
        *second = *first - (z - tasks->c[r]);
    } else
        *first = observed_by(question.law, question.L, z) - tasks->y0[r];
}

/* Coordinates and values of the tokens in a tile, and the largest t that each query sees. */
static void place_tokens(Question question, const Tasks *tasks, int vectors, lanes nearest[QUERIES], Drawn *tile)
{
    for (int r = 0; r < QUERIES; ++r)
        nearest[r] = all(-2.0);
    for (int at = 0; at < vectors; ++at) {
        lanes a, b;
        coordinates_of(tile->u[at], tile->v[at], question.d, &a, &b);
        tile->a[at] = a;
        tile->b[at] = b;
        const lanes t[QUERIES] = {a, b, -a, -b}, s[QUERIES] = {b, -a, -b, a};
        for (int r = 0; r < QUERIES; ++r) {
            nearest[r] = larger_of(nearest[r], t[r]);
            put_values(question, tasks, r, t[r], s[r], at, tile);
        }
    }
}

/* Measure weights from 2^K with K no smaller than `exponent`. */
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

/* Weights of the queries x and -x, which see t and -t: 2^(k - K) (cosh f + sinh f), 2^(-k - K') (cosh f - sinh f). */
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

/* The same with the law and the number of rungs known to the compiler, so that the sums stay in registers. */
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

/* Join lanes that share a bundle. */
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
        *noise += sums[r].S[k + 1] * share * share;
        *bias += first * first;
        if (law == AFFINE)
            *bias += sums[r].T[1][k + 1] * share * share;
        if (law == RELU)
            *bias += second * second;
    }
    *noise *= 1.0 / QUERIES;
    *bias *= 1.0 / QUERIES;
}

/* Samples of one group: sums of ladder l and query r are at sums[l QUERIES + r]. */
static void sum_group(const Group *group, Question question, int ladders, const double *bases, const int *starts,
                      Ladder *sums)
{
    Drawn tile;
    Tasks tasks;
    lanes nearest[QUERIES];
    const int length = TILE * LANES / group->slots;
    draw_tasks(group, question, &tasks);
    memset(sums, 0, ladders * QUERIES * sizeof *sums);
    for (int l = 0; l < ladders * QUERIES; ++l)
        sums[l].exponent = all(NOTHING_YET);
    for (word done = 0; done < question.n; done += length) {
        const int count = question.n - done < (word)length ? (int)(question.n - done) : length;
        const int numbers = count * group->slots, vectors = (numbers + LANES - 1) / LANES;
        draw_uniforms(group, done, count, &tile);
        repeat_first(numbers, vectors * LANES, &tile);
        place_tokens(question, &tasks, vectors, nearest, &tile);
        for (int l = 0; l < ladders; ++l)
            score(question.law, starts[l + 1] - starts[l], bases[l] < LARGEST_WINDOW ? bases[l] : LARGEST_WINDOW,
                  numbers, nearest, &tile, sums + l * QUERIES);
    }
}

/* Subnormal numbers count as zero from here on in this thread, on processors that would be slow; what held before. */
static unsigned flush_subnormals(void)
{
#if defined(__SSE2__)
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040);
    return before;
#else
    return 0;
#endif
}

static void restore_subnormals(unsigned before)
{
#if defined(__SSE2__)
    _mm_setcsr(before);
#endif
}

/* The longest ladder to be asked for. */
int lipverify_rungs(void) { return REGISTERED_RUNGS; }

/* Bytes of room that the sums on so many ladders need, beyond an address that is a multiple of 64. */
word lipverify_room(int ladders) { return ladders * QUERIES * sizeof(Ladder); }

/* Noise and bias of `bundles` bundles from number `first` on; ladder l has the columns starts[l], ...,
 * starts[l + 1] - 1 of the results, which have the shape (bundles, starts[ladders]). */
void lipverify_samples(word key_low, word key_high, word first, word bundles, int law, int d, word n, double L,
                       int ladders, const double *bases, const int *starts, void *room, double *noise, double *bias)
{
    const Question question = {law, d, L, n};
    const unsigned mode = flush_subnormals();
    Ladder *sums = room;
    Group group = {{key_low, key_high}, {{0, 0}}, n < LARGE_CONTEXT ? LANES : 1};
    for (word done = 0; done < bundles; done += group.slots) {
        for (int lane = 0; lane < LANES; ++lane)
            group.places[lane] = place_of(first + done + lane % group.slots, n);
        sum_group(&group, question, ladders, bases, starts, sums);
        for (int l = 0; l < ladders; ++l, sums += QUERIES) {
            for (int r = 0; r < QUERIES && group.slots == 1; ++r)
                join(law, starts[l + 1] - starts[l], &sums[r]);
            for (int column = starts[l]; column < starts[l + 1]; ++column) {
                lanes noises, biases;
                terms_on(column - starts[l], law, sums, &noises, &biases);
                for (int slot = 0; slot < group.slots && done + slot < bundles; ++slot) {
                    noise[(done + slot) * starts[ladders] + column] = noises[slot];
                    bias[(done + slot) * starts[ladders] + column] = biases[slot];
                }
            }
        }
        sums = room;
    }
    restore_subnormals(mode);
}
