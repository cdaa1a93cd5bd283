"""The exercises of the chapters: questions, checks, hints, solutions.

In a notebook::

    from kafkalearn.exercises import chapter01 as exercises

    exercises.hot_broker.question()     # what is asked
    exercises.hot_broker.check(answer)  # right; wrong, and which part; not attempted; or the error explained
    exercises.hot_broker.hint()         # one more hint each time
    exercises.hot_broker.solution()     # the reasoning, worked out
    exercises.score()                   # the whole chapter at a glance

`kit.exercise` holds what every exercise can do; `kit.values`, `kit.properties` and `kit.functions` are the three ways
to judge an answer; each chapter is a folder that lists its own exercises. Right answers are computed by the rules of
this library, which are tested against real Kafka; none is typed in where a rule can compute it.
"""
