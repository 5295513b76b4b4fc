"""Answers for tables of cases: data frames and files whose rows are cases with missing cells."""
