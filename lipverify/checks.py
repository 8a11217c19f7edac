"""The theorems, as modules: `from lipverify.checks.softmax.quantities import noise`.

In a checkout they are the folder `checks/` beside the package, to which this module points. A wheel carries that folder
inside the package, where Python finds it before this file.
"""

from lipverify.foundation.shipped import shipped

__path__ = [str(shipped())]
