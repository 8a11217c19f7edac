"""The theorems, one short file for each; every file can be read beside the slides.

`tests/` asks whether the code is right, `checks/` asks whether the theorem is right. Each file has a
function `claims(profile)` and runs by itself: `python checks/window.py`.
"""
