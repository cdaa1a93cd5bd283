"""The command ``kafkalearn``: five questions about your own Kafka, on your own files.

``kafkalearn QUESTION --help`` says what a question takes. The frame is in `main`; the file of a question's name has
what is its own, and is imported only when the question is asked:

- ``HELP``: one line;
- ``arguments(parser)``: declares its arguments on an `argparse.ArgumentParser`;
- ``answer(options)``: the `kafkalearn.answers.answer.Answer` to what was parsed, by the function of the same name in
  `kafkalearn.answers`.

The frame adds ``--json``, prints, and turns `KafkaLearnError` and `OSError` into a sentence and exit code 2; a
question need not. ``--bootstrap`` comes from `kafkalearn.command.options`, the text of a file or of standard input
from `kafkalearn.answers.reading`.
"""

QUESTIONS = ("where", "why", "xray", "upgrade", "safe")
"""The questions, in the order in which the help has them."""
