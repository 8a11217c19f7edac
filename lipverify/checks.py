"""The theorems, as modules.

>>> from lipverify.checks.softmax.quantities import problem
>>> problem("relu", d=5, n=100).n
100

In a checkout they are in the folder `checks/` next to the package, to which this module points. A wheel contains that
folder inside the package, where Python finds it before this file.
"""

from lipverify.foundation.shipped import shipped

__path__ = [str(shipped())]
