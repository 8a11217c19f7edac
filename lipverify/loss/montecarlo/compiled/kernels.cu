/* The kernels: samples of whole bundles on a grid of w, and plain uniforms.
 *
 * One block holds a few bundles. All its threads sample a tile of tokens into shared memory; then each warp scores the
 * tile for its own ladder, with the sums of eight w in registers: 27 doubles (18 with one link). With everything
 * else that is 110 registers for the affine law, 120 quadratic, 128 cosine, 128 ReLU; none is spilled, and 16 warps fit
 * on a multiprocessor. A lane has a whole query, or a slice of its tokens if there are many; lanes are combined once, at
 * the end. The maximum is a running maximum, updated for each tile before its tokens are added: a separate first pass for
 * the maximum would double the sampling, and an update for each token would make the lanes diverge.
 *
 * The float64 unit is the limit. Instructions, as compiled for compute capability 9.0, on a ladder of eight w:
 *
 *     a (token, window) pair      4 float64 (S, T_1, T_2 and a square; 3 with one link): 32 (24) a ladder
 *     a (token, query, ladder)   24 float64 (22): 16 for the exponential, 2 for its end and 2 for the maximum, the
 *                                sign, the values; and some 12 others (loads, indices, scaling by 2^k)
 *     a sampled token            about 80 float64 (logarithm, expm1, root, sine and cosine; in addition the links:
 *                                ReLU 88, quadratic 92, cosine 180), 40 wide multiplications (a block of Philox has
 *                                10 rounds of two products of 64 bits, each of four, and serves two tokens), and
 *                                some 250 others, for four queries and all ladders
 *
 * With float64 at half the rate of instructions (A100, H100, H200, B200), scoring takes 56 * 2 = 112 cycles of the
 * float64 unit to 68 of the scheduler. With 4 ladders and 4 queries a token thus costs 16 * 112 + 160 = 1952 cycles
 * of the one and 16 * 68 + 370 = 1458 of the other. With one ladder it is 608 to 642, about even; where float64 is
 * slower, it limits more. benchmarks/gpu.py measures the share.
 */
#include "contexts.cuh"

#define LANES 32
#define PLACES (LANES / QUERIES) /* bundles, or slices of bundles, that a warp holds */
#define TILE 256                 /* tokens that a team samples between two barriers */
#define CAPACITY (TILE + PLACES) /* so that two simultaneous reads of different queries are in different memory banks */
#define MOST_TEAMS 2
#define MOST_WARPS 8 /* of a block */
#define ALL_LANES 0xffffffffu
#define SIZE(law, rungs) (1 + (1 + values_of(law)) * ((rungs) + 1)) /* doubles of a context's sums */

/* Combine the sums of the slices of a bundle, which are `slots` lanes apart. */
LIPVERIFY_DEVICE void join_slices(int slots, int law, int rungs, double base, Sums *sums)
{
    for (int apart = slots; apart < PLACES; apart *= 2) {
        raise_to(larger(sums->nearest, __shfl_xor_sync(ALL_LANES, sums->nearest, apart)), law, rungs, base, sums);
        LIPVERIFY_UNROLL
        for (int k = 0; k <= rungs; ++k) {
            sums->S[k] += __shfl_xor_sync(ALL_LANES, sums->S[k], apart);
            LIPVERIFY_UNROLL
            for (int j = 0; j < values_of(law); ++j)
                sums->T[j][k] += __shfl_xor_sync(ALL_LANES, sums->T[j][k], apart);
        }
    }
}

/* The average over the queries of a bundle, which are PLACES lanes apart. */
LIPVERIFY_DEVICE double over_queries(double x)
{
    LIPVERIFY_UNROLL
    for (int apart = PLACES; apart < LANES; apart *= 2)
        x += __shfl_xor_sync(ALL_LANES, x, apart);
    return x / QUERIES;
}

/* Noise and bias of a bundle at `columns` rungs of a ladder (at most `rungs`), from the sums of its queries; `columns`
 * is 0 if another lane writes them. */
LIPVERIFY_DEVICE void put_terms(int law, int rungs, const Sums *sums, int columns, double *noise, double *bias)
{
    LIPVERIFY_UNROLL
    for (int k = 0; k < rungs; ++k) {
        double noise_k, bias_k;
        terms_at(k, law, sums, &noise_k, &bias_k);
        noise_k = over_queries(noise_k);
        bias_k = over_queries(bias_k);
        if (k < columns) {
            noise[k] = noise_k;
            bias[k] = bias_k;
        }
    }
}

