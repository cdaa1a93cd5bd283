"""A reader that crosses a log from its beginning and builds a table, while others write and the cleaner works.

For each key the table keeps the last value the reader has seen; a tombstone takes the key out. A reader that keeps
up sees every record. A slow one sees only what the cleaner has left, which is the last value of every key, so that
its table becomes right all the same, unless a tombstone goes before the reader comes to it. Then a key stays in the
table that nothing will ever take out: a *ghost*.

>>> from kafkalearn.log import Append, Clean, NewBatch, Roll, Settings
>>> def write(key, value, at_ms):
...     return Append((NewBatch(((key, value, at_ms),)),))
>>> events = [
...     write("anna", "1", 0), Read(1, now_ms=1000), write("anna", None, 2000), Roll(),
...     Clean(now_ms=3000), write("ben", "1", 4000), Roll(), Clean(now_ms=90_000_000), Read(now_ms=90_000_001),
... ]
>>> settings = Settings("compact", min_cleanable_dirty_ratio=0.1)
>>> crossing = simulate(settings, events)[-1].state
>>> crossing.reader.table, ghosts(crossing), broken(settings, crossing)
((('anna', '1'), ('ben', '1')), ('anna',), ('the reader has no ghost',))
"""

from kafkalearn.log.reader.events import Read
from kafkalearn.log.reader.promises import PROMISES, broken, check
from kafkalearn.log.reader.simulator import simulate, step
from kafkalearn.log.reader.state import ghosts, start

__all__ = ["PROMISES", "Read", "broken", "check", "ghosts", "simulate", "start", "step"]
