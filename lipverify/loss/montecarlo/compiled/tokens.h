/* Tokens of a group of bundles in a tile, several at once: contexts.cuh with lanes in place of threads.
 *
 * Either each lane has its own bundle, or all lanes share one: token i of the bundle in a slot is at the index
 * i * slots + slot of a tile, slots = LANES or 1.
 */
#ifndef LIPVERIFY_TOKENS
#define LIPVERIFY_TOKENS

#include "contexts.cuh"
#include "lanes.h"

#define TILE 32 /* vectors of tokens sampled at a time: their values stay in the first-level cache */

/* A tile: uniforms, coordinates, values of the law for each query, weights for the queries x and -x. */
typedef struct {
    lanes u[TILE], v[TILE], a[TILE], b[TILE], values[MOST_VALUES][QUERIES][TILE], weights[2][TILE];
} Drawn;

/* Directions of the tasks of the four queries of each lane's bundle, and the law's function at the query itself. */
typedef struct {
    lanes c[QUERIES], across[QUERIES], y0[QUERIES];
} Tasks;

/* Bundles of one pass through the lanes: their indices in the stream, and the number of distinct ones (LANES or 1). */
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

/* Fill the rest of the last vector with the first token, which does not change the maximum. */
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

/* Coordinates and values of the tokens in a tile, and the largest t for each query. */
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

#endif
