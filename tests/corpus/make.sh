#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the recordings of this folder anew, on a machine where root may record and perf is 6.1, and what perf prints of
# them. The program is built into /srv/tally-corpus, which the recordings name; a copy below root/ is for --symfs. Look at
# what changed in expected/: a test compares tally's words with it (tests/e2e/test_recorded.py).
#
# usage: tests/corpus/make.sh [data|expected]     default: both, data first
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
perf=${PERF:-perf}
place=/srv/tally-corpus
program=$place/program
# No cache of build IDs, no personal settings.
HOME=$(mktemp -d)
trap 'rm -rf "$HOME"' EXIT
export HOME LC_ALL=C TERM=dumb PAGER=cat COLUMNS=80 TZ=UTC
cd "$here"

record()
{
	local name=$1
	shift
	# perf 6.1 aborts while another session on the machine asks for build IDs (docs/compatibility.md).
	local try
	for try in 1 2 3 4 5 6 7 8 9 10; do
		"$perf" "$@" >/dev/null 2>&1 && break
		[ $try != 10 ] || { echo "make.sh: $name: perf $* failed" >&2; exit 1; }
	done
	chmod 644 "$name.data"
	rm -f "$name.data.old"
}

data()
{
	mkdir -p "$place"
	gcc -O1 -g -fno-omit-frame-pointer -no-pie -pthread -o "$program" program.c
	install -D -m 755 "$program" "root$program"
	g++ -O1 -g -fno-omit-frame-pointer -no-pie -o "$place/cxx" cxx.cc
	install -D -m 755 "$place/cxx" "root$place/cxx"
	record cxx record -e cpu-clock:u -F 999 -g -o cxx.data "$place/cxx"
	record old record -q -o old.data "$program" cpu 200000
	record u record -e cpu-clock:u -F 999 -o u.data "$program" cpu
	record ug record -e cpu-clock:u -F 999 -g -o ug.data "$program" cpu
	record deep record -e cpu-clock:u -F 999 -g -o deep.data "$program" deep
	record ud record -e cpu-clock:u -F 99 --call-graph dwarf,4096 -o ud.data "$program" cpu
	record dyn record -e cpu-clock:u -F 999 -g -o dyn.data sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done'
	record k record -e cpu-clock -F 999 -o k.data dd if=/dev/zero of=/dev/null bs=64k count=20000
	record kg record -e cpu-clock -F 999 -g -o kg.data dd if=/dev/zero of=/dev/null bs=64k count=20000
	record default record -o default.data "$program" cpu
	record sys record -a -e cpu-clock -F 199 -g -o sys.data sleep 0.3
	record multi record -e cpu-clock:u,page-faults,context-switches -F 999 -o multi.data "$program" fork
	record grp record -e '{cpu-clock:u,task-clock:u}' -F 999 -o grp.data "$program" cpu
	record thr record -s -e cpu-clock:u -F 999 -o thr.data "$program" threads 5000000
	record count record -e page-faults -c 1 -o count.data "$program" fork 1000
	record addr record -e page-faults -c 1 -d -o addr.data "$program" fork 1000
	record ids record -e cpu-clock:u -F 499 -T -P --sample-cpu --sample-identifier -o ids.data "$program" cpu
	record regs record -e cpu-clock:u -F 199 --user-regs=ip,sp,ax -o regs.data "$program" cpu
	record swev record -e cpu-clock:u -F 199 --switch-events -o swev.data "$program" sleep
	record zstd record -e cpu-clock:u -F 4999 -g -z -o zstd.data "$program" cpu
	"$perf" record -e cpu-clock:u -F 999 -g -o - "$program" cpu >pipe.data 2>/dev/null
	record cmd record -e cpu-clock:u -F 999 -o cmd.data -- sh -c "$program cpu 3000000; $program deep 3000000"
	record diff1 record -e cpu-clock:u -F 999 -o diff1.data "$program" cpu
	record diff2 record -e cpu-clock:u -F 999 -o diff2.data "$program" deep
	record bidall record --buildid-all -e cpu-clock:u -F 199 -o bidall.data "$program" cpu 2000000
	record bidmmap record --buildid-mmap -e cpu-clock:u -F 199 -o bidmmap.data "$program" cpu 2000000
	record nobid record -B -e cpu-clock:u -F 199 -o nobid.data "$program" cpu 2000000
	record nosamp record -n -e cpu-clock:u -o nosamp.data "$program" cpu 2000000
	record ns record -e cpu-clock:u -F 199 --namespaces -o ns.data unshare -u "$program" cpu 2000000
	record cgrp record -e cpu-clock:u -F 199 --all-cgroups -o cgrp.data "$program" cpu 2000000
	record grpS record -e '{cpu-clock,page-faults}:S' -F 999 -o grpS.data "$program" cpu
	record tp record -e sched:sched_switch,sched:sched_process_exec,syscalls:sys_enter_write,syscalls:sys_exit_write \
		-o tp.data "$program" write
	record tpsleep record -e sched:sched_switch,sched:sched_wakeup -g -o tpsleep.data "$program" sleep
	record sched sched record -o sched.data "$program" fork 1000000
	record lock lock record -o lock.data -- "$perf" bench sched messaging -g 1 -l 100 # until threads waited for locks
	record kmem kmem record -o kmem.data -- true
	record stat stat record -e cpu-clock,page-faults,context-switches -o stat.data "$program" fork 1000000
	record statI stat record -a -A -e cpu-clock,page-faults -I 100 -o statI.data sleep 0.35
	rm -r "$place"
}

