"""Every constant of our ranking, each with the measurement that chose it. Numbers only.

Figures in brackets are differences of NDCG@10 over files, 328 queries on 17 public repositories, where the constant
is switched off or given another value (0.900 with all of them, 0.665 in the plain fusion). Cross-validated, with
constants drawn at random from wide ranges, chosen on four fifths of the repositories and measured on the others, it
is 0.872 to 0.894 (over the ten chunks shown 0.872 to 0.892) by how they are drawn and chosen; the mean of 300 draws
is 0.886, the worst 0.869: no constant matters by itself. The four text collections were watched for losses. `python
-m tests.benchmarks.ablation` shows what each signal gives now.
"""

# Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009), weighted: weight / (RRF_RANK + rank), ranks from 1.
RRF_RANK = 60
FUSED_STREAMS = {"bm25": 0.6, "tfidf": 0.4}


# A chunk's own score: the code-aware stream (0: -0.060), and the plain English one beside it (0: -0.001).
CODE = 1.0
ENGLISH = 0.3
# The chunk that defines a symbol of the query (0: -0.008, 0.6: -0.001).
DEFINITION = 0.8
# A name that only differs in case or underscores from what was asked counts a little less.
OTHER_SPELLING = 0.8
# A definition of that name in another scope than the one asked for.
OTHER_SCOPE = 0.5
# Source chunks: BM25 thinks too well of three-line accessors; share added for each factor e of lines (0: -0.002).
LONGER_CHUNK = 0.05

# Coherence, of source files: a file's score is that of its best chunk and a decaying share of the next ones (one chunk
# alone: -0.001, and -0.003 over the chunks shown). In prose it lifted whatever is long (cranfield -0.004).
COHERENCE_DECAY = 0.5
COHERENCE_CHUNKS = 8
# What the second, third ... result of one source file keeps of its score, so that the list shows files side by side;
# over the chunks shown 1 loses 0.026 and 0.6 loses 0.004, 0.2 gains 0.001.
REPEAT = 0.4

# Names, as shares added to a file's score: how much of the file's stem the query says (0: -0.018) ...
FILE_STEM = 0.3
# ... a stem that is one of the query's identifiers (0: -0.003) ...
FILE_IS_NAME = 0.5
# ... how much of the query the directories say (0: -0.003) ...
DIRECTORY_WORDS = 0.6
# ... and a path that the query spells out (no query of the benchmark does).
PATH_ASKED = 2.0
# Words of which one begins with the other, of at least this length ("config" and "configuration"; 0: -0.005).
PREFIX_LENGTH = 4
PREFIX_MATCH = 0.9

# A chunk that holds a quoted phrase; how many of the best chunks are read for it.
PHRASE = 1.0
PHRASE_CHUNKS = 100

# Shares that files of a role keep, since they are seldom what is asked for (tests at 1: -0.005; at 0.5: +-0,
# but in large trees the tests of a thing then crowd it out).
KEEP_ROLE = {
    "test": 0.3,
    "example": 0.7,
    "vendored": 0.7,
    "generated": 0.5,
    "reexport": 0.9,
    "private": 0.8,  # where a public file says the same
}
# An older version directory beside a newer one (v3 beside v4; 1: -0.004).
KEEP_OLD_VERSION = 0.6
# Central files lie high and have short names: what a source tree's file keeps for each directory below the shallowest
# file found (1: -0.004), up to DEPTH_MOST, and for each word of its name after the first (1: -0.006).
KEEP_DEEPER = 0.85
DEPTH_MOST = 4
KEEP_LONGER_NAME = 0.85
NAME_WORDS_MOST = 4
# Prose and data among source code, where most of the candidates are source code (1: -0.001, and
# -0.005 before files had names and depth).
KEEP_BESIDE_CODE = 0.6

# Feedback from prose: the best chunks, how many of their terms with the largest shares are looked up for their rarity,
# the terms that have most of both, and the weight of the first one against a word of the query. NDCG@10 on cranfield,
# cisi and npl: .5445 .4058 .4505; 15 terms .5416 .3999 .4460 (at weight 0.3), 100 looked up .5453 .4024 .4498; weight
# 0.3 .5414 .4048 .4465, 0.5 .5435 .4063 .4506; by shares alone .5373 .3969 .4514.
FEEDBACK_CHUNKS = 10
FEEDBACK_LOOKED_UP = 200
FEEDBACK_TERMS = 20
FEEDBACK_TIMES = 3
FEEDBACK = 0.4
