"""Code-breakers that evolve codes: genetic algorithms, annealing."""
