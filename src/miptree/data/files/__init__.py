"""Files of rows as people have them: CSV of any dialect, Excel, Parquet, Feather.

What a file does not say is found out, and said in one note: the encoding, the
separator, the decimal sign and where the header is. Every column is then numbers or
text. Needs pandas; Excel and Parquet need packages of their own, which are imported
when they are met.
"""

from __future__ import annotations

from miptree.data.files.identifiers import identifying_columns
from miptree.data.files.notes import TableNote
from miptree.data.files.options import FileOptions, Roles
from miptree.data.files.read import FileTable, read_file, read_table
from miptree.data.files.write import PLAIN, refuse_format, table_content, text_of

__all__ = [
    "PLAIN",
    "FileOptions",
    "FileTable",
    "Roles",
    "TableNote",
    "identifying_columns",
    "read_file",
    "read_table",
    "refuse_format",
    "table_content",
    "text_of",
]
