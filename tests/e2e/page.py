"""What tests do with the self-contained pages: read their data, run them in a browser."""
import base64
import html
import json
import re
import shutil
import subprocess
import zlib

import pytest

from conftest import TIMEOUT_S

BROWSER = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
           '--disable-background-networking', '--disable-component-update', '--disable-sync', '--enable-logging=stderr']
# Markup, script, what ends lines and strings, turns direction, is no UTF-8, is long.
HOSTILE = ['</script><script>alert(1)</script>', '<img src=x onerror=alert(1)>', '"];alert(1)//', "'&amp;\\", 'a;b c',
           'line\nend\ttab', 'rtl\u202eevil', 'x\u2028y', '\ud800'.encode('utf-8', 'surrogatepass').decode('latin-1'),
           'n' * 10_000]


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


def browse(page, tmp_path, fragment=''):
    """The page's text after it ran, and what the browser complained of."""
    chromium = shutil.which('chromium')
    if not chromium:
        pytest.skip('chromium is not installed')
    result = subprocess.run(
        [chromium, *BROWSER, f'--user-data-dir={tmp_path}/browser', '--virtual-time-budget=3000', '--dump-dom',
         f'file://{page}{fragment}'], capture_output=True, text=True, errors='replace', timeout=TIMEOUT_S, check=False)
    complaints = [line for line in result.stderr.splitlines() if 'CONSOLE' in line]
    return html.unescape(result.stdout), complaints
