/* The differences between a CUDA compiler and a plain C (or C++) compiler; all other code is common. */
#ifndef LIPVERIFY_PORTABLE
#define LIPVERIFY_PORTABLE

typedef unsigned long long word;

/* A number of 128 bits: a key, or the index of a block in its stream (the upper half of the counter stays 0). */
typedef struct {
    word low, high;
} Wide;

#ifdef __CUDACC__

#define LIPVERIFY_DEVICE static __device__ __forceinline__
#define LIPVERIFY_UNROLL _Pragma("unroll")
#define LIPVERIFY_UNROLL_BY(times) LIPVERIFY_PRAGMA(unroll times)
#define LIPVERIFY_PRAGMA(text) _Pragma(#text)

#define LIPVERIFY_CONSTANT static __constant__

/* Makes the compiler compute from an int again here, in place of keeping earlier results in registers. */
#define LIPVERIFY_ANEW(x) asm volatile("" : "+r"(x))

/* All 128 bits of a product. */
LIPVERIFY_DEVICE Wide product(word a, word b)
{
    const Wide both = {a * b, __umul64hi(a, b)};
    return both;
}

/* A double as its 64 bits, and back. */
LIPVERIFY_DEVICE word bits_of(double x) { return (word)__double_as_longlong(x); }
LIPVERIFY_DEVICE double of_bits(word x) { return __longlong_as_double((long long)x); }

/* Cosine and sine of v full turns. The argument of sincospi is reduced exactly: no slow path, no local memory. */
LIPVERIFY_DEVICE void turn(double v, double *cosine, double *sine) { sincospi(2.0 * v, sine, cosine); }

#else

#include <math.h>
#include <string.h>

#define LIPVERIFY_DEVICE static inline
#define LIPVERIFY_UNROLL
#define LIPVERIFY_UNROLL_BY(times)
#define LIPVERIFY_CONSTANT static const
#define LIPVERIFY_ANEW(x)

/* All 128 bits of a product. */
LIPVERIFY_DEVICE Wide product(word a, word b)
{
#ifdef __SIZEOF_INT128__
    const unsigned __int128 whole = (unsigned __int128)a * b; /* one instruction on a 64-bit processor */
    const Wide both = {(word)whole, (word)(whole >> 64)};
#else
    /* from halves of 32 bits: no partial sum exceeds 64 bits */
    const word half = 0xffffffffu, a0 = a & half, a1 = a >> 32, b0 = b & half, b1 = b >> 32;
    const word middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & half);
    const Wide both = {a * b, a1 * b1 + (middle >> 32) + (other >> 32)};
#endif
    return both;
}

/* A double as its 64 bits, and back. */
LIPVERIFY_DEVICE word bits_of(double x)
{
    word bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

LIPVERIFY_DEVICE double of_bits(word x)
{
    double value;
    memcpy(&value, &x, sizeof value);
    return value;
}

/* Cosine and sine of v full turns. */
LIPVERIFY_DEVICE void turn(double v, double *cosine, double *sine)
{
    const double angle = 6.283185307179586 * v;
    *cosine = cos(angle);
    *sine = sin(angle);
}

#endif
#endif
