"""The theorems, one file for each, readable next to its source; its `HEADINGS` place it in a section of `contents.toml`.

`tests/` tests the code, `checks/` tests the theorems. `softmax/` and `linear_transformers/` are the two papers. A
theorem's file has its statement in words, the text of its source, and the claims as data. Measurements that several
theorems share are in `quantities.py` and `figures.py` of the same folder. Each file runs by itself: `python
checks/softmax/window.py`.
"""
