"""Hostile input: broken files and texts for every reader.

============  ===============================================================
``readers``   every reader, and which seeds it has
``seeds/``    small valid files, a directory for each reader
``mutators``  how a valid file is broken: by bytes, by words, by structure
``runner``    breaks files and reads them, and tells what should not have come
``growth``    large files, valid and faulty, for how time and memory grow
``findings/`` files that once came out wrong, read again in every test run
============  ===============================================================

``python -m tests.fuzz.runner bif --seconds 60`` looks for more, and writes what it
finds to ``tests/fuzz/findings``.
"""