/* Store the sums of a part of a context as SIZE(law, rungs) doubles. */
LIPVERIFY_DEVICE void put_sums(int law, int rungs, const Sums *sums, double *room)
{
    room[0] = sums->nearest;
    LIPVERIFY_UNROLL
    for (int k = 0; k <= rungs; ++k) {
        room[1 + k] = sums->S[k];
        LIPVERIFY_UNROLL
        for (int j = 0; j < values_of(law); ++j)
            room[1 + (1 + j) * (rungs + 1) + k] = sums->T[j][k];
    }
}

/* Add stored sums: both are rescaled to the nearer of their nearest tokens. */
LIPVERIFY_DEVICE void add_sums(int law, int rungs, double base, const double *room, Sums *sums)
{
    const double nearest = larger(sums->nearest, room[0]);
    double factor = decaying_exponential(base * (room[0] - nearest));
    raise_to(nearest, law, rungs, base, sums);
    LIPVERIFY_UNROLL
    for (int k = 0; k <= rungs; ++k) {
        sums->S[k] += factor * room[1 + k];
        LIPVERIFY_UNROLL
        for (int j = 0; j < values_of(law); ++j)
            sums->T[j][k] += factor * room[1 + (1 + j) * (rungs + 1) + k];
        factor *= factor;
    }
}

/* Samples of noise and bias for `bundles` bundles from number `first` on; each warp has a ladder.
 *
 * A block holds `teams` teams of warps, each with bundles, a tile and one warp for each ladder. A lane has a
 * query r, a slice of the tokens and a slot of the tile, lane = (r * slices + slice) * slots + slot. Ladder l has the
 * columns starts[l], ..., starts[l + 1] - 1 of the results, which have the shape (bundles, columns), and no more than
 * `rungs` of them.
 *
 * A context of more than `stretch` tokens is cut into parts of that length, each summed by a separate block: this
 * call sums the parts `first_part`, ..., `first_part + gridDim.y - 1` into `room`, (bundles, parts, ladders, QUERIES,
 * SIZE), and `joined` computes samples from them. The parts depend on n alone, not on their number in a call.
 */
template <int law, int rungs>
__global__ void __launch_bounds__(LANES *MOST_WARPS, 2)
samples(word key_low, word key_high, word first, word bundles, int d, word n, double L, int slices, int teams,
        word stretch, word first_part, int ladders, const double *bases, const int *starts, int columns, double *room,
        double *noise, double *bias)
{
    __shared__ double ab[MOST_TEAMS * 2 * CAPACITY], y[law == AFFINE ? 1 : MOST_TEAMS * QUERIES * CAPACITY];
    __shared__ Task tasks[MOST_TEAMS * LANES];
    __shared__ double at_query[MOST_TEAMS * LANES];
    const Wide key = {key_low, key_high};
    const Question question = {law, d, L, n};
    const int slots = PLACES / slices, length = TILE / slots;
    const word part = first_part + blockIdx.y, begin = part * stretch;
    const int tokens = (int)(n - begin < stretch ? n - begin : stretch);
    if (law != AFFINE) {
        const int drawn_slot = threadIdx.x % slots, drawn_team = threadIdx.x / slots % teams;
        const int row = threadIdx.x / (slots * teams);
        const word drawn = first + ((word)blockIdx.x * teams + drawn_team) * slots + drawn_slot;
        if (row < QUERIES) {
            const Task task = draw_task(key, place_of(drawn, n), row, d);
            tasks[drawn_team * LANES + row * slots + drawn_slot] = task;
            at_query[drawn_team * LANES + row * slots + drawn_slot] = observed(law, L, task.c);
        }
        __syncthreads(); /* all tasks are sampled */
    }
    Sums sums = no_tokens();
    for (int done = 0; done < tokens; done += length) {
        const int count = tokens - done < length ? tokens - done : length;
        /* the indices of a thread are computed again for each tile, because the registers hold the sums */
        int thread = threadIdx.x;
        LIPVERIFY_ANEW(thread);
        {
            const int drawn_slot = thread % slots, drawn_team = thread / slots % teams;
            const word drawn = first + ((word)blockIdx.x * teams + drawn_team) * slots + drawn_slot;
            double *const a = ab + drawn_team * 2 * CAPACITY;
            const Tile into = {a, a + CAPACITY, law == AFFINE ? y : y + drawn_team * QUERIES * CAPACITY, slots,
                               CAPACITY};
            draw_tokens(begin + done, count, thread / (slots * teams), blockDim.x / (slots * teams), drawn_slot, key,
                        place_of(drawn, n), question, tasks + drawn_team * LANES, into);
        }
        __syncthreads(); /* the whole tile is sampled */
        {
            const int team = thread / LANES % teams, r = thread % LANES / PLACES;
            double *const a = ab + team * 2 * CAPACITY;
            const Tile from = {a, a + CAPACITY, law == AFFINE ? y : y + team * QUERIES * CAPACITY, slots, CAPACITY};
            const double y0 = law == AFFINE ? 0.0 : at_query[team * LANES + r * slots + thread % slots];
            score_tokens(thread % PLACES, count * slots, PLACES, r, y0, law, from, rungs,
                         bases[thread / LANES / teams], &sums);
        }
        __syncthreads(); /* every lane has read the tile */
    }
    const int lane = threadIdx.x % LANES, r = lane / PLACES;
    const int warp = threadIdx.x / LANES, team = warp % teams, ladder = warp / teams;
    const word number = ((word)blockIdx.x * teams + team) * slots + lane % slots;
    join_slices(slots, law, rungs, bases[ladder], &sums);
    const bool writes = number < bundles && lane % PLACES < slots;
    if (n > stretch) {
        const word parts = (n - 1) / stretch + 1;
        if (writes)
            put_sums(law, rungs, &sums, room + (((number * parts + part) * ladders + ladder) * QUERIES + r)
                                               * SIZE(law, rungs));
        return;
    }
    const word at = writes ? number * columns + starts[ladder] : 0;
    put_terms(law, rungs, &sums, writes && r == 0 ? starts[ladder + 1] - starts[ladder] : 0, noise + at, bias + at);
}

