"""breakpoint() in a plugin, which has no terminal of its own.

Under "noema compare --attach-debugger METHOD", breakpoint() waits until a terminal
attaches with "python -m noema.debugger SOCKET", and pdb runs there.
"""

from __future__ import annotations

import os
import pdb
import socket
import sys
import tempfile
import threading
from typing import Any


class _Pdb(pdb.Pdb):
    """Lets go of the terminal when the code goes on."""

    def do_continue(self, arg: str) -> Any:
        done = super().do_continue(arg)
        if not self.breaks:
            self.stdin.close()
            self.stdout.close()
        return done

    do_c = do_cont = do_continue


def wait(*_: Any, **__: Any) -> None:
    """Is what breakpoint() calls: waits for a terminal, and debugs the caller there."""
    frame = sys._getframe(1)
    path = os.path.join(tempfile.gettempdir(), f"pdb-{os.getpid()}-{threading.get_ident()}")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(1)
        where = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
        print(f"breakpoint at {where}: attach with: {sys.executable} -m noema.debugger {path}", file=sys.stderr, flush=True)
        connection, _ = listener.accept()
    os.unlink(path)
    debugger = _Pdb(stdin=connection.makefile("r"), stdout=connection.makefile("w"), readrc=False)
    connection.close()  # the files keep it open
    debugger.set_trace(frame)  # the last statement: what follows would be debugged


def _attach(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)

        def show() -> None:
            while data := s.recv(4096):
                sys.stdout.write(data.decode("utf-8", "replace"))
                sys.stdout.flush()
            os._exit(0)

        threading.Thread(target=show, daemon=True).start()
        for line in sys.stdin:
            s.sendall(line.encode())
        s.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m noema.debugger SOCKET, as breakpoint() prints it")
    _attach(sys.argv[1])
