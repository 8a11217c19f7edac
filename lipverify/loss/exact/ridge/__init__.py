"""The ridge route: the bias and its error from the averages of a law over its tasks.

terms          the integral over u = log(lambda), and the errors
task           the bias at one u from three averages of the law
angles, pairs  the bias where windows hold few tokens: from the law's variogram, and of ReLU
parts          the averages of each law: in closed form, or by
absolute       those of |<q, x>|
smooth         tables of a smooth link
cost           its seconds, before it begins
"""
