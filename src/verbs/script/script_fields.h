/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_fields.h - selects the columns that `tally script` prints for each event: perf's defaults, edited by -F lists.
 *
 * As in perf, columns are selected per kind of event; the first event of a kind determines the available columns of all
 * events of that kind. A request is plain data; lists are applied in the order in which they were given.
 *
 *	struct script_field_request request;
 *	script_fields_init(&request);
 *	const char *problem = script_fields_apply(&request, "trace:+period", room, sizeof(room));
 *	uint64_t *fields;	// FIELD_* bits, indexed by event; freed by the caller
 *	script_fields_choose(&request, reader, &notes, &fields, &err);
 */
#ifndef VERBS_SCRIPT_SCRIPT_FIELDS_H
#define VERBS_SCRIPT_SCRIPT_FIELDS_H

#include "base/diag.h"
#include "perfdata/reader.h"

#define FIELD_COMM	     (UINT64_C(1) << 0)
#define FIELD_TID	     (UINT64_C(1) << 1)
#define FIELD_PID	     (UINT64_C(1) << 2)
#define FIELD_TIME	     (UINT64_C(1) << 3)
#define FIELD_CPU	     (UINT64_C(1) << 4)
#define FIELD_EVENT	     (UINT64_C(1) << 5)
#define FIELD_TRACE	     (UINT64_C(1) << 6)
#define FIELD_IP	     (UINT64_C(1) << 7)
#define FIELD_SYM	     (UINT64_C(1) << 8)
#define FIELD_DSO	     (UINT64_C(1) << 9)
#define FIELD_ADDR	     (UINT64_C(1) << 10)
#define FIELD_SYMOFF	     (UINT64_C(1) << 11)
#define FIELD_PERIOD	     (UINT64_C(1) << 12)
#define FIELD_IREGS	     (UINT64_C(1) << 13)
#define FIELD_UREGS	     (UINT64_C(1) << 14)
#define FIELD_BRSTACK	     (UINT64_C(1) << 15)
#define FIELD_BRSTACKSYM     (UINT64_C(1) << 16)
#define FIELD_BRSTACKOFF     (UINT64_C(1) << 17)
#define FIELD_DATA_SRC	     (UINT64_C(1) << 18)
#define FIELD_WEIGHT	     (UINT64_C(1) << 19)
#define FIELD_BPF_OUTPUT     (UINT64_C(1) << 20)
#define FIELD_PHYS_ADDR	     (UINT64_C(1) << 21)
#define FIELD_MISC	     (UINT64_C(1) << 22)
#define FIELD_FLAGS	     (UINT64_C(1) << 23)
#define FIELD_TOD	     (UINT64_C(1) << 24)
#define FIELD_DATA_PAGE_SIZE (UINT64_C(1) << 25)
#define FIELD_CODE_PAGE_SIZE (UINT64_C(1) << 26)
#define FIELD_INS_LAT	     (UINT64_C(1) << 27)
#define FIELD_RETIRE_LAT     (UINT64_C(1) << 28)
#define FIELD_CGROUP	     (UINT64_C(1) << 29)
#define FIELD_DSOFF	     (UINT64_C(1) << 30)
#define FIELD_SRCLINE	     (UINT64_C(1) << 31)
#define FIELD_IPC	     (UINT64_C(1) << 32)
#define FIELD_MACHINE_PID    (UINT64_C(1) << 33)
#define FIELD_VCPU	     (UINT64_C(1) << 34)
#define FIELD_SYNTH	     (UINT64_C(1) << 35)
#define FIELD_INSN	     (UINT64_C(1) << 36)
#define FIELD_INSNLEN	     (UINT64_C(1) << 37)
#define FIELD_DISASM	     (UINT64_C(1) << 38)
#define FIELD_SRCCODE	     (UINT64_C(1) << 39)
#define FIELD_BRSTACKINSN    (UINT64_C(1) << 40)
#define FIELD_BRSTACKINSNLEN (UINT64_C(1) << 41)
#define FIELD_BRSTACKDISASM  (UINT64_C(1) << 42)
#define FIELD_METRIC	     (UINT64_C(1) << 43)
#define FIELD_CALLINDENT     (UINT64_C(1) << 44)
#define FIELD_BRCNTR	     (UINT64_C(1) << 45)

#define FIELD_PATHS (FIELD_BRSTACKINSN | FIELD_BRSTACKINSNLEN | FIELD_BRSTACKDISASM)

#define SCRIPT_FIELD_LIST                                                                                \
	"comm, tid, pid, time, cpu, event, trace, ip, sym, dso, dsoff, addr, symoff, srcline, "          \
	"period, iregs, uregs, brstack, brstacksym, brstackoff, brstackinsn, brstackinsnlen, "           \
	"brstackdisasm, callindent, flags, data_src, weight, bpf-output, insn, insnlen, disasm, synth, " \
	"phys_addr, metric, misc, srccode, ipc, tod, data_page_size, code_page_size, ins_lat, "          \
	"machine_pid, vcpu, cgroup, retire_lat, brcntr"

/* The kinds that "type:" of a list can name, and KIND_OTHER. */
enum script_event_kind {
	KIND_HARDWARE,
	KIND_SOFTWARE,
	KIND_TRACEPOINT,
	KIND_CACHE,
	KIND_RAW,
	KIND_BREAKPOINT,
	KIND_SYNTH,
	KIND_OTHER,
	KIND_COUNT
};

struct script_field_kind { /* The selection for one kind of event. Sets are FIELD_* bits. */
	uint64_t fields;
	/* Fields that a list for all kinds requests; it is an error if an event lacks one of them. */
	uint64_t demanded;
	uint64_t asked; /* Fields that any list requests. */
	uint64_t ignored; /* Fields that a list for all kinds requests, but that are not available for this kind. */
	/* is_set: a list for this kind has been applied. is_set_for_all: a list for all kinds has been applied. */
	bool is_set, is_set_for_all;
	bool was_overridden; /* A list for this kind has replaced the fields of an earlier list. */
};

struct script_field_request {
	struct script_field_kind kinds[KIND_COUNT];
	bool all_overridden;
	bool hides_chains; /* -G: hides call chains. */
	bool is_given; /* A list was given. */
};

void script_fields_init(struct script_field_request *request);
/* Applies one -F list. Returns NULL, or an error message, which may be stored in room. */
const char *script_fields_apply(struct script_field_request *request, const char *list, char *room, size_t room_bytes);
/* Chooses the fields of each event: omits default fields that the event lacks, and returns an error if it lacks a
 * demanded one. Adds a note about ignored fields. */
TALLY_MUST_CHECK enum tally_status script_fields_choose(const struct script_field_request *request,
	const struct perfdata_reader *reader, struct diag *notes, uint64_t **fields, struct tally_error *err);

#endif
