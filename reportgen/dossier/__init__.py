"""The report of one bundle: a typed model, and one writer for each format."""
