"""Eigenpairs of symmetric maps: solvers, the plan that chooses, the certificate."""
