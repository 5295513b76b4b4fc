"""Slicing: what does not fit is conditioned on some variables, and their states run one by one."""
