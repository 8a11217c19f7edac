r"""The loss at M = c BB^T + c' (I - BB^T) for f(x) = a^T B^T x, by quadrature whose cost does not depend on n.

Notation: B has k orthonormal columns in R^d, a is uniform on S^{k-1}, z = B^T x for the query and z_i = B^T x_i for a
token, e = z / |z|, and the score of token i is x_i^T M x.

1. *The task averages out.* E_a (a^T y)^2 = |y|^2 / k, so

       B = (L^2 / k) E |sum_i a_i z_i - z|^2,        N = sigma^2 E sum_i a_i^2.

2. *Only the part of z_i along e and its distance count.* Given the query, both laws of the covariates are invariant
   under the rotations of col(B) that fix e, and so is the score. Hence E[z_i - z | score] is a multiple of e, and with

       gap(score) = E[<e, z - z_i> | score],        square(score) = E[|z - z_i|^2 | score]

   the tokens, which are independent given the query, contribute

       E |sum_i a_i z_i - z|^2 = E sum_i a_i^2 square_i + E sum_{i != j} a_i a_j gap_i gap_j.

3. *Product of spheres*, x = c_u B u + c_v B' v, where the columns of B' span the orthogonal complement of those of B.
   The score is c c_u^2 t + c' c_v^2 t' with independent coordinates t = <u_i, u> on S^{k-1} and t' = <v_i, v> on
   S^{d-k-1}; gap = c_u (1 - t) and square = 2 c_u^2 (1 - t). No average over queries is left. S^0 is the two points -1
   and 1.

4. *Uniform on S^{d-1}.* With s = |z|^2 ~ Beta(k/2, (d-k)/2) for the query, M x has the length
   omega = (c^2 s + c'^2 (1 - s))^{1/2} and the share cos = c s^{1/2} / omega along e, and the score is omega t with t
   the coordinate of x_i along M x. Given t, the part of x_i orthogonal to M x is uniform on its sphere, so that
   E[<e, z_i> | t] = t cos and the remaining variance of z_i is (1 - t^2)(k - cos^2) / (d - 1):

       gap = s^{1/2} - t cos,        square = gap^2 + (1 - t^2) (k - cos^2) / (d - 1).

   The loss needs one scalar per token and one for the query. (For M = w I this is the isotropic loss, whatever s.)

5. *n is an exponent.* 1/S^2 = int_0^infty lambda e^{-lambda S} dlambda turns both sums into integrals over lambda of
   averages over a single token, see `laplace`. Nothing changes at sigma = 0, or at n = 2, where phi^{n-2} = 1 and the
   tests compare with the weights written out, a_1 = 1/2 + h and a_2 = 1/2 - h with h = tanh((score_1 - score_2)/2)/2.

6. *Sign.* Both terms are even in c': reverse v for the product, and only c'^2 enters on the sphere. So c' = 0 is always
   stationary, and whether it is a minimum shows in the slope along c'^2.

As n -> infinity at fixed (c, c') both sums become ratios of averages over one token, N -> 0 and

       B -> (L^2 / k) E s (1 - c A(omega) / omega)^2        on the sphere, A(omega) = I_{d/2}(omega) / I_{d/2-1}(omega),
       B -> (L^2 c_u^2 / k) (1 - A_k(c c_u^2))^2            on the product, whatever c'.
"""

from lipverify.loss.block.terms import BlockTerms, block_terms

__all__ = ["BlockTerms", "block_terms"]
