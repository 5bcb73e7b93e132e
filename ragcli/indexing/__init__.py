"""The writing arm: plans a run, reads what changed, writes segments and commits a generation."""
