"""The language of theorems: claims, their forms, coordinates and formulas, and the file of claims.

Claims files import from `lipverify.claims`.
"""
