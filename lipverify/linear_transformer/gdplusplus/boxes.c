/* All critical points of the loss of GD++ below a bound: branch and bound in interval arithmetic.

   On Gauss's nodes t_i the loss is floor + 1/2 sum_i W_i (e_i - T_i)^2, e_i = prod_l (1 + a_l tau_l(t_i)), tau_1 = t and
   tau_{l+1} = tau_l f_l^2. A fold f_l is 1 + v r tau_l or, where it is far, v + r tau_l, with |v| <= 1 and a fixed r.
   The P variables are a_1, v_1, a_2, v_2, ..., a_L. A box of them is left when it holds no critical point of a loss
   within the budget, or provably exactly one; it is halved when neither is shown.

   Every operation is widened by more than its rounding. NODES (a multiple of the vector width, filled with nodes of
   weight 0) and LAYERS are defined by the caller. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define P (2 * LAYERS - 1)
#define EACH for (int i = 0; i < NODES; i++)
#define WIDER 0x1p-51  /* four times the rounding of an operation */
#define TINY 1e-290    /* for results that underflow */
#define TURNS 6        /* contractions of a box before it is halved, while each takes a fifth of a variable */
#define NARROWED 0.9   /* Krawczyk's image is narrower than the box by so much: then the test is tried about it */

typedef struct { double lo, hi; } Interval;
typedef struct { double lo[NODES], hi[NODES]; } Nodes;
typedef struct { Nodes value, first[P], second[P][P]; } Jet;  /* second[j][k] for j <= k */
typedef struct { Interval x[P]; } Box;

static inline double least(double a, double b) { return a < b ? a : b; }
static inline double most(double a, double b) { return a > b ? a : b; }
static inline double down(double a) { return a - (fabs(a) * WIDER + TINY); }
static inline double up(double a) { return a + (fabs(a) * WIDER + TINY); }

/* ---- numbers, and one number at every node */

static const Interval ONE = {1, 1}, MINUS_ONE = {-1, -1}, TWO = {2, 2};

static inline Interval plus(Interval a, Interval b) { return (Interval){down(a.lo + b.lo), up(a.hi + b.hi)}; }

static inline Interval times(Interval a, Interval b) {
    double p = a.lo * b.lo, q = a.lo * b.hi, r = a.hi * b.lo, s = a.hi * b.hi;
    return (Interval){down(least(least(p, q), least(r, s))), up(most(most(p, q), most(r, s)))};
}

static inline Interval at_node(const Nodes *a, int i) { return (Interval){a->lo[i], a->hi[i]}; }

static void multiply(Nodes *restrict out, const Nodes *a, const Nodes *b) {
    EACH { Interval c = times(at_node(a, i), at_node(b, i)); out->lo[i] = c.lo; out->hi[i] = c.hi; }
}

static void add_product(Nodes *restrict out, const Nodes *a, const Nodes *b) {
    EACH {
        Interval c = plus(at_node(out, i), times(at_node(a, i), at_node(b, i)));
        out->lo[i] = c.lo; out->hi[i] = c.hi;
    }
}

static void scale(Nodes *restrict out, const Nodes *a, Interval w) {
    EACH { Interval c = times(at_node(a, i), w); out->lo[i] = c.lo; out->hi[i] = c.hi; }
}

static void shift(Nodes *a, Interval w) {
    EACH { Interval c = plus(at_node(a, i), w); a->lo[i] = c.lo; a->hi[i] = c.hi; }
}

static void square(Nodes *restrict out, const Nodes *a) {
    EACH {
        double l = fabs(a->lo[i]), h = fabs(a->hi[i]), small = least(l, h), large = most(l, h);
        small = (a->lo[i] <= 0) & (a->hi[i] >= 0) ? 0 : small;
        out->lo[i] = most(down(small * small), 0); out->hi[i] = up(large * large);
    }
}

