"""What joins two sides: raw files to bundles, bundles to what a notebook shows."""
