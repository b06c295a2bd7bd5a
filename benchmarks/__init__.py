"""gramian and its peers side by side, in one run: time, extra memory, accuracy reached.

python -m benchmarks                    everything
python -m benchmarks pca products       some of it: machine pca horn isomap products solvers start
python -m benchmarks --quick            tiny sizes, to see that it works
python -m benchmarks --json out.json    the same tables for a program
"""