/* a / b; everything where b may be 0 */
static void divide(Nodes *restrict out, const Nodes *a, const Nodes *b) {
    EACH {
        double x = down(1 / b->hi[i]), y = up(1 / b->lo[i]);
        double p = a->lo[i] * x, q = a->lo[i] * y, r = a->hi[i] * x, s = a->hi[i] * y;
        int known = ((b->lo[i] > 0) | (b->hi[i] < 0)) & (p == p) & (q == q) & (r == r) & (s == s);
        out->lo[i] = known ? down(least(least(p, q), least(r, s))) : -INFINITY;
        out->hi[i] = known ? up(most(most(p, q), most(r, s))) : INFINITY;
    }
}

static Interval sum(const Nodes *a) {
    double lo = 0, hi = 0, size = 0;
    EACH { lo += a->lo[i]; hi += a->hi[i]; size += most(fabs(a->lo[i]), fabs(a->hi[i])); }
    size = size * (NODES * WIDER) + TINY;
    return (Interval){lo - size, hi + size};
}

static void intersect(Nodes *a, const Nodes *b) {
    EACH { a->lo[i] = most(a->lo[i], b->lo[i]); a->hi[i] = least(a->hi[i], b->hi[i]); }
}

/* ---- the problem */

static Nodes t, W, T;
static Interval ratio[LAYERS];
static int far_fold[LAYERS];
static double budget;

void set_problem(const double *rule, const double *r, const int *far, double largest_excess) {
    Nodes *parts[3] = {&t, &W, &T};
    for (int part = 0; part < 3; part++) EACH {
        parts[part]->lo[i] = rule[2 * part * NODES + i]; parts[part]->hi[i] = rule[(2 * part + 1) * NODES + i];
    }
    for (int l = 0; l + 1 < LAYERS; l++) { ratio[l] = (Interval){r[l], r[l]}; far_fold[l] = far[l]; }
    budget = largest_excess;
}

/* ---- the residuals: what each node leaves of a box */

/* Cut a variable to what every node leaves of it; 0 if nothing is left. */
static int cut(Interval *x, const Nodes *left) {
    EACH { if (left->lo[i] > x->lo) x->lo = left->lo[i]; if (left->hi[i] < x->hi) x->hi = left->hi[i]; }
    return !(x->lo > x->hi);
}

/* 0 if no point of the box has an excess within the budget; otherwise the box without points that a node excludes. */
static int contracted(Interval *x) {
    Nodes factor[LAYERS], tau[LAYERS], fold[LAYERS], e, others, left, q, z;
    double spent[NODES], total = 0;
    tau[0] = t;
    for (int l = 0; l < LAYERS; l++) {
        scale(&factor[l], &tau[l], x[2 * l]); shift(&factor[l], ONE);
        if (l) { multiply(&q, &e, &factor[l]); e = q; } else e = factor[0];
        if (l + 1 == LAYERS) break;
        scale(&z, &tau[l], ratio[l]);
        if (far_fold[l]) { fold[l] = z; shift(&fold[l], x[2 * l + 1]); }
        else { scale(&fold[l], &z, x[2 * l + 1]); shift(&fold[l], ONE); }
        square(&z, &fold[l]); multiply(&tau[l + 1], &tau[l], &z);
    }
    EACH {
        double above = down(e.lo[i] - T.hi[i]), below = down(T.lo[i] - e.hi[i]), away = most(most(above, below), 0);
        spent[i] = most(down(down(down(W.lo[i] * away) * away) * 0.5), 0);
        total = down(total + spent[i]);
    }
    if (total > budget) return 0;
    EACH if (W.lo[i] > 0) { /* a residual may spend what the others leave */
        double spare = up(up(budget - total) + spent[i]), reach = up(sqrt(up(up(2 * spare) / W.lo[i])));
        e.lo[i] = most(e.lo[i], down(T.lo[i] - reach)); e.hi[i] = least(e.hi[i], up(T.hi[i] + reach));
        if (e.lo[i] > e.hi[i]) return 0;
    }
    for (int l = 0; l < LAYERS; l++) {
        int first = l == 0;
        others = factor[first];
        for (int k = first + 1; k < LAYERS; k++) if (k != l) { multiply(&q, &others, &factor[k]); others = q; }
        divide(&q, &e, &others); shift(&q, MINUS_ONE); /* a_l tau_l */
        divide(&left, &q, &tau[l]);
        if (!cut(&x[2 * l], &left)) return 0;
        if (l == 0 || !((x[2 * l].lo > 0) | (x[2 * l].hi < 0))) continue;
        Nodes a, f;
        EACH { a.lo[i] = x[2 * l].lo; a.hi[i] = x[2 * l].hi; }
        divide(&left, &q, &a); divide(&q, &left, &tau[l - 1]); /* the square of the fold before this layer */
        EACH {
            if (q.hi[i] < 0) return 0;
            double small = q.lo[i] > 0 ? most(down(sqrt(q.lo[i])), 0) : 0, large = up(sqrt(q.hi[i]));
            int positive = fold[l - 1].hi[i] >= small, negative = fold[l - 1].lo[i] <= -small;
            if (!positive && !negative) return 0;
            f.hi[i] = positive ? large : -small; f.lo[i] = negative ? -large : small;
        }
        scale(&z, &tau[l - 1], ratio[l - 1]);
        if (far_fold[l - 1]) EACH { left.lo[i] = down(f.lo[i] - z.hi[i]); left.hi[i] = up(f.hi[i] - z.lo[i]); }
        else { shift(&f, MINUS_ONE); divide(&left, &f, &z); }
        if (!cut(&x[2 * l - 1], &left)) return 0;
    }
    return 1;
}

