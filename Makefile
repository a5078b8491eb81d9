# SPDX-License-Identifier: Apache-2.0
# The ways into tally. Each target installs what is missing (tools/setup), then calls Meson.
#   make demo      builds tally, profiles a real program, shows the counts and the report
#   make check     runs the tests that this machine can run, in about a quarter of an hour
#   make check-data      runs the cases that read test data outside the clone: TALLY_TEST_DATA=DIR
#   make check-more      runs what takes longer: thread sanitizer, musl, without BPF, emulated arm64, packages, mutation, ...
#   make check-changed   runs the parts of check-more that the changes since the last landing call for
#   make check-emulated  the same program on an emulated ARM PMU, beside Debian's perf; part of check-more
#   make check-coverage  unit and end-to-end tests in a build that counts lines: shares by folder, files below the limit
#   make bench     compares tally with perf, as ratios
#   make fuzz NAME=cursor [SECONDS=60]      (tools/fuzz-all MINUTES: many targets, with a summary)
#   make mutate [COUNT=60] [SEED=1]        how many small changes of abi, perfdata and machine the unit tests notice
#   make figures  names, circles of folders, copies of option rows and lines of the source tree, in numbers
#   make static    one program that needs no shared library: build/static/tally
#   make deb       Debian packages: build/deb/*.deb
#   make check-packages  installs both in bare roots and uses them there; part of check-more
#   make install [PREFIX=/usr/local] [DESTDIR=]
#   make format    formats the C sources
# CC=clang builds with another compiler, in its own folder.

ifeq ($(origin CC),default)
CC := cc
endif
compiler := $(notdir $(lastword $(CC)))
# Meson adds ccache only where CC is not set. Build folders of this tree share objects; another checkout's name their
# sources there.
cached_cc := $(if $(findstring ccache,$(CC)),$(CC),$(if $(shell command -v ccache),ccache )$(CC))
ifndef CCACHE_BASEDIR
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NAMESPACE := $(CURDIR)
export CCACHE_NOHASHDIR := 1
endif
# An empty cache costs nothing so: ccache does not run the preprocessor first, but reads the list of headers afterwards.
export CCACHE_DEPEND := 1
build := $(if $(filter cc gcc,$(compiler)),build,build-$(compiler))
SECONDS ?= 60
COUNT ?= 60
SEED ?= 1
PREFIX ?= /usr/local

c_sources = $$(git ls-files -co --exclude-standard -- 'src/*.[ch]' 'include/*.h' 'tests/*.[ch]' 'fuzz/*.[ch]' \
	'examples/*.[ch]' 'bench/*.[ch]')

.PHONY: all demo check check-data check-more check-changed check-emulated check-coverage bench fuzz mutate figures install static deb check-packages format setup-build setup-check clean
all: $(build)/build.ninja
	@ninja -C $(build) program

# One program without shared libraries, for any Linux of this architecture: build/static/tally.
static: setup-build
	@[ -f build-static/build.ninja ] || CC="$(cached_cc)" meson setup -Dstatic=true -Dtests=disabled build-static >/dev/null
	@ninja -C build-static src/cli/tally
	@mkdir -p build/static
	@strip -o build/static/tally build-static/src/cli/tally
	@ls -l build/static/tally

deb:
	@tools/setup deb
	@tools/deb

# Some minutes; debootstrap asks a mirror of Debian.
check-packages: setup-build
	@CC="$(CC)" BUILD=$(build) python3 tools/check packages

setup-build:
	@tools/setup build

setup-check:
	@tools/setup check

$(build)/build.ninja: | setup-build
	@CC="$(cached_cc)" meson setup --prefix "$(abspath $(PREFIX))" $(build) >/dev/null

demo: all
	@ninja -C $(build) demo >/dev/null
	@BUILD=$(build) examples/demo/run

check: setup-check
	@CC="$(CC)" BUILD=$(build) python3 tools/check

check-data: setup-check
	@CC="$(CC)" BUILD=$(build) python3 tools/check data

check-more: setup-check
	@CC="$(CC)" BUILD=$(build) python3 tools/check more

check-changed: setup-check
	@CC="$(CC)" BUILD=$(build) python3 tools/check changed

check-emulated: setup-build
	@python3 tests/emulated/check.py

check-coverage: setup-check
	@python3 tools/coverage.py

bench: setup-check all
	@BUILD=$(build) python3 bench/run.py

fuzz: setup-check
	@tools/fuzz "$(NAME)" "$(SECONDS)"

mutate: setup-check
	@tools/mutate --count "$(COUNT)" --seed "$(SEED)"

figures:
	@python3 tools/figures.py

# The prefix first: what is installed where is written when the folder is configured.
install: $(build)/build.ninja
	@meson configure $(build) --prefix "$(abspath $(PREFIX))"
	@ninja -C $(build) program
	@DESTDIR="$(DESTDIR)" meson install --no-rebuild -C $(build)

format: setup-check
	@clang-format -i $(c_sources)

clean:
	@rm -rf build build-*
