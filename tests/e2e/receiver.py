# SPDX-License-Identifier: Apache-2.0
"""Servers for tests that take what is sent to them, and answer as the test says."""
import http.server
import threading


class Receiver:
    """answers: (status, headers, body) of the next requests; usual: of those after them. requests: path, headers, body and
    status of each."""

    def __init__(self, *answers, usual=(200, {}, b'')):
        self.requests, self.answers = [], list(answers)
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):  # pylint: disable=invalid-name
                body = self.rfile.read(int(self.headers['Content-Length']))
                status, headers, answer = receiver.answers.pop(0) if receiver.answers else usual
                receiver.requests.append((self.path, dict(self.headers), body, status))
                self.send_response(status)
                for name, value in {'Content-Length': len(answer), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.server.server_address[1]}'
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()

    def taken(self):
        """Path, headers and body of requests that were answered by 200."""
        return [request[:3] for request in self.requests if request[3] == 200]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