# expect NAME WORD...: what perf prints, and the command line; what one run does not share with another is left out.
expect()
{
	local name=$1
	shift
	printf '%s\n' "$@" >"expected/$name.words"
	"$perf" "$@" >"expected/$name.out" 2>"expected/$name.err" || { echo "make.sh: $name: perf $* failed" >&2; exit 1; }
	[ -s "expected/$name.err" ] && [ ! -s "expected/$name.out" ] && mv "expected/$name.err" "expected/$name.out"
	rm -f "expected/$name.err"
}

expected()
{
	rm -rf expected
	mkdir expected
	for name in u multi grp thr count addr ids ug deep zstd; do
		expect "report-$name" report --stdio --symfs root -i $name.data
	done
	for name in u multi grp thr count addr ids; do
		expect "script-$name" script --symfs root -i $name.data
	done
	for name in ug deep zstd; do
		expect "report-$name-callees" report --stdio --no-children -g callee --symfs root -i $name.data
		expect "report-$name-callers" report --stdio --no-children -g caller --symfs root -i $name.data
		expect "report-$name-folded" report --stdio --no-children -g folded --symfs root -i $name.data
	done
	expect script-regs script -F comm,tid,time,uregs -i regs.data
	expect script-swev script --show-switch-events --symfs root -i swev.data
	expect script-cmd script --show-task-events --symfs root -i cmd.data
	expect script-tp script -i tp.data
	expect report-cmd-tasks report --tasks -i cmd.data
	expect report-u-mmaps report --mmaps -i u.data
	expect report-u-stats report --stats -i u.data
	expect report-u-time report --stdio --symfs root --time 10%-30% -i u.data
	expect report-thr-pids report --stdio -s pid,comm -i thr.data
	expect report-tpsleep-fields report --stdio -s prev_comm,next_comm -g none -i tpsleep.data
	expect diff diff --symfs root diff1.data diff2.data
	expect sched-map sched map -i sched.data
	expect sched-timehist sched timehist -i sched.data
	expect sched-summary sched timehist -S -i sched.data
	expect kmem-alloc kmem -i kmem.data --alloc -l 20 stat
	expect stat-report stat report -i stat.data
	expect evlist evlist -i multi.data
	expect evlist-group evlist -g -i grp.data
	expect buildids buildid-list -i cmd.data
}

case ${1:-all} in
data) data ;;
expected) expected ;;
all) data && expected ;;
*) sed -n '7p' "$0" >&2; exit 2 ;;
esac