/* ---- the equations: jets of e in the first `count` variables */

static void j_multiply(Jet *restrict out, const Jet *a, const Jet *b, int count) {
    multiply(&out->value, &a->value, &b->value);
    for (int k = 0; k < count; k++) {
        multiply(&out->first[k], &a->first[k], &b->value); add_product(&out->first[k], &a->value, &b->first[k]);
        for (int j = 0; j <= k; j++) {
            Nodes *h = &out->second[j][k];
            multiply(h, &a->second[j][k], &b->value); add_product(h, &a->value, &b->second[j][k]);
            add_product(h, &a->first[j], &b->first[k]); add_product(h, &a->first[k], &b->first[j]);
        }
    }
}

static void j_square(Jet *restrict out, const Jet *a, int count) {
    Nodes z;
    square(&out->value, &a->value);
    for (int k = 0; k < count; k++) {
        multiply(&z, &a->value, &a->first[k]); scale(&out->first[k], &z, TWO);
        for (int j = 0; j <= k; j++) {
            if (j == k) square(&z, &a->first[k]); else multiply(&z, &a->first[j], &a->first[k]);
            add_product(&z, &a->value, &a->second[j][k]); scale(&out->second[j][k], &z, TWO);
        }
    }
}

/* 1 + w s a, or w + s a, where w is variable `count` and a has derivatives in those before it. */
static void j_affine(Jet *restrict out, const Jet *a, Interval s, Interval w, int count, int far) {
    Interval all = far ? s : times(s, w);
    scale(&out->value, &a->value, all); shift(&out->value, far ? w : ONE);
    for (int k = 0; k < count; k++) {
        scale(&out->first[k], &a->first[k], all);
        for (int j = 0; j <= k; j++) scale(&out->second[j][k], &a->second[j][k], all);
        if (far) memset(&out->second[k][count], 0, sizeof(Nodes)); else scale(&out->second[k][count], &a->first[k], s);
    }
    if (far) EACH { out->first[count].lo[i] = out->first[count].hi[i] = 1; } else scale(&out->first[count], &a->value, s);
    memset(&out->second[count][count], 0, sizeof(Nodes));
}

static void no_derivative(Jet *a, int k) {
    memset(&a->first[k], 0, sizeof(Nodes));
    for (int j = 0; j <= k; j++) memset(&a->second[j][k], 0, sizeof(Nodes));
}

static Jet e_point, e_box, e_new, tau_jet, tau_new, factor_jet, square_jet;

