/* Eigenvalues and eigenvectors of many symmetric matrices by Jacobi's method, for LANES matrices in parallel: every
   scalar of the equations is a vector v.

   A rotation in the plane of the axes p and q, with the tangent t, |t| <= 1, removes the entry A_pq. A sweep does so
   once for each pair; it is repeated until what is left off the diagonal is below the rounding of the matrix's norm. */
#include <math.h>
#ifdef __AVX512F__
#define LANES 8
#else
#define LANES 4
#endif
#ifndef MOST
#define MOST 32 /* the largest d */
#endif
#define SWEEPS 40   /* six to eight suffice */
#define SMALL 1e-34 /* of the squared norm: well below the square of a rounding */
#define TINY 1e-300 /* a quotient 0/0 becomes 0 */
typedef double v __attribute__((vector_size(8 * LANES)));

static inline v root(v x)
{
    for (int k = 0; k < LANES; k++) x[k] = sqrt(x[k]);
    return x;
}
static inline v with_sign(v x, v sign)
{
    for (int k = 0; k < LANES; k++) x[k] = copysign(x[k], sign[k]);
    return x;
}
static inline void rotate(v *a, v *b, v c, v s)
{
    v x = *a, y = *b;
    *a = c * x - s * y;
    *b = s * x + c * y;
}

/* Of each of `count` symmetric matrices, (d, d) inside rows of length `stride` and `step` numbers apart, the ascending
   eigenvalues, (count, d), and the eigenvectors as columns, (count, d, d). 1 if all converged. */
int jacobi(long count, int d, int stride, long step, const double *matrices, double *values, double *vectors)
{
    static __thread v memory[2 * MOST * MOST];
    v (*A)[d] = (v (*)[d])memory, (*V)[d] = A + d; /* of A the part above the diagonal; V has a vector a row */
    for (long first = 0; first < count; first += LANES) {
        int width = count - first < LANES ? count - first : LANES, sweep = 0;
        v norm = {0};
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) {
                V[i][j] = (v){0} + (i == j);
                A[i][j] = (v){0};
                for (int k = 0; k < width; k++) A[i][j][k] = matrices[(first + k) * step + i * stride + j];
                norm += A[i][j] * A[i][j];
            }
        for (;; sweep++) {
            v off = {0};
            for (int p = 0; p < d; p++)
                for (int q = p + 1; q < d; q++) off += A[p][q] * A[p][q];
            int done = 1;
            for (int k = 0; k < LANES; k++) done &= off[k] <= SMALL * norm[k];
            if (done) break;
            if (sweep == SWEEPS) return 0;
            for (int p = 0; p < d; p++)
                for (int q = p + 1; q < d; q++) {
                    v twice = 2 * A[p][q], gap = A[q][q] - A[p][p], size = root(gap * gap + twice * twice) + TINY;
                    v t = twice / (gap + with_sign(size, gap)), c = 1 / root(1 + t * t), s = t * c;
                    A[p][p] -= t * A[p][q];
                    A[q][q] += t * A[p][q];
                    A[p][q] = (v){0};
                    for (int k = 0; k < p; k++) rotate(&A[k][p], &A[k][q], c, s);
                    for (int k = p + 1; k < q; k++) rotate(&A[p][k], &A[k][q], c, s);
                    for (int k = q + 1; k < d; k++) rotate(&A[p][k], &A[q][k], c, s);
                    for (int k = 0; k < d; k++) rotate(&V[p][k], &V[q][k], c, s);
                }
        }
        for (int k = 0; k < width; k++) {
            int order[MOST];
            for (int i = 0; i < d; i++) {
                int place = i;
                for (; place > 0 && A[order[place - 1]][order[place - 1]][k] > A[i][i][k]; place--)
                    order[place] = order[place - 1];
                order[place] = i;
            }
            double *value = values + (first + k) * d, *vector = vectors + (first + k) * d * d;
            for (int j = 0; j < d; j++) {
                value[j] = A[order[j]][order[j]][k];
                for (int i = 0; i < d; i++) vector[i * d + j] = V[order[j]][i][k];
            }
        }
    }
    return 1;
}
