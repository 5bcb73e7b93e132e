"""How well a session's searches answer judged queries: reading judgements, measures, comparisons."""
