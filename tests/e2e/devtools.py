# SPDX-License-Identifier: Apache-2.0
"""A page in headless Chromium with a real mouse and keyboard: the DevTools protocol over a pipe.

    with Browser(tmp_path) as browser:
        browser.open(page)
        browser.click(20, 30)
        assert browser.value('document.title') == 'x' and browser.complaints == []
"""
import base64
import fcntl
import json
import os
import shutil
import subprocess

import pytest

BROWSER = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
           '--disable-background-networking', '--disable-component-update', '--disable-sync', '--enable-logging=stderr']
READ_END, WRITE_END = 3, 4  # where Chromium looks for its ends of the pipes
SHIFT, CTRL = 8, 2
KEYS = {'Enter': ('Enter', 13, '\r'), 'Escape': ('Escape', 27, ''), 'Backspace': ('Backspace', 8, ''),
        'Tab': ('Tab', 9, ''), 'Home': ('Home', 36, ''), 'ArrowLeft': ('ArrowLeft', 37, ''),
        'ArrowUp': ('ArrowUp', 38, ''), 'ArrowRight': ('ArrowRight', 39, ''), 'ArrowDown': ('ArrowDown', 40, '')}


class Browser:
    def __init__(self, tmp_path, width=1200, height=800):
        chromium = shutil.which('chromium')
        if not chromium:
            pytest.skip('chromium is not installed')
        (theirs_in, self.out), (self.into, theirs_out) = os.pipe(), os.pipe()
        # Moved away from where they are to go, so that neither is closed by the other's place.
        moved = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_in, theirs_out)]

        def place():
            os.dup2(moved[0], READ_END)
            os.dup2(moved[1], WRITE_END)

        self.process = subprocess.Popen(
            [chromium, *BROWSER, '--remote-debugging-pipe', '--hide-scrollbars', f'--window-size={width},{height}',
             f'--user-data-dir={tmp_path}/devtools', 'about:blank'],
            preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        for end in (theirs_in, theirs_out, *moved):
            os.close(end)
        self.room, self.number, self.events, self.complaints, self.session = b'', 0, [], [], None
        target = next(t for t in self.call('Target.getTargets')['targetInfos'] if t['type'] == 'page')
        self.session = self.call('Target.attachToTarget', targetId=target['targetId'], flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log'):
            self.call(domain + '.enable')
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.into)

    def _next(self):
        while b'\0' not in self.room:
            part = os.read(self.into, 1 << 20)
            assert part, 'the browser ended'
            self.room += part
        message, self.room = self.room.split(b'\0', 1)
        return json.loads(message)

    def _take(self, message):
        kind, values = message['method'], message['params']
        if kind == 'Runtime.exceptionThrown':
            self.complaints.append(values['exceptionDetails'].get('exception', {}).get('description', 'exception'))
        elif kind == 'Log.entryAdded' and values['entry']['level'] in ('error', 'warning'):
            self.complaints.append(values['entry']['text'])
        elif kind == 'Runtime.consoleAPICalled':
            self.complaints.append(str([a.get('value') for a in values['args']]))
        elif kind == 'Page.javascriptDialogOpening':
            self.complaints.append('dialog: ' + values['message'])
        self.events.append(kind)

    def call(self, method, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.out, json.dumps(message).encode() + b'\0')
        while True:
            answer = self._next()
            if answer.get('id') == self.number:
                assert 'error' not in answer, (method, answer['error'])
                return answer['result']
            if 'method' in answer:
                self._take(answer)

    def wait(self, event):
        while event not in self.events:
            message = self._next()
            if 'method' in message:
                self._take(message)

    def open(self, page, fragment=''):
        """Another page first: a changed fragment alone would not load it anew."""
        for address in ('about:blank', f'file://{page}{fragment}'):
            self.events.clear()
            self.call('Page.navigate', url=address)
            self.wait('Page.loadEventFired')
        self.value("new Promise(done => { const look = () => document.querySelector('[aria-busy=true]') ? "
                   "setTimeout(look, 5) : done(0); look(); })")
        self.settle()

    def value(self, expression):
        answer = self.call('Runtime.evaluate', expression=expression, returnByValue=True, awaitPromise=True)
        assert 'exceptionDetails' not in answer, (expression, answer['exceptionDetails'])
        return answer['result'].get('value')

    def settle(self):
        """Until what was asked for is drawn."""
        self.value('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))')

    def resize(self, width, height, ratio=1, is_mobile=False):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=ratio,
                  mobile=is_mobile)

    def scheme(self, name):
        """'dark' or 'light'"""
        self.call('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': name}])

    def mouse(self, kind, x, y, **more):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    def move(self, x, y):
        self.mouse('mouseMoved', x, y)
        self.settle()

    def click(self, x, y, modifiers=0):
        self.mouse('mouseMoved', x, y)
        for kind in ('mousePressed', 'mouseReleased'):
            self.mouse(kind, x, y, button='left', clickCount=1, modifiers=modifiers)
        self.settle()

    def click_on(self, selector):
        self.click(*self.middle(selector))

    def drag(self, start, end, modifiers=0):
        self.mouse('mouseMoved', *start)
        self.mouse('mousePressed', *start, button='left', buttons=1, clickCount=1, modifiers=modifiers)
        for step in range(1, 6):
            x, y = (a + (b - a) * step / 5 for a, b in zip(start, end))
            self.mouse('mouseMoved', x, y, button='left', buttons=1, modifiers=modifiers)
        self.mouse('mouseReleased', *end, button='left', clickCount=1, modifiers=modifiers)
        self.settle()

    def wheel(self, x, y, by, modifiers=0):
        self.mouse('mouseWheel', x, y, deltaX=0, deltaY=by, modifiers=modifiers)
        self.settle()

    def tap(self, x, y):
        self.call('Input.dispatchTouchEvent', type='touchStart', touchPoints=[{'x': x, 'y': y}])
        self.call('Input.dispatchTouchEvent', type='touchEnd', touchPoints=[])
        self.settle()

    def key(self, name, modifiers=0):
        code, number, text = KEYS.get(name, ('', ord(name[0].upper()), name))
        more = {'text': text} if text and not modifiers & CTRL else {}
        for kind in ('keyDown', 'keyUp'):
            self.call('Input.dispatchKeyEvent', type=kind, key=name, code=code, windowsVirtualKeyCode=number,
                      modifiers=modifiers, **(more if kind == 'keyDown' else {}))
        self.settle()

    def type(self, text):
        self.call('Input.insertText', text=text)
        self.settle()

    def box(self, selector):
        """(left, top, width, height)"""
        return self.value('(b => [b.left, b.top, b.width, b.height])'
                          f'(document.querySelector({json.dumps(selector)}).getBoundingClientRect())')

    def middle(self, selector):
        left, top, width, height = self.box(selector)
        return left + width / 2, top + height / 2

    def text(self, selector):
        return self.value(f'document.querySelector({json.dumps(selector)}).textContent')

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call('Page.captureScreenshot', format='png')['data']))

    def unnamed(self):
        """Controls that can be seen and that the browser has no name for, as it tells those who read aloud."""
        self.call('Accessibility.enable')
        roles = ('button', 'textbox', 'searchbox', 'combobox', 'tab', 'checkbox', 'application', 'image', 'dialog')
        nodes = self.call('Accessibility.getFullAXTree')['nodes']
        return [node['role']['value'] for node in nodes if not node.get('ignored') and
                node.get('role', {}).get('value') in roles and not node.get('name', {}).get('value', '').strip()]
