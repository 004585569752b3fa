"""One module for each foreign format, each ending in `read(path) -> Samples`."""
