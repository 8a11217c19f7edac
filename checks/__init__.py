"""The theorems, one file for each, readable beside its source; `contents.toml` gives their order.

`tests/` asks whether the code is right, `checks/` asks whether the theorem is right. In a file: above, what is
measured, as plain functions; below, the claims, as data. Each runs by itself: `python checks/window.py`.
"""
