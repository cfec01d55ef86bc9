"""How large files may be: the limits of all readers, which `docs/reference/limits.md` lists with their memory.

Text becomes Python objects of up to some fifty bytes for each cell of two letters, so limits on bytes alone promise
nothing: cells, lines and values are counted as well, before anything is built of them.
"""

from __future__ import annotations

from typing import Final

MEGABYTE: Final = 2**20

# Documents: YAML and JSON.
MOST_YAML_BYTES: Final = 4 * MEGABYTE  # some five seconds of parsing at the worst; 512 x 16 numbers have 0.2
MOST_JSON_BYTES: Final = 64 * MEGABYTE
MOST_JSON_VALUES: Final = 8_000_000  # by their commas
MOST_JSON_BRACKETS: Final = 1_500_000  # lists and mappings
DEEPEST: Final = 12  # levels of nesting of YAML; our formats need five
LONGEST_JSON_LINE: Final = 16 * MEGABYTE  # of files of lines, and of a job in Slurm's JSON
MOST_LINES_BYTES: Final = 2048 * MEGABYTE  # of a file of lines: a million runs of a study
TIMES_IN_LINES: Final = 8  # as many values and brackets as in one document

# Tables and series, in text and packed.
MOST_TEXT_BYTES: Final = 64 * MEGABYTE  # of a table or series in text, unpacked
LONGEST_LINE: Final = 16 * MEGABYTE  # of such a text; a million columns
MOST_ARCHIVE_BYTES: Final = 512 * MEGABYTE  # of an .npz or .parquet file, packed and unpacked
MOST_ARRAYS: Final = 1_000  # of an archive
MOST_FOOTER_BYTES: Final = 8 * MEGABYTE  # of a Parquet file; its columns take some twenty times that
MOST_PAGES: Final = 200_000  # of a Parquet file
MOST_PAGE_BYTES: Final = 128 * MEGABYTE  # of a Parquet file, unpacked

# Rows: tasks, schedules, measured runs.
MOST_ROWS_BYTES: Final = 2048 * MEGABYTE  # of a CSV that is read piece by piece
MOST_ROWS: Final = 5_000_000  # of schedules of bags and of measured runs
PIECE: Final = 4_096  # rows; more cost Python's garbage collector more than they save
PIECE_BYTES: Final = 4 * MEGABYTE  # of text in a piece, or one row

# Logs and tables of other programs.
MOST_SWF_BYTES: Final = 512 * MEGABYTE
MOST_SWF_LINES: Final = 6_000_000  # the longest log of the Parallel Workloads Archive has 5.7 million jobs
MOST_SWF_COMMENTS: Final = 10_000
MOST_SACCT_BYTES: Final = 256 * MEGABYTE
MOST_SACCT_LINES: Final = 2_000_000  # of jobs and their steps
MOST_NODES_BYTES: Final = 64 * MEGABYTE
MOST_NODES: Final = 1_000_000  # of one list of names, and of a system
LONGEST_LOG_LINE: Final = MEGABYTE
MOST_MATRIX_CELLS: Final = 4_000_000  # of a table that is imported or made of runs: absent ones take memory, too
MOST_MATRIX_ROWS: Final = 100_000  # and columns of a table that is imported
