"""The parts that all pages share: safety, visitors, work with limits, pages, errors, words."""
