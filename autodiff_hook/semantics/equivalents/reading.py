"""Files that are open to be read, as typed programs follow them: what they hold, and a place in it."""

from __future__ import annotations

from typing import Any


class Reader:
    """What stands for a file whose text is known."""

    _newline: Any = "\n"

    def __init__(self, text: Any, name: Any, mode: str) -> None:
        self._text = text
        self._place = 0
        self.name, self.mode = name, mode
        self.closed = False

    def read(self, size: Any = -1) -> Any:
        """What is left, or so many characters of it."""
        return self._upto(len(self._text) if size is None or size < 0 else self._place + size)

    def readline(self) -> Any:
        """The next line."""
        end = self._text.find(self._newline, self._place)
        return self._upto(len(self._text) if end < 0 else end + 1)

    def _upto(self, end: int) -> Any:
        if self.closed:
            raise ValueError("I/O operation on closed file.")
        begin, self._place = self._place, min(end, len(self._text))
        return self._text[begin : self._place]

    def readlines(self) -> list[Any]:
        """The lines that are left."""
        return list(self)

    def close(self) -> None:
        """Read no more."""
        self.closed = True

    def __enter__(self) -> Reader:
        self.read(0)
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Reader:
        self.read(0)
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line


class TextReader(Reader):
    """What stands for an ``io.StringIO``."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self.closed = False


class BytesReader(TextReader):
    """What stands for an ``io.BytesIO``."""

    _newline = b"\n"