static void jets(const Interval *x, Jet *e) {
    tau_jet.value = t;
    for (int k = 0; k < P; k++) {
        j_affine(&factor_jet, &tau_jet, k % 2 ? ratio[k / 2] : ONE, x[k], k, k % 2 && far_fold[k / 2]);
        if (k == 0) { *e = factor_jet; no_derivative(&tau_jet, 0); continue; }
        Jet *product = k % 2 ? &tau_jet : e;
        no_derivative(&tau_jet, k); no_derivative(e, k);
        if (k % 2) { j_square(&square_jet, &factor_jet, k + 1); j_multiply(&tau_new, product, &square_jet, k + 1); tau_jet = tau_new; }
        else { j_multiply(&e_new, product, &factor_jet, k + 1); *e = e_new; }
    }
}

/* Cut e and its first derivatives to their expansions about the midpoint m; d is the box less m. */
static void tighten(Jet *e, const Jet *m, const Interval *d) {
    Nodes z, part;
    for (int j = -1; j < P; j++) { /* the value once more at the end, by tighter derivatives */
        z = j < 0 ? m->value : m->first[j];
        for (int k = 0; k < P; k++) {
            scale(&part, j < 0 ? &e->first[k] : j < k ? &e->second[j][k] : &e->second[k][j], d[k]);
            EACH { z.lo[i] = down(z.lo[i] + part.lo[i]); z.hi[i] = up(z.hi[i] + part.hi[i]); }
        }
        intersect(j < 0 ? &e->value : &e->first[j], &z);
    }
}

static void weighted_residuals(const Jet *e, Nodes *out) {
    Nodes r;
    EACH { r.lo[i] = down(e->value.lo[i] - T.hi[i]); r.hi[i] = up(e->value.hi[i] - T.lo[i]); }
    multiply(out, &W, &r);
}

static Interval mean(const Nodes *a, const Nodes *b) { Nodes z; multiply(&z, a, b); return sum(&z); }

static void gradient(const Jet *e, Interval *G) {
    Nodes r;
    weighted_residuals(e, &r);
    for (int k = 0; k < P; k++) G[k] = mean(&r, &e->first[k]);
}

static void hessian(const Jet *e, Interval H[P][P]) {
    Nodes r, z, y;
    weighted_residuals(e, &r);
    for (int k = 0; k < P; k++) for (int j = 0; j <= k; j++) {
        if (j == k) square(&z, &e->first[k]); else multiply(&z, &e->first[j], &e->first[k]);
        multiply(&y, &W, &z); add_product(&y, &r, &e->second[j][k]);
        H[j][k] = H[k][j] = sum(&y);
    }
}

/* True if Cauchy and Schwarz exclude the box: with any r, 2 excess >= (sum W r (e - T))^2 / sum W r^2. Here r are the
   residuals at the midpoint, and e is expanded about it to second order. */
static int too_costly(const Jet *m, const Jet *box, const Interval *d) {
    Nodes r, w, z;
    EACH { r.lo[i] = r.hi[i] = 0.5 * (m->value.lo[i] + m->value.hi[i]) - T.lo[i]; }
    multiply(&w, &W, &r);
    EACH { z.lo[i] = down(m->value.lo[i] - T.hi[i]); z.hi[i] = up(m->value.hi[i] - T.lo[i]); }
    Interval total = mean(&w, &z), norm = mean(&w, &r);
    for (int k = 0; k < P; k++) {
        Interval slope = mean(&w, &m->first[k]);
        for (int j = 0; j <= k; j++) {
            double half = j < k ? 1 : 0.5;
            slope = plus(slope, times(mean(&w, &box->second[j][k]), times(d[j], (Interval){half, half})));
        }
        total = plus(total, times(slope, d[k]));
    }
    return total.lo > 0 && down(total.lo * total.lo) > up(up(2 * budget) * norm.hi);
}

/* The inverse of A, roughly; 0 if elimination breaks down. */
static int inverted(double A[P][P], double Y[P][P]) {
    double M[P][2 * P];
    for (int j = 0; j < P; j++) for (int k = 0; k < P; k++) { M[j][k] = A[j][k]; M[j][P + k] = j == k; }
    for (int k = 0; k < P; k++) {
        int pivot = k;
        for (int j = k + 1; j < P; j++) if (fabs(M[j][k]) > fabs(M[pivot][k])) pivot = j;
        if (!(fabs(M[pivot][k]) > TINY)) return 0;
        for (int j = 0; j < 2 * P; j++) { double kept = M[k][j]; M[k][j] = M[pivot][j]; M[pivot][j] = kept; }
        for (int j = 0; j < P; j++) if (j != k) {
            double share = M[j][k] / M[k][k];
            for (int i = k; i < 2 * P; i++) M[j][i] -= share * M[k][i];
        }
    }
    for (int j = 0; j < P; j++) for (int k = 0; k < P; k++) {
        Y[j][k] = M[j][P + k] / M[j][j];
        if (!isfinite(Y[j][k])) return 0;
    }
    return 1;
}

