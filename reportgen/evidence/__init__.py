"""What was measured, as it is kept: samples, provenance, bundles."""
