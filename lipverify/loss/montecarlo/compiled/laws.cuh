/* The laws of the task: the values v_k of a token whose weighted averages give the bias.
 *
 * A ridge law with links h_k has error sum_i a_i v_k,i with v_k,i = h_k(z_i) - h_k(c), z_i = <q, x_i>, c = <q, x>.
 * For the affine law the average over q and over the part of x_i orthogonal to x has a closed form; the rest is
 *
 *     (sum_i a_i (1 - t_i))^2 + sum_i a_i^2 (1 - t_i^2).
 */
#ifndef LIPVERIFY_LAWS
#define LIPVERIFY_LAWS

#include "sphere.cuh"

enum { AFFINE, RELU, COSINE, QUADRATIC };
#define MOST_VALUES 2

/* The number of values v_k of a token. */
LIPVERIFY_DEVICE int values_of(int law) { return law == AFFINE || law == RELU ? 2 : 1; }

/* The stored function of z for a token and for the query: the link itself if there is one link, z for the two of ReLU. */
LIPVERIFY_DEVICE double observed(int law, double L, double z)
{
    double cosine, unused;
    if (law == QUADRATIC)
        return z * z;
    if (law != COSINE)
        return z;
    turn(L * z * 0.15915494309189535, &cosine, &unused); /* L z / (2 pi) */
    return cosine;
}

LIPVERIFY_DEVICE double positive_part(double z) { return z > 0.0 ? z : 0.0; }

/* The values of a token; y = observed(z_i) and y0 = observed(c). For ReLU (z)_+ - (-z)_+ = z gives the second from the first. */
LIPVERIFY_DEVICE void token_values(int law, double t, double y, double y0, double v[MOST_VALUES])
{
    if (law == AFFINE) {
        v[0] = 1.0 - t;
        v[1] = v[0] * (1.0 + t);
    } else if (law == RELU) {
        v[0] = positive_part(y) - positive_part(y0);
        v[1] = v[0] - (y - y0);
    } else {
        v[0] = y - y0;
        v[1] = 0.0;
    }
}

#endif