enum Outcome { NONE, UNDECIDED, ONE_POINT, PERHAPS };
static Interval about[P];

/* NONE: no critical point within the budget in the box. ONE_POINT: exactly one critical point in it. Otherwise the box is
   cut to where they may be, and `share` says how much each variable widens Krawczyk's image; after PERHAPS `about` is a
   box that contains the image, of the first box's widths. */
static enum Outcome krawczyk(Interval *x, double *share) {
    Interval G[P], H[P][P], m[P], d[P], y[P], image[P];
    double A[P][P], Y[P][P], size[P];
    for (int k = 0; k < P; k++) {
        double middle = 0.5 * (x[k].lo + x[k].hi);
        m[k] = (Interval){middle, middle}; d[k] = (Interval){down(x[k].lo - middle), up(x[k].hi - middle)};
    }
    jets(m, &e_point); jets(x, &e_box); tighten(&e_box, &e_point, d);
    if (too_costly(&e_point, &e_box, d)) return NONE;
    gradient(&e_box, G);
    for (int k = 0; k < P; k++) if (G[k].lo > 0 || G[k].hi < 0) return NONE;
    gradient(&e_point, G); hessian(&e_box, H);
    memcpy(y, x, sizeof y);
    for (int j = 0; j < P; j++) { /* each equation solved for its own variable */
        Interval rest = G[j];
        for (int k = 0; k < P; k++) if (k != j)
            rest = plus(rest, times(H[j][k], (Interval){down(y[k].lo - m[k].lo), up(y[k].hi - m[k].lo)}));
        if (H[j][j].lo > 0) {
            Interval q = times((Interval){-rest.hi, -rest.lo}, (Interval){down(1 / H[j][j].hi), up(1 / H[j][j].lo)});
            q = plus(q, m[j]);
            y[j] = (Interval){most(y[j].lo, q.lo), least(y[j].hi, q.hi)};
            if (y[j].lo > y[j].hi) return NONE;
        } else {
            rest = plus(rest, times(H[j][j], d[j]));
            if (rest.lo > 0 || rest.hi < 0) return NONE;
        }
    }
    for (int k = 0; k < P; k++) { size[k] = sqrt(fabs(0.5 * (H[k][k].lo + H[k][k].hi))); size[k] = size[k] > 0 ? 1 / size[k] : 1; }
    for (int j = 0; j < P; j++) for (int k = 0; k < P; k++) A[j][k] = 0.5 * (H[j][k].lo + H[j][k].hi) * size[j] * size[k];
    for (int k = 0; k < P; k++) share[k] = x[k].hi - x[k].lo;
    if (!inverted(A, Y)) { memcpy(x, y, sizeof y); return UNDECIDED; }
    memset(share, 0, P * sizeof *share);
    int inside = 1, narrower = 1;
    for (int j = 0; j < P; j++) {
        Interval v = m[j], row[P];
        for (int k = 0; k < P; k++) {
            double weight = -Y[j][k] * size[j] * size[k];
            row[k] = (Interval){weight, weight};
            v = plus(v, times(row[k], G[k]));
        }
        for (int k = 0; k < P; k++) {
            Interval entry = {j == k, j == k};
            for (int l = 0; l < P; l++) entry = plus(entry, times(row[l], H[l][k]));
            entry = times(entry, d[k]); v = plus(v, entry);
            share[k] += most(fabs(entry.lo), fabs(entry.hi)) / (x[j].hi - x[j].lo + TINY);
        }
        double middle = 0.5 * (v.lo + v.hi), radius = 0.5 * (x[j].hi - x[j].lo);
        about[j] = (Interval){down(middle - radius), up(middle + radius)};
        inside &= v.lo > x[j].lo && v.hi < x[j].hi;
        narrower &= v.hi - v.lo < NARROWED * (x[j].hi - x[j].lo);
        image[j] = (Interval){most(x[j].lo, v.lo), least(x[j].hi, v.hi)};
        if (image[j].lo > image[j].hi) return NONE;
    }
    for (int j = 0; j < P; j++) {
        x[j] = inside ? image[j] : (Interval){most(image[j].lo, y[j].lo), least(image[j].hi, y[j].hi)};
        if (x[j].lo > x[j].hi) return NONE;
    }
    return inside ? ONE_POINT : narrower ? PERHAPS : UNDECIDED;
}

