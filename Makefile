# Thin calls of tools/dev.py, so that a machine without make can do the same.
# Arguments for the program behind a target: make test ARGS="-k pca"

PYTHON ?= python3
DEV = $(PYTHON) tools/dev.py

.PHONY: help demo test test-full bench lint clean

help:
	@$(DEV) --help

demo test test-full bench lint clean:
	@$(DEV) $@ $(if $(ARGS),-- $(ARGS))
