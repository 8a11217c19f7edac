/* Loss and gradient of linear transformers on second moments, for LANES contexts in parallel: every scalar of the
   equations is a vector v. The equations and their names are those of collapsed.py; SIZE is d + 1.

   A layer is S = I + H(G), G' = S G S^T; the last layer needs only the last row. Losses are capped, x becomes
   x c / (c + x), or the caller takes the logarithm c log(1 + x / c), whose derivative c / (c + x) is used here
   (counting.py). Sums over contexts are taken in the order of the contexts, lane by lane. */
#include <string.h>
/* the number of contexts in a register, and the number of sums for which there are registers */
#ifdef __AVX512F__
#define LANES 8
#define ROWS 4
#define COLUMNS 6
#else
#define LANES 4
#define ROWS 2
#define COLUMNS 6
#endif
const int lanes = LANES;
#ifndef SIZE
#define SIZE 11
#endif
#define DIM (SIZE - 1)
typedef double v __attribute__((vector_size(8 * LANES)));
typedef v matrix[SIZE][SIZE];

#define INLINE static inline __attribute__((always_inline))

#define A_(i, k) (ta ? a[k][i] : a[i][k])
#define B_(k, j) (tb ? b[j][k] : b[k][j])
/* rows r, ..., r + R - 1 and columns c, ..., c + C - 1 of A B, with A^T for ta and B^T for tb, kept in registers */
INLINE void tile(v (*restrict out)[SIZE], const v (*restrict a)[SIZE], const v (*restrict b)[SIZE], int ta, int tb, int add, int r, int c,
                 const int R, const int C)
{
    v s[ROWS][COLUMNS];
#pragma GCC unroll 4
    for (int i = 0; i < R; i++)
#pragma GCC unroll 6
        for (int j = 0; j < C; j++) s[i][j] = add ? out[r + i][c + j] : (v){0};
    for (int k = 0; k < SIZE; k++) {
#pragma GCC unroll 4
        for (int i = 0; i < R; i++)
#pragma GCC unroll 6
            for (int j = 0; j < C; j++) s[i][j] += A_(r + i, k) * B_(k, c + j);
    }
#pragma GCC unroll 4
    for (int i = 0; i < R; i++)
#pragma GCC unroll 6
        for (int j = 0; j < C; j++) out[r + i][c + j] = s[i][j];
}
INLINE void strip(v (*restrict out)[SIZE], const v (*restrict a)[SIZE], const v (*restrict b)[SIZE], int ta, int tb, int add, int r, const int R)
{
    int c = 0;
    for (; c + COLUMNS <= SIZE; c += COLUMNS) tile(out, a, b, ta, tb, add, r, c, R, COLUMNS);
    if (SIZE % COLUMNS) tile(out, a, b, ta, tb, add, r, c, R, SIZE % COLUMNS);
}
INLINE void product(v (*restrict out)[SIZE], const v (*restrict a)[SIZE], const v (*restrict b)[SIZE], int ta, int tb, int add)
{
    int r = 0;
    for (; r + ROWS <= SIZE; r += ROWS) strip(out, a, b, ta, tb, add, r, ROWS);
    if (SIZE % ROWS) strip(out, a, b, ta, tb, add, r, SIZE % ROWS);
}
static __attribute__((noinline)) void ab(matrix o, const matrix a, const matrix b) { product(o, a, b, 0, 0, 0); }
static __attribute__((noinline)) void atb(matrix o, const matrix a, const matrix b) { product(o, a, b, 1, 0, 0); }
static __attribute__((noinline)) void abt(matrix o, const matrix a, const matrix b) { product(o, a, b, 0, 1, 0); }
static __attribute__((noinline)) void ab_add(matrix o, const matrix a, const matrix b) { product(o, a, b, 0, 0, 1); }
static __attribute__((noinline)) void abt_add(matrix o, const matrix a, const matrix b) { product(o, a, b, 0, 1, 1); }
/* row M, and M column */
INLINE void row_by(v *restrict out, const v *restrict row, const v (*restrict m)[SIZE])
{
    for (int j = 0; j < SIZE; j++) {
        v s = (v){0};
        for (int k = 0; k < SIZE; k++) s += row[k] * m[k][j];
        out[j] = s;
    }
}
INLINE void by_column(v *restrict out, const v (*restrict m)[SIZE], const v *restrict column)
{
    for (int i = 0; i < SIZE; i++) {
        v s = (v){0};
        for (int j = 0; j < SIZE; j++) s += m[i][j] * column[j];
        out[i] = s;
    }
}
#define MAXL 16 /* layers */
struct tape { matrix G, T, S, X; };

INLINE v bc(double x) { return x - (v){0}; }

