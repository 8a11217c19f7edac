"""Write everything in the documents that follows from the claims and the checker: the counts of the README, the page of
lemmas, and with the ledgers of a run the table of passages and `docs/passages.md`.

`python -m tests.docs [LEDGER ...]`. If several ledgers have a claim, the last one counts.
"""

from __future__ import annotations

import sys

from lipverify.claims.ledger import passages
from tests.docs import lemmas
from tests.docs.passages import PAGE, README, TABLE, of_ledgers, page, table
from tests.docs.statements import COUNTS, counted

text = COUNTS.sub(lambda _: counted(), README.read_text(encoding="utf-8"))
if sys.argv[1:]:
    every = of_ledgers(sys.argv[1:])
    PAGE.write_text(page(every), encoding="utf-8")
    text = TABLE.sub(lambda _: table(passages(every)), text)
lemmas.PAGE.write_text(lemmas.page(), encoding="utf-8")
README.write_text(text, encoding="utf-8")
