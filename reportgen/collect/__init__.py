"""Run a suite under a backend and leave raw files."""