/* kind 0: full head, weights P, Q (L, SIZE, SIZE) each; kind 1: four weights xx xy yx yy a layer.
   gram (blocks, SIZE, SIZE, LANES), target (blocks, DIM, LANES), weight (blocks, LANES) of a context in the gradient;
   loss (blocks, LANES) out; gradient: kind 0 (L, 2, SIZE, SIZE); kind 1 (L, 4); without a gradient, the same argument returns
   w (blocks, DIM, LANES). cap > 0: losses are capped there; cap < 0: the derivative of the logarithm at -cap; 0: neither. */
void collapsed(int kind, int layers, long blocks, const double *weights, const double *gram, const double *target,
               const double *weight, double cap, int want, double *loss, double *gradient)
{
    static __thread struct tape tape[MAXL] __attribute__((aligned(64)));
    static __thread matrix P[MAXL], Q[MAXL], dP[MAXL], dQ[MAXL];
    static __thread matrix gamma, dS, U, V;
    v om[MAXL][4], dom[MAXL][4];
    v R[MAXL + 1][SIZE], dR[SIZE];
    const int last = layers - 1;
    for (int l = 0; l < layers; l++) {
        if (kind == 0) {
            for (int i = 0; i < SIZE * SIZE; i++) {
                (&P[l][0][0])[i] = bc(weights[(2 * l) * SIZE * SIZE + i]);
                (&Q[l][0][0])[i] = bc(weights[(2 * l + 1) * SIZE * SIZE + i]);
            }
            memset(dP[l], 0, sizeof(matrix));
            memset(dQ[l], 0, sizeof(matrix));
        } else
            for (int k = 0; k < 4; k++) om[l][k] = bc(weights[4 * l + k]), dom[l][k] = bc(0);
    }
    for (long block = 0; block < blocks; block++) {
        memcpy(tape[0].G, gram + block * SIZE * SIZE * LANES, sizeof(matrix));
        int lost[LANES] = {0}, again;
    forward:
        again = 0;
        for (int l = 0; l < last; l++) {
            struct tape *t = &tape[l];
            if (kind == 0) {
                ab(t->T, t->G, Q[l]);
                ab(t->S, P[l], t->T);
            } else {
                for (int i = 0; i < DIM; i++) {
                    for (int j = 0; j < DIM; j++) t->S[i][j] = om[l][0] * t->G[i][j];
                    t->S[i][DIM] = om[l][1] * t->G[i][DIM];
                    t->S[DIM][i] = om[l][2] * t->G[DIM][i];
                }
                t->S[DIM][DIM] = om[l][3] * t->G[DIM][DIM];
            }
            for (int i = 0; i < SIZE; i++) t->S[i][i] += bc(1);
            if (!want && l == last - 1) break; /* of the last layer's moments only the product with one row is needed */
            ab(t->X, t->S, t->G);
            abt(tape[l + 1].G, t->X, t->S);
        }
        /* last layer: only the last row */
        v (*G)[SIZE] = tape[last].G;
        v pG[SIZE];
        for (int j = 0; j < SIZE; j++) R[layers][j] = bc(0);
        if (!want && last > 0) {
            struct tape *t = &tape[last - 1];
            v pS[SIZE], pSG[SIZE];
            if (kind == 0) row_by(pS, P[last][DIM], t->S);
            else memcpy(pS, t->S[DIM], sizeof pS);
            row_by(pSG, pS, t->G);
            by_column(pG, t->S, pSG);
        } else if (kind == 0) row_by(pG, P[last][DIM], G);
        else memcpy(pG, G[DIM], sizeof pG);
        if (kind == 0) row_by(R[last], pG, Q[last]);
        else {
            for (int j = 0; j < DIM; j++) R[last][j] = om[last][2] * pG[j];
            R[last][DIM] = om[last][3] * pG[DIM];
        }
        R[last][DIM] += bc(1);
        for (int l = last - 1; l >= 0; l--) row_by(R[l], R[l + 1], tape[l].S);
        v square = bc(0);
        const v *goal = (const v *)(target + block * DIM * LANES);
        for (int j = 0; j < DIM; j++) {
            v e = -R[0][j] - goal[j];
            square += e * e;
            dR[j] = -e;
        }
        v one = square * bc(0.5), share = *(const v *)(weight + block * LANES), out = one;
        /* the loss overflows: the context counts as the cap, and its moments are set to zero so that no NaN spreads */
        for (int k = 0; k < LANES; k++)
            if (!lost[k] && !(one[k] < 1e300)) {
                lost[k] = again = 1;
                for (int i = 0; i < SIZE * SIZE; i++) (&tape[0].G[0][0])[i][k] = 0;
            }
        if (again) goto forward;
        if (cap > 0) {
            v damp = bc(cap) / (bc(cap) + one);
            out = one * damp;
            share *= damp * damp;
        } else if (cap < 0)
            share *= bc(-cap) / (bc(-cap) + one);
        for (int k = 0; k < LANES; k++)
            if (lost[k]) out[k] = cap > 0 ? cap : 1.0 / 0.0, share[k] = 0;
        *(v *)(loss + block * LANES) = out;
        if (!want) {
            v *w = (v *)(gradient + block * DIM * LANES);
            for (int j = 0; j < DIM; j++) w[j] = -R[0][j];
            continue;
        }
        for (int j = 0; j < DIM; j++) dR[j] *= share;
        dR[DIM] = bc(0);
        /* adjoint of the readout rows, kept for each layer */
        v dRs[MAXL + 1][SIZE];
        memcpy(dRs[0], dR, sizeof dR);
        for (int l = 0; l < last; l++) by_column(dRs[l + 1], tape[l].S, dRs[l]);
        v *dh = dRs[last];
        if (kind == 0) {
            v Qdh[SIZE];
            for (int k = 0; k < SIZE; k++) {
                v s = bc(0);
                for (int j = 0; j < SIZE; j++) s += Q[last][k][j] * dh[j], dQ[last][k][j] += pG[k] * dh[j];
                Qdh[k] = s;
            }
            for (int k = 0; k < SIZE; k++) {
                v s = bc(0);
                for (int j = 0; j < SIZE; j++) {
                    s += G[k][j] * Qdh[j];
                    gamma[k][j] = bc(0.5) * (P[last][DIM][k] * Qdh[j] + P[last][DIM][j] * Qdh[k]);
                }
                dP[last][DIM][k] += s;
            }
        } else {
            memset(gamma, 0, sizeof gamma);
            for (int j = 0; j < DIM; j++) {
                dom[last][2] += G[DIM][j] * dh[j];
                gamma[DIM][j] = gamma[j][DIM] = bc(0.5) * om[last][2] * dh[j];
            }
            dom[last][3] += G[DIM][DIM] * dh[DIM];
            gamma[DIM][DIM] = om[last][3] * dh[DIM];
        }
        for (int l = last - 1; l >= 0; l--) {
            struct tape *t = &tape[l];
            ab(dS, gamma, t->X);
            for (int i = 0; i < SIZE; i++)
                for (int j = 0; j < SIZE; j++) dS[i][j] = bc(2) * dS[i][j] + R[l + 1][i] * dRs[l][j];
            if (l > 0) {
                ab(V, gamma, t->S);
                atb(gamma, t->S, V);
            }
            if (kind == 0) {
                abt_add(dP[l], dS, t->T);
                atb(U, P[l], dS);
                ab_add(dQ[l], t->G, U);
                if (l > 0) {
                    abt(V, U, Q[l]);
                    for (int i = 0; i < SIZE; i++)
                        for (int j = 0; j < SIZE; j++) gamma[i][j] += bc(0.5) * (V[i][j] + V[j][i]);
                }
            } else {
                for (int i = 0; i < DIM; i++) {
                    for (int j = 0; j < DIM; j++) {
                        dom[l][0] += t->G[i][j] * dS[i][j];
                        gamma[i][j] += bc(0.5) * om[l][0] * (dS[i][j] + dS[j][i]);
                    }
                    dom[l][1] += t->G[i][DIM] * dS[i][DIM];
                    dom[l][2] += t->G[DIM][i] * dS[DIM][i];
                    v g = bc(0.5) * (om[l][1] * dS[i][DIM] + om[l][2] * dS[DIM][i]);
                    gamma[i][DIM] += g;
                    gamma[DIM][i] += g;
                }
                dom[l][3] += t->G[DIM][DIM] * dS[DIM][DIM];
                gamma[DIM][DIM] += om[l][3] * dS[DIM][DIM];
            }
        }
    }
    if (!want) return;
    for (int l = 0; l < layers; l++) {
        if (kind == 0)
            for (int i = 0; i < SIZE * SIZE; i++) {
                double p = 0, q = 0;
                for (int k = 0; k < LANES; k++) p += (&dP[l][0][0])[i][k], q += (&dQ[l][0][0])[i][k];
                gradient[(2 * l) * SIZE * SIZE + i] = p;
                gradient[(2 * l + 1) * SIZE * SIZE + i] = q;
            }
        else
            for (int m = 0; m < 4; m++) {
                double s = 0;
                for (int k = 0; k < LANES; k++) s += dom[l][m][k];
                gradient[4 * l + m] = s;
            }
    }
}
