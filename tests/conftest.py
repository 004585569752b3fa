"""What holds for every test: an example may take as long as a busy machine needs, since nothing here is timed."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
