/* From an address in the stream of random words to softmax sums: sample, score, accumulate.
 *
 * The law of a token's coordinates (a, b) is invariant under quarter turns of their plane. So the same tokens serve
 * four queries x, e, -x, -e, each with its own task: a bundle of contexts. In the coordinates of query r a token is
 *
 *     (t, s) = (a, b), (b, -a), (-a, -b), (-b, a)    for r = 0, 1, 2, 3.
 *
 * Bundle j of a problem with n tokens owns the blocks [j B, (j + 1) B), B = HEADER_BLOCKS + ceil(n / 2): first the
 * pairs (u, v) of the four tasks, two in a block, then those of the tokens, two in a block.
 *
 * Tokens pass through a tile, a few at a time, and each is sampled once for all queries and the whole grid of w.
 * A tile interleaves its bundles, one per slot: token i of the slot c is at i * slots + c.
 */
#ifndef LIPVERIFY_CONTEXTS
#define LIPVERIFY_CONTEXTS

#include "windows.cuh"

#define QUERIES 4
#define HEADER_BLOCKS ((QUERIES + 1) / 2)

typedef struct {
    int law, d;
    double L;
    word n;
} Question;

/* Coordinates of sampled tokens, and the law's function of z for each query: y[r * capacity + at]. */
typedef struct {
    double *a, *b, *y;
    int slots, capacity;
} Tile;

/* Index of the first block of bundle j: j B, which may exceed 64 bits. */
LIPVERIFY_DEVICE Wide place_of(word j, word n)
{
    return product(j, HEADER_BLOCKS + (n + 1) / 2);
}

/* The task of query r of the bundle at `place`. */
LIPVERIFY_DEVICE Task draw_task(Wide key, Wide place, int r, int d)
{
    const Block header = philox(key, plus(place, r / 2));
    return r % 2 ? task_of(header.x[2], header.x[3], d) : task_of(header.x[0], header.x[1], d);
}

/* t of the query r. */
LIPVERIFY_DEVICE double along(int r, double a, double b) { return r == 0 ? a : r == 1 ? b : r == 2 ? -a : -b; }

/* s of the query r, which is t of the next query. */
LIPVERIFY_DEVICE double aside(int r, double a, double b) { return r == 0 ? b : r == 1 ? -a : r == 2 ? -b : a; }

/* Put a token into the tile; tasks[r * slots] are those of its bundle. */
LIPVERIFY_DEVICE void put_token(word u, word v, Question question, const Task *tasks, Tile tile, int at)
{
    double a, b;
    coordinates(u, v, question.d, &a, &b);
    tile.a[at] = a;
    tile.b[at] = b;
    if (question.law == AFFINE)
        return;
    LIPVERIFY_UNROLL_BY(2)
    for (int r = 0; r < QUERIES; ++r) {
        const double z = seen_by_task(tasks[r * tile.slots], along(r, a, b), aside(r, a, b));
        tile.y[r * tile.capacity + at] = observed(question.law, question.L, z);
    }
}

/* Sample the tokens [first, first + count) of the bundle in a slot, first even: their pairs row, row + rows, ...
 * If count is odd, one extra token is sampled and not used. */
LIPVERIFY_DEVICE void draw_tokens(
    word first, int count, int row, int rows, int slot, Wide key, Wide place, Question question, const Task *tasks,
    Tile tile)
{
    for (int pair = row; 2 * pair < count; pair += rows) {
        const Block b = philox(key, plus(place, HEADER_BLOCKS + first / 2 + pair));
        const int at = 2 * pair * tile.slots + slot;
        put_token(b.x[0], b.x[1], question, tasks + slot, tile, at);
        put_token(b.x[2], b.x[3], question, tasks + slot, tile, at + tile.slots);
    }
}

/* Add the tokens of query r at the indices start, start + step, ... < end of a tile to the sums of a ladder; y0 is the
 * law's function at the query itself. */
LIPVERIFY_DEVICE void score_tokens(
    int start, int end, int step, int r, double y0, int law, Tile tile, int rungs, double base, Sums *sums)
{
    const double *seen = r % 2 ? tile.b : tile.a, *y = tile.y + r * tile.capacity;
    const double sign = r < 2 ? 1.0 : -1.0;
    double nearest = sums->nearest;
    LIPVERIFY_UNROLL_BY(4)
    for (int at = start; at < end; at += step)
        nearest = larger(nearest, sign * seen[at]);
    if (nearest > sums->nearest)
        raise_to(nearest, law, rungs, base, sums);
    for (int at = start; at < end; at += step) {
        const double t = sign * seen[at];
        double v[MOST_VALUES];
        token_values(law, t, law == AFFINE ? 0.0 : y[at], y0, v);
        add_token(t, v, law, rungs, base, sums);
    }
}

#endif
