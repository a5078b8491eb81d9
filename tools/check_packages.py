#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses the Debian packages and the static program where nothing else of tally is: in bare roots.

 - lintian has nothing to say of the packages
 - a Debian of debootstrap's smallest kind, with the packages installed by apt: record, report, the program called as perf,
   a manual page, completions, and a program compiled against libtally
 - the static program in an empty root with /proc and /sys only, and in one with busybox only

usage: tools/check_packages.py      as root. Ends with "N passed, N failed"; exit status 77: this machine cannot run it.
Environment: BASE, a folder that keeps the Debian root between runs; SUITE (this machine's release) and MIRROR of Debian;
DEBS, a folder of packages that are built already; STATIC, such a program.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# None of these depends on who maintains a package, or on an archive that it is in.
LINTIAN_SKIPS = ('bogus-mail-host', 'bogus-mail-host-in-debian-changelog', 'initial-upload-closes-no-bugs')
LACKING = 77
PROGRAM = r'''
#include <stdio.h>
#include <tally/counter.h>
int main(void)
{
	struct tally_counter *c = tally_counter_open("task-clock", NULL, NULL);
	if (!c)
		return 1;
	for (volatile int i = 0; i < 1000000; i++)
		;
	printf("%llu\n", (unsigned long long)tally_counter_value(c));
	return 0;
}
'''


class Failure(Exception):
    pass


def lack(why):
    print(f'skipped: {why}')
    sys.exit(LACKING)


def run(*command, **options):
    result = subprocess.run([str(word) for word in command], cwd=ROOT, text=True, errors='replace',
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                            **options)
    if result.returncode:
        lines = result.stdout.splitlines()[-20:]
        raise Failure('\n'.join([f'{" ".join(map(str, command))}: exit status {result.returncode}', *lines]))
    return result.stdout


def inside(root, *command):
    """Runs it in the root, with a /proc and a /sys that end with it."""
    mounts = 'mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && exec chroot "$0" "$@"'
    environment = {'HOME': '/root', 'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'LC_ALL': 'C', 'PAGER': 'cat',
                   'DEBIAN_FRONTEND': 'noninteractive'}
    return run('unshare', '--mount', '--propagation', 'private', '/bin/sh', '-c', mounts, root, *command,
               env=environment)


def expect(pattern, text):
    if not re.search(pattern, text, re.M):
        raise Failure(f'no line matches {pattern!r} in:\n{text[:2000]}')


def debian_root(root):
    base = os.environ.get('BASE')
    suite = os.environ.get('SUITE') or re.search(r'^VERSION_CODENAME=(.*)$',
                                                 pathlib.Path('/etc/os-release').read_text(), re.M)[1]
    place = pathlib.Path(base) if base else root
    if not (place / 'etc/debian_version').exists():
        try:
            run('debootstrap', '--variant=minbase', suite, place,
                os.environ.get('MIRROR', 'http://deb.debian.org/debian'))
        except Failure as failure:
            lack(f'debootstrap makes no root: {str(failure).splitlines()[-1]}')
    if base:
        shutil.rmtree(root)
        run('cp', '-a', place, root)
    shutil.copy('/etc/resolv.conf', root / 'etc/resolv.conf')
    for proxy in pathlib.Path('/etc/apt/apt.conf.d').glob('*proxy*'):
        shutil.copy(proxy, root / 'etc/apt/apt.conf.d')


def record_and_report(root, program, shell=()):
    """Of a command that computes for long enough to have samples."""
    command = ['sh', '-c', 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'] if shell else [program, 'list']
    inside(root, program, 'record', '-e', 'cpu-clock', '-F', '5000', '-o', '/tmp/perf.data', '--', *command)
    report = inside(root, program, 'report', '--stdio', '-i', '/tmp/perf.data')
    expect(r"^# Samples: \d+K? +of event 'cpu-clock", report)
    expect(r'^ +\d+\.\d\d% +\w+ +\S', report)


def packages_work(root, debs):
    # Without documents and completions an image is smaller; these are what is looked for here.
    for rule in (root / 'etc/dpkg/dpkg.cfg.d').glob('*'):
        rule.unlink()
    (root / 'tmp/debs').mkdir()
    for deb in debs:
        shutil.copy(deb, root / 'tmp/debs')
    inside(root, 'apt-get', 'update', '-q')
    inside(root, 'sh', '-c', 'apt-get install -q -y --no-install-recommends /tmp/debs/*.deb gcc libc6-dev pkg-config')
    yield 'the program finds its libraries', lambda: expect(r'^tally version \d', inside(root, 'tally', 'version'))
    yield 'record and report', lambda: record_and_report(root, 'tally', shell=True)
    yield 'called as perf', lambda: expect(
        r'^perf version', inside(root, 'sh', '-c', 'PATH=/usr/lib/tally/bin:$PATH; perf version'))
    yield 'manual pages', lambda: [expect(r'^\.SH', inside(root, 'zcat', f'/usr/share/man/{page}.gz'))
                                   for page in ('man1/tally.1', 'man1/tally-record.1', 'man3/libtally.3')]
    yield 'completions', lambda: [
        expect(r'record', inside(root, 'cat', f'/usr/share/{file}'))
        for file in ('bash-completion/completions/tally', 'zsh/vendor-completions/_tally',
                     'fish/vendor_completions.d/tally.fish')]
    yield 'a program of the library', lambda: library_works(root)
    yield 'linux-perf beside it', lambda: perf_fits_beside(root)


def perf_fits_beside(root):
    """Neither does it conflict, nor does tally have its file."""
    expect(r'^Inst linux-perf', inside(root, 'apt-get', 'install', '-s', 'linux-perf'))
    if os.path.lexists(root / 'usr/bin/perf'):
        raise Failure('usr/bin/perf belongs to linux-perf')


def library_works(root):
    (root / 'tmp/count.c').write_text(PROGRAM)
    inside(root, 'sh', '-c', 'cc -o /tmp/count /tmp/count.c $(pkg-config --cflags --libs tally)')
    expect(r'^[1-9]\d{4,}$', inside(root, '/tmp/count'))


def bare_root(folder, program):
    for name in ('proc', 'sys', 'tmp'):
        (folder / name).mkdir(parents=True)
    shutil.copy(program, folder / 'tally')
    return folder


def static_works(work, program):
    yield 'no interpreter', lambda: no_interpreter(program)
    empty = bare_root(work / 'empty', program)
    yield 'static, empty root', lambda: record_and_report(empty, '/tally')
    yield 'static, says what it cannot load', lambda: [
        expect(rf'^ *{name}: \[ OFF \]', inside(empty, '/tally', 'version', '--build-options'))
        for name in ('debuginfod', 'libpfm4', 'libcurl', 'dlfilters')]
    busybox = shutil.which('busybox')
    if not busybox or 'INTERP' in run('readelf', '-lW', busybox):
        print('skipped: static, busybox: busybox-static is not installed')
        return
    root = bare_root(work / 'busybox', program)
    (root / 'bin').mkdir()
    shutil.copy(busybox, root / 'bin/busybox')
    inside(root, '/bin/busybox', '--install', '-s', '/bin')
    yield 'static, busybox', lambda: record_and_report(root, '/tally', shell=True)


def no_interpreter(program):
    if 'INTERP' in run('readelf', '-lW', program):
        raise Failure(f'{program} names a dynamic linker')


def lintian_clean(debs):
    text = run('lintian', '--allow-root', '--fail-on', 'error,warning', '--suppress-tags', ','.join(LINTIAN_SKIPS), *debs)
    if re.search('^[EW]:', text, re.M):
        raise Failure(text)


def steps(work):
    debs = pathlib.Path(os.environ.get('DEBS') or ROOT / 'build/deb')
    program = pathlib.Path(os.environ.get('STATIC') or ROOT / 'build/static/tally')
    if 'DEBS' not in os.environ:
        run('tools/deb')
    if 'STATIC' not in os.environ:
        run('make', 'static')
    debs = [deb for deb in sorted(debs.glob('*.deb')) if 'dbgsym' not in deb.name]
    if shutil.which('lintian'):
        yield 'lintian', lambda: lintian_clean(debs)
    else:
        print('skipped: lintian: it is not installed')
    yield from static_works(work, program)
    root = work / 'debian'
    root.mkdir()
    debian_root(root)
    yield from packages_work(root, debs)


def main():
    if os.geteuid():
        lack('needs root, for chroot')
    for tool in ('dpkg-buildpackage', 'dh', 'debootstrap', 'unshare', 'readelf'):
        if not shutil.which(tool, path=os.environ['PATH'] + ':/usr/sbin'):
            lack(f'{tool} is not installed')
    passed, failed = 0, 0
    work = pathlib.Path(tempfile.mkdtemp(prefix='tally-packages.', dir=os.environ.get('TMPDIR', '/var/tmp')))
    try:
        for name, step in steps(work):
            try:
                step()
                passed += 1
                print(f'ok: {name}', flush=True)
            except Failure as failure:
                failed += 1
                print(f'failed: {name}: {failure}', flush=True)
    except Failure as failure:
        failed += 1
        print(f'failed: {failure}')
    finally:
        # Its mounts ended with the commands that had them.
        subprocess.run(['rm', '-rf', '--one-file-system', work], check=False)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