/* Samples of the bundle blockIdx.x on the ladder blockIdx.y from the sums of its parts, by one warp: a lane adds every
 * PLACES-th part of a query in order, and lanes are combined like slices. */
template <int law, int rungs>
__global__ void __launch_bounds__(LANES)
joined(word parts, int ladders, const double *bases, const int *starts, int columns, const double *room, double *noise,
       double *bias)
{
    const int lane = threadIdx.x, r = lane / PLACES, ladder = blockIdx.y;
    const double base = bases[ladder];
    Sums sums = no_tokens();
    for (word part = lane % PLACES; part < parts; part += PLACES)
        add_sums(law, rungs, base, room + ((((word)blockIdx.x * parts + part) * ladders + ladder) * QUERIES + r)
                                          * SIZE(law, rungs), &sums);
    join_slices(1, law, rungs, base, &sums);
    const word at = (word)blockIdx.x * columns + starts[ladder];
    put_terms(law, rungs, &sums, lane == 0 ? starts[ladder + 1] - starts[ladder] : 0, noise + at, bias + at);
}

/* `count` uniforms on [0, 1) of the chunk blockIdx.y: four of each block of a stream, from the block (low, high) on. */
extern "C" __global__ void uniforms(word key_low, word key_high, word low, word high, word count, double *out)
{
    const word number = (word)blockIdx.x * blockDim.x + threadIdx.x;
    const Wide key = {key_low, key_high}, first = {low, high + blockIdx.y};
    const Block block = philox(key, plus(first, number));
    LIPVERIFY_UNROLL
    for (int i = 0; i < 4; ++i)
        if (4 * number + i < count)
            out[blockIdx.y * count + 4 * number + i] = uniform(block.x[i]);
}

/* The summary of the leaf blockIdx.x, the rows cuts[leaf], ..., cuts[leaf + 1] - 1 of samples (rows, columns), in
 * (leaves, 6, columns): minimum, maximum, and the sums of four powers of (x - centre) / unit. A thread has a column and
 * adds its samples in order; NaN is propagated. */
extern "C" __global__ void moments(const double *samples, int columns, const word *cuts, const double *centre,
                                   const double *unit, double *out)
{
    const int column = blockIdx.y * blockDim.x + threadIdx.x;
    if (column >= columns)
        return;
    const word end = cuts[blockIdx.x + 1];
    const double middle = centre[column], scale = unit[column];
    double least = samples[cuts[blockIdx.x] * columns + column], largest = least, sums[4] = {0.0, 0.0, 0.0, 0.0};
    for (word row = cuts[blockIdx.x]; row < end; ++row) {
        const double x = samples[row * columns + column], deviation = (x - middle) / scale;
        const double square = deviation * deviation;
        least = least <= x ? least : least == least ? x : least;
        largest = largest >= x ? largest : largest == largest ? x : largest;
        sums[0] += deviation;
        sums[1] += square;
        sums[2] += square * deviation;
        sums[3] += square * square;
    }
    double *at = out + (word)blockIdx.x * 6 * columns + column;
    at[0] = least;
    at[columns] = largest;
    LIPVERIFY_UNROLL
    for (int power = 0; power < 4; ++power)
        at[(2 + power) * columns] = sums[power];
}
