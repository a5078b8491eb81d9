# SPDX-License-Identifier: Apache-2.0
"""What tests do with the self-contained pages: read their data, run them in a browser."""
import base64
import html
import json
import re
import zlib

import devtools

# Markup, script, what ends lines, strings and statements, what formats mean something by, turns of direction, no UTF-8, long.
HOSTILE = ['</script><script>alert(1)</script>', '<img src=x onerror=alert(1)>', '"];alert(1)//', "'&amp;\\", 'a;b c',
           'line\nend\ttab\r', 'rtl\u202eevil', 'x\u2028y', 'cfn=(1) x', '(2)', 'fn=(9999)', 'a,"b",c', "'; drop table samples",
           '\ud800'.encode('utf-8', 'surrogatepass').decode('latin-1'), '\xff\xfe\x80', 'std::' + 'vector<' * 1600]


def raw_name(name):
    """The bytes of a hostile name: those beyond ASCII are no UTF-8, where they can be said by one byte each."""
    return name.encode('latin-1') if all(ord(c) < 256 for c in name) else name.encode('utf-8')


def page_data(text):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return json.loads(found.group(1))


def numbers(text, is_packed=False):
    """As src/view/page/page_data.h writes them."""
    value = shift = 0
    for byte in zlib.decompress(base64.b64decode(text)) if is_packed else base64.b64decode(text):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


OPEN = []  # the browser that the cases of a file share: its start takes 2 s of CPU


def browse(page, tmp_path, fragment=''):
    """The page's text after it ran, and what the browser complained of."""
    if not OPEN:
        folder = tmp_path / 'browser'
        folder.mkdir()
        OPEN.append(devtools.Browser(folder))
    browser = OPEN[0]
    browser.complaints.clear()
    browser.open(page, fragment)
    return html.unescape(browser.value('document.documentElement.outerHTML')), list(browser.complaints)


def close_browser():
    """After the last case of a file."""
    while OPEN:
        OPEN.pop().__exit__()