/* Roughly how far each variable moves the residuals over the box; the largest. */
static double moved(const Interval *x, double *share) {
    double largest = 0;
    for (int k = 0; k < P; k++) {
        double e[2][NODES], total = 0;
        for (int side = 0; side < 2; side++) EACH {
            double tau = t.lo[i], product = 1;
            for (int j = 0; j < P; j++) {
                double w = j == k ? (side ? x[j].hi : x[j].lo) : 0.5 * (x[j].lo + x[j].hi);
                double z = tau * (j % 2 ? ratio[j / 2].lo : 1), f = j % 2 && far_fold[j / 2] ? w + z : 1 + w * z;
                if (j % 2) tau *= f * f; else product *= f;
            }
            e[side][i] = product;
        }
        EACH total += W.lo[i] * (e[1][i] - e[0][i]) * (e[1][i] - e[0][i]);
        share[k] = sqrt(total); largest = most(largest, share[k]);
    }
    return largest;
}

/* ---- the search: depth first */

static Box *waiting;
static long count, room;

static int later(const Box *box) {
    if (count == room) {
        Box *more = realloc(waiting, (room = room ? 2 * room : 4096) * sizeof(Box));
        if (!more) return 0;
        waiting = more;
    }
    waiting[count++] = *box;
    return 1;
}

int begin(const double *low, const double *high) {
    Box box;
    for (int k = 0; k < P; k++) box.x[k] = (Interval){low[k], high[k]};
    count = 0;
    return later(&box);
}

/* Take up to `boxes` boxes. Boxes with exactly one critical point go to `found`, (capacity, P, 2). `counts` are boxes
   taken, boxes found, and boxes given up because they cannot be halved. The number that wait is returned, -1 if there
   is no room for them. */
long search(long boxes, double gate, double *found, long capacity, long *counts) {
    double share[P], other[P];
    while (count && boxes-- > 0 && counts[1] < capacity) {
        Box box = waiting[--count], half;
        int alive = 1;
        counts[0]++;
        for (int turn = 0; turn < TURNS && alive; turn++) {
            Box before = box;
            double gain = 1;
            alive = contracted(box.x);
            for (int k = 0; k < P; k++)
                gain = least(gain, (box.x[k].hi - box.x[k].lo) / (before.x[k].hi - before.x[k].lo + TINY));
            if (gain > 0.8) break;
        }
        if (!alive) continue;
        if (moved(box.x, share) < gate) {
            enum Outcome outcome = krawczyk(box.x, share);
            if (outcome == PERHAPS) {
                Box near;
                memcpy(near.x, about, sizeof about);
                if (krawczyk(near.x, other) == ONE_POINT) { box = near; outcome = ONE_POINT; }
            }
            if (outcome == NONE) continue;
            if (outcome == ONE_POINT) {
                memcpy(found + 2 * P * counts[1]++, box.x, sizeof box.x);
                continue;
            }
        }
        int k = 0;
        for (int j = 1; j < P; j++) if (share[j] > share[k]) k = j;
        double middle = 0.5 * (box.x[k].lo + box.x[k].hi);
        if (!(middle > box.x[k].lo && middle < box.x[k].hi)) { counts[2]++; continue; }
        half = box; box.x[k].hi = middle; half.x[k].lo = middle;
        if (!later(&box) || !later(&half)) return -1;
    }
    return count;
}
