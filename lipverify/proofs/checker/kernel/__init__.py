r"""What all theorems share: the form of a proof, and attention as balls of Arb.

A proof is a chain of lemmas, each a function. Its docstring is the statement, the range of w and n, and the reason;
its body certifies the rest by balls: constants of the file that must be at least, or at most, a ball, and conditions
that must hold. Read `form` first. Of the others read those that the theorem that you doubt imports:

form         a proof, its numbers as balls, what of it does not follow, and the facts of a sentence
registry     the kinds of proof by the names of their theorems
tokens       attention over many tokens, whatever the law: averages, the noise (lemmas 1.1 to 1.5)
harmonics    the bias of smooth laws (2.1, 2.2)
kink         the bias of two lines that meet at 0 (3.1, 3.2)
contexts     attention over n tokens at one w: averages by a Gauss rule and the trapezoidal rule
curves       functions on whole intervals of w, by polynomials through balls
polynomials  inequalities on whole rays

A file states the words of its lemmas, so a docstring of a lemma is part of the format. Backquoted names in it are
those of lemmas, of constants or of modules; `docs/lemmas.md` displays all lemmas with their numbers.
"""
