"""A student's progress: one file, written by the exercises, handed in, and judged again for a class.

`record` is the file: an answer as JSON, a function as text that runs on its own, and where the file lies while a
student works. `report` makes the file to hand in, `grades` the table of a class; `judging` judges a file again, in a
process of its own, in which a `sandbox` runs the functions.

The file, version 1, is JSON::

    {"format": "kafkalearn progress", "version": 1, "name": "Anna",
     "exercises": {"01.same_partition": {"outcome": "right", "tries": 2, "hints": 1, "solution": false,
                                         "answer": "billing-47"}}}

`outcome` is that of the best answer so far, and `answer` that answer; `tries` counts different answers that were right
or wrong, `solution` says whether the solution was looked at before there was a right answer. Where wrong answers showed
misconceptions, ``mistakes`` has their numbers, from 1. No time is kept. A file that a page of the book has written also
has ``drafts``: what stands in its editors, by exercise; others pass it over.
"""
