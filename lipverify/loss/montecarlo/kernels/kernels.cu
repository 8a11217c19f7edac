/* The kernels: samples of whole bundles on a grid of windows, and plain uniforms.
 *
 * One block holds a few bundles. All its threads draw a tile of tokens into shared memory; then each warp scores the
 * tile for a ladder of its own, with the sums of eight windows in registers: 27 doubles (18 with one link), and with
 * all else 110 registers for the affine law, 120 quadratic, 128 cosine, 128 ReLU; none is spilled, and 16 warps fit
 * on a multiprocessor. A lane has a whole query, or a slice of its tokens if there are many: lanes meet once, at the
 * end. The maximum is a running one, taken over a tile before its tokens are added: a first pass for the maximum
 * alone would double the draws, and a maximum for each token would divide the lanes.
 *
 * What limits it is the unit for float64. Instructions, as the compiler makes them for compute capability 9.0, on a
 * ladder of eight windows:
 *
 *     a (token, window) pair      4 float64 (S, T_1, T_2 and a square; 3 with one link): 32 (24) a ladder
 *     a (token, query, ladder)   24 float64 (22): 16 for the exponential, 2 for its end and 2 for the maximum, the
 *                                sign, the values; beside some 12 others (loads, indices, scaling by 2^k)
 *     a token drawn              about 80 float64 (logarithm, expm1, root, sine and cosine; the links beyond that:
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
#define TILE 512                 /* tokens drawn between two barriers */
#define CAPACITY (TILE + PLACES) /* so that what two queries read at a time lies in different banks of memory */
#define MOST_WARPS 8             /* ladders of one block; more are dealt to other blocks, which draw again */
#define ALL_LANES 0xffffffffu

/* Join the sums of the slices of a bundle, which lie `slots` lanes apart. */
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

/* The average over the queries of a bundle, which lie PLACES lanes apart. */
LIPVERIFY_DEVICE double over_queries(double x)
{
    LIPVERIFY_UNROLL
    for (int apart = PLACES; apart < LANES; apart *= 2)
        x += __shfl_xor_sync(ALL_LANES, x, apart);
    return x / QUERIES;
}

/* Samples of noise and bias for `bundles` bundles from number `first` on; each warp has a ladder.
 *
 * A lane has a query r, a slice of the tokens and a slot of the tile, lane = (r * slices + slice) * slots + slot.
 * Ladder l has the columns starts[l], ..., starts[l + 1] - 1 of the results, which have the shape
 * (bundles, starts[ladders]), and no more than `rungs` of them.
 */
template <int law, int rungs>
__global__ void __launch_bounds__(LANES *MOST_WARPS, 2)
samples(word key_low, word key_high, word first, word bundles, int d, word n, double L, int slices, int ladders,
        const double *bases, const int *starts, double *noise, double *bias)
{
    __shared__ double ab[2 * CAPACITY], y[law == AFFINE ? 1 : QUERIES * CAPACITY];
    __shared__ Task tasks[LANES];
    const Wide key = {key_low, key_high};
    const Question question = {law, d, L, n};
    const int lane = threadIdx.x % LANES, slots = PLACES / slices, slot = lane % slots, r = lane / PLACES;
    const int ladder = blockIdx.y * (blockDim.x / LANES) + threadIdx.x / LANES, length = TILE / slots;
    const double base = ladder < ladders ? bases[ladder] : 0.0;
    const word number = (word)blockIdx.x * slots + slot;
    const Wide place = place_of(first + number, n);
    const Tile tile = {ab, ab + CAPACITY, y, slots, CAPACITY};
    double y0 = 0.0;
    if (law != AFFINE) {
        if (threadIdx.x < QUERIES * slots)
            tasks[threadIdx.x] = draw_task(key, place, threadIdx.x / slots, d);
        __syncthreads();
        y0 = observed(law, L, tasks[r * slots + slot].c);
    }
    Sums sums = no_tokens();
    for (word done = 0; done < n; done += length) {
        const word left = n - done;
        const int count = left < (word)length ? (int)left : length;
        draw_tokens(done, count, threadIdx.x / slots, blockDim.x / slots, slot, key, place, question, tasks, tile);
        __syncthreads();
        if (ladder < ladders)
            score_tokens(lane % PLACES, count * slots, PLACES, r, y0, law, tile, rungs, base, &sums);
        __syncthreads();
    }
    join_slices(slots, law, rungs, base, &sums);
    const bool writes = ladder < ladders && number < bundles && lane < slots;
    const int columns = writes ? starts[ladder + 1] - starts[ladder] : 0;
    const word row = writes ? number * starts[ladders] + starts[ladder] : 0;
    LIPVERIFY_UNROLL
    for (int k = 0; k < rungs; ++k) {
        double noise_k, bias_k;
        terms_at(k, law, &sums, &noise_k, &bias_k);
        noise_k = over_queries(noise_k);
        bias_k = over_queries(bias_k);
        if (k < columns) {
            noise[row + k] = noise_k;
            bias[row + k] = bias_k;
        }
    }
}

/* `count` uniforms on [0, 1): four of each block of a stream, from the block (low, high) on. */
extern "C" __global__ void uniforms(word key_low, word key_high, word low, word high, word count, double *out)
{
    const word number = (word)blockIdx.x * blockDim.x + threadIdx.x;
    const Wide key = {key_low, key_high}, first = {low, high};
    const Block block = philox(key, plus(first, number));
    LIPVERIFY_UNROLL
    for (int i = 0; i < 4; ++i)
        if (4 * number + i < count)
            out[4 * number + i] = uniform(block.x[i]);
}
