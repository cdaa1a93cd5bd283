"""The exercises of the chapters: questions, checks, hints, solutions, and how far a student is.

In a notebook::

    from kafkalearn.exercises import chapter01 as exercises

    exercises.hot_broker.question()     # what is asked
    exercises.hot_broker.check(answer)  # right; wrong, and which part; not attempted; or the error explained
    exercises.hot_broker.hint()         # one more hint each time
    exercises.hot_broker.solution()     # the reasoning, worked out
    exercises.score()                   # the whole chapter at a glance

`kit.exercise` holds what every exercise can do; `kit.compare`, `kit.functions` and `kit.game` are the ways to judge an
answer. Whatever a student gives is made plain data first, a function is called within bounds (`kit.given`), and what is
said keeps our words and the student's values apart (`kit.result`). Each chapter is a file that lists its exercises in
the order in which they are done; `progress` keeps how far one is, and `export` makes another grader's assignments of
them. Right answers are computed by the rules of this library, which are tested against real Kafka; none is typed in
where a rule can compute it.
"""
