"""What everything else stands on, and no theorem in it.

arrays       the types of arrays; between libraries and devices
validation   numbers that a user gives: whole, finite, within bounds
streams      random numbers as a function of their address
means        means with errors: bounded samples, equal batches, many samples
calls        functions at points, and what must be called before
compiling    a C source text as a loaded library
lazy         packages that import a name when it is first used
"""
