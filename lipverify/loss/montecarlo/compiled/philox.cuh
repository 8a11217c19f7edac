/* Philox4x64-10: four random words are a function of a key and a counter alone.
 *
 * Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3",
 * SC 2011. The words are those of numpy.random.Philox, which increments its counter before it draws:
 * block b = 0, 1, ... of a stream is the function at counter b + 1.
 */
#ifndef LIPVERIFY_PHILOX
#define LIPVERIFY_PHILOX

#include "portable.cuh"

typedef struct {
    word x[4];
} Block;

/* a + b modulo 2^128. */
LIPVERIFY_DEVICE Wide plus(Wide a, word b)
{
    Wide sum;
    sum.low = a.low + b;
    sum.high = a.high + (sum.low < b);
    return sum;
}

/* Block `place` of the stream of `key`. */
LIPVERIFY_DEVICE Block philox(Wide key, Wide place)
{
    const word multiplier0 = 0xD2E7470EE14C6C93u, multiplier1 = 0xCA5A826395121157u;
    const word golden_ratio = 0x9E3779B97F4A7C15u, root_of_three = 0xBB67AE8584CAA73Bu;
    const Wide counter = plus(place, 1);
    Block b;
    b.x[0] = counter.low;
    b.x[1] = counter.high;
    b.x[2] = 0;
    b.x[3] = 0;
    LIPVERIFY_UNROLL
    for (int round = 0; round < 10; ++round) {
        const Wide product0 = product(multiplier0, b.x[0]), product1 = product(multiplier1, b.x[2]);
        b.x[0] = product1.high ^ b.x[1] ^ key.low;
        b.x[1] = product1.low;
        b.x[2] = product0.high ^ b.x[3] ^ key.high;
        b.x[3] = product0.low;
        key.low += golden_ratio;
        key.high += root_of_three;
    }
    return b;
}

/* Uniform on [0, 1) with 53 bits, computed from a word as NumPy does. */
LIPVERIFY_DEVICE double uniform(word x) { return (double)(x >> 11) * 0x1p-53; }

/* The same, shifted so that it is never zero. */
LIPVERIFY_DEVICE double positive_uniform(word x) { return uniform(x) + 0x1p-54; }

#endif
