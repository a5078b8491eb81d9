"""What is exact: stacks and names against gdb's, at the same stops of a program that is hard to unwind (tests/live)."""
import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'live'))
import stops as live_stops  # noqa: E402

STOPS = 200


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            pytest.skip(f'{tool} is not installed')


@pytest.fixture(scope='module')
def stopped(tmp_path_factory):
    """The stops of sixty.cc, and who decides where gdb and tally do not agree on inlined calls."""
    need('g++', 'gdb', 'objdump', 'readelf', 'c++filt', 'eu-addr2line')
    folder = tmp_path_factory.mktemp('sixty')
    live_stops.build(folder)
    try:
        stops = live_stops.collect(folder, STOPS, threads=2)
    except RuntimeError as error:
        if 'Operation not permitted' in str(error):
            pytest.skip('gdb may not trace programs here')
        raise
    return stops, live_stops.Arbiter(stops, live_stops.read_aliases(live_stops.mapped_files(stops)))


def test_names_and_inlined_calls_are_those_of_gdb(stopped, tally, tmp_path):
    stops, arbiter = stopped
    live_stops.write_recording(tmp_path / 'data', stops, unwound=False)
    chains = live_stops.script(tally.path, tmp_path / 'data', names=True)
    wrong_addresses, wrong_names = live_stops.compare(stops, chains, True, arbiter)
    assert not wrong_addresses and not wrong_names
    assert sum(inlined for chain in chains for *_, inlined in chain) > STOPS
