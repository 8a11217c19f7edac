"""The theorems, one file for each, readable beside its source; `contents.toml` gives their order.

`tests/` asks whether the code is right, `checks/` asks whether the theorem is right. `softmax/` and
`linear_transformers/` are the two papers. A theorem's file has its statement in words, what its source prints, and the
claims, as data; what several measure or draw is in `quantities.py` and `figures.py` beside them. Each runs by itself:
`python checks/softmax/window.py`.
"""
