/* Two coordinates of a uniform point on the sphere S^{d-1}, and those of tokens and tasks.
 *
 * The projection of the uniform measure on a plane has, for d > 2, a density proportional to
 * (1 - r^2)^{(d-4)/2} in the unit disc. Its angle is uniform, and
 *
 *     P(R^2 > rho) = (1 - rho)^{(d-2)/2},    so    R^2 = 1 - u^{2/(d-2)} = -expm1(2 log(u) / (d - 2))
 *
 * with u uniform (R^2 has the law Beta(1, (d-2)/2)). For d = 2 the projection is the circle itself, R = 1.
 */
#ifndef LIPVERIFY_SPHERE
#define LIPVERIFY_SPHERE

#include "philox.cuh"

/* (R cos 2 pi v, R sin 2 pi v) from the random words of u and v. */
LIPVERIFY_DEVICE void coordinates(word u, word v, int d, double *a, double *b)
{
    double cosine, sine;
    turn(uniform(v), &cosine, &sine);
    const double radius = d == 2 ? 1.0 : sqrt(-expm1(log(positive_uniform(u)) * (2.0 / (d - 2))));
    *a = radius * cosine;
    *b = radius * sine;
}

/* The direction q of a task relative to the query x: q = c x + across e, with e a unit vector orthogonal to x. */
typedef struct {
    double c, across;
} Task;

LIPVERIFY_DEVICE Task task_of(word u, word v, int d)
{
    Task task;
    double unused;
    coordinates(u, v, d, &task.c, &unused);
    task.across = sqrt((1.0 - task.c) * (1.0 + task.c));
    return task;
}

/* z_i = <q, x_i> of a token with t = <x_i, x> and s = <x_i, e>. */
LIPVERIFY_DEVICE double seen_by_task(Task task, double t, double s) { return task.c * t + task.across * s; }

#endif
