"""``python -m tools.book``: writes the book; 1 if a chapter fails or a page is not sound."""

import sys

from tools.book import BOOK, make, students_folder
from tools.chapters import chapter_paths

wrong = make(chapter_paths(), anew="--run" in sys.argv[1:])
for fault in wrong:
    print(fault, file=sys.stderr)
if not wrong:
    print(BOOK / "index.html", students_folder(BOOK) / "index.html", sep="\n")
sys.exit(1 if wrong else 0)
