/* The samples of kernels.cu on a CPU: the same points, sampled and summed in vector registers.
 *
 * Each lane has its own bundle, so no sum runs across lanes. For large n, where few bundles are needed, all lanes share
 * one bundle and are combined at the end. The contents of a lane depend on its bundle alone: the results are the same to
 * the bit however the work is divided into calls.
 */
#include "ladders.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#define LARGE_CONTEXT 2048 /* tokens from which on all lanes share a bundle */

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

/* Treat subnormal numbers as zero in this thread from here on, where they would be slow; returns the previous mode. */
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

/* The longest ladder that a caller may request. */
int lipverify_rungs(void) { return REGISTERED_RUNGS; }

/* Bytes that the sums on a number of ladders need, from an address that is a multiple of 64. */
word lipverify_room(int ladders) { return ladders * QUERIES * sizeof(Ladder); }

/* Write noise and bias of a group on a ladder, from its sums, one row for each bundle. */
static void put_terms(const Group *group, int law, int rungs, int columns, word bundles, Ladder *sums,
                      double *noise, double *bias)
{
    for (int r = 0; r < QUERIES && group->slots == 1; ++r)
        join(law, rungs, &sums[r]);
    for (int k = 0; k < rungs; ++k) {
        lanes noises, biases;
        terms_on(k, law, sums, &noises, &biases);
        for (int slot = 0; slot < group->slots && (word)slot < bundles; ++slot) {
            noise[slot * (word)columns + k] = noises[slot];
            bias[slot * (word)columns + k] = biases[slot];
        }
    }
}

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
        for (int l = 0; l < ladders; ++l) {
            const word at = done * starts[ladders] + starts[l];
            put_terms(&group, law, starts[l + 1] - starts[l], starts[ladders], bundles - done, sums + l * QUERIES,
                      noise + at, bias + at);
        }
    }
    restore_subnormals(mode);
}
