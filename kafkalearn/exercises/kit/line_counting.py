"""Count the lines that code runs, and end it at a limit.

Python 3.12 and later count with `sys.monitoring`, which a debugger may use at the same time; 3.11 with `sys.settrace`.
Both count the lines of the calling thread, in the code and in all that it calls, less those of this file. A jump or a
call within one line counts as a line as well, so that ``while True: pass`` has an end. The two counts differ by a part
that depends on the version's compiler; whoever sets a bound sets it far above what is needed.

Code that is over its bound gets the exception at every line, not once: a bare ``except:`` does not save it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from threading import get_ident
from types import CodeType, FrameType
from typing import Any, TypeVar

Value = TypeVar("Value")

_MONITORING: Any = getattr(sys, "monitoring", None)  # a module; Python 3.11 has none


class TooManyLines(BaseException):
    """Raised in the code where it has run through too many lines; no ``except Exception`` of its own catches it."""


def line_counter(left: int) -> _Traced | _Monitored:
    """A counter that lets code run through so many lines, all calls of its `run` together.

    ``counter.run(function, *arguments)`` returns what the function returns, and raises `TooManyLines` where it runs
    through more than ``counter.left``. The function's own exceptions pass through.

    Examples
    --------
    >>> counter = line_counter(100)
    >>> counter.run(sorted, [3, 1])
    [1, 3]
    >>> counter.left > 90
    True
    """
    return (_Monitored if _can_monitor() else _Traced)(left)


class _Traced:
    """By `sys.settrace`: called for each call and each line of this thread."""

    def __init__(self, left: int) -> None:
        self.left = left
        self.home: FrameType | None = None

    def run(self, function: Callable[..., Value], *arguments: object) -> Value:
        before = sys.gettrace()  # a debugger, or the count of a check that this one is inside of
        self.home = sys._getframe()
        raise_now = partial(_raise_now, get_ident(), TooManyLines)
        sys.settrace(self.enter)
        try:
            return function(*arguments)
        finally:
            if self.left < 0:  # one may be on its way: no call before this one, and none is left after it
                try:  # noqa: SIM105  (`suppress` is a call)
                    raise_now()
                except TooManyLines:
                    pass
            sys.settrace(before)
            self.home = None

    def enter(self, frame: FrameType, event: str, argument: object) -> Callable | None:
        if frame.f_code.co_filename == __file__:
            return None
        if _JUMP_TO_ITSELF in frame.f_code.co_code:
            frame.f_trace_opcodes = True  # that loop comes to no new line, nor to an earlier place
        return self.inside(frame, "line", argument)

    def inside(self, frame: FrameType, event: str, argument: object) -> Callable:
        if event not in ("line", "opcode"):
            return self.inside
        self.left -= 1
        return self.inside if self.left >= 0 else self.stop(frame)

    def stop(self, frame: FrameType | None) -> Callable:
        """From here on each line raises.

        Were the exception raised here, Python would forget this function, and a handler in the code could go on for
        ever. What is called instead runs no line of Python: it would be the first to get the exception.
        """
        stopping = partial(_raise_soon, get_ident(), TooManyLines)
        while frame is not None and frame is not self.home:
            frame.f_trace = stopping
            frame = frame.f_back
        sys.settrace(stopping)
        return stopping


class _Monitored:
    """By `sys.monitoring`: called for each line, jump and call of any thread, and looks who is counting in it."""

    counting: dict[int, _Monitored] = {}  # by thread, the innermost
    tool = -1

    def __init__(self, left: int) -> None:
        self.left = left

    def run(self, function: Callable[..., Value], *arguments: object) -> Value:
        thread = get_ident()
        outer = self.counting.get(thread)
        if not self.counting:
            _claim_tool()
        self.counting[thread] = self
        try:
            return function(*arguments)
        finally:
            if outer is None:
                del self.counting[thread]
            else:
                self.counting[thread] = outer
            if not self.counting:
                _free_tool()


def _count(code: CodeType, *place: object) -> None:
    count = _Monitored.counting.get(get_ident())
    if count is not None and code.co_filename != __file__:
        count.left -= 1
        if count.left < 0:
            raise TooManyLines


def _can_monitor() -> bool:
    return _MONITORING is not None and (bool(_Monitored.counting) or _free_tools() != [])


def _free_tools() -> list[int]:
    return [tool for tool in (4, 3) if _MONITORING.get_tool(tool) is None]  # the others have uses of their own


def _claim_tool() -> None:
    events = _MONITORING.events
    _Monitored.tool = _free_tools()[0]
    _MONITORING.use_tool_id(_Monitored.tool, "kafkalearn")
    counted = (events.LINE, events.JUMP, events.PY_START, events.PY_RESUME)
    for event in counted:
        _MONITORING.register_callback(_Monitored.tool, event, _count)
    _MONITORING.set_events(_Monitored.tool, sum(counted))


def _free_tool() -> None:
    _MONITORING.set_events(_Monitored.tool, 0)
    _MONITORING.free_tool_id(_Monitored.tool)


if _MONITORING is None:
    from ctypes import PYFUNCTYPE, c_ulong, py_object, pythonapi

    _JUMP_TO_ITSELF = bytes((140, 1))  # in 3.11: JUMP_BACKWARD, by one
    _OF_PYTHON = ("PyThreadState_SetAsyncExc", pythonapi)
    # As a trace function it gets three arguments more; what it returns, None, keeps it the frame's trace function.
    _raise_soon = PYFUNCTYPE(None, c_ulong, py_object, py_object, py_object, py_object)(_OF_PYTHON)
    _raise_now = PYFUNCTYPE(None, c_ulong, py_object)(_OF_PYTHON)
