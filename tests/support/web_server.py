"""A plain web server on this machine."""

import contextlib
import functools
import http.server
import threading


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A handler that says nothing of what it is asked for."""

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def web_server(folder):
    """The address of a web server that shows a folder's files, for as long as the context lasts."""
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
