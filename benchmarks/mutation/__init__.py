"""Mutation testing: small faults are put into a module, and tests that run its lines must fail.

=============  =====================================================================
`mutants`      the faults that Cosmic Ray's operators can put into a module
`covering`     the tests that execute a line, from a run of the tests with coverage
`trials`       one trial: a process in which a module has one fault runs these tests
`__main__`     the command ``python -m benchmarks.mutation``
=============  =====================================================================
"""
