/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_load.h - loads the BPF programs of a skeleton into the kernel, and turns a failure into a refusal that names what
 * is missing: the build's support, BTF, the kernel's version, a capability, lockdown, or what the verifier rejected.
 * Not here: what the programs do, and their attachment.
 *
 * bpf_refusal_expected asks before anything is opened, so that a caller without rights gets its answer in microseconds.
 * Any thread; the log of libbpf is the calling thread's own.
 *
 *	struct off_cpu_bpf *skeleton = NULL;
 *	status = bpf_open(kernel, "--off-cpu", err);                // may this process, and can this build?
 *	skeleton = off_cpu_bpf__open();                             // NULL: bpf_explain(kernel, "--off-cpu", errno, err)
 *	... sizes of maps, constants in skeleton->rodata ...
 *	status = bpf_load(kernel, "--off-cpu", skeleton->skeleton, err);
 *	... bpf_attach likewise, or single links; off_cpu_bpf__destroy(skeleton) also after a failure.
 */
#ifndef BPF_BPF_LOAD_H
#define BPF_BPF_LOAD_H

#include "kernel/system/kernel_seam.h"

struct bpf_object; /* libbpf's, like the next */
struct bpf_object_skeleton;

/* Whether this build has BPF programs at all. */
bool bpf_is_built(void);
/* Checks, without loading anything, what is known to be missing: UNSUPPORTED or DENIED, with "WHAT: REASON" in err.
 * what: the option or verb that needs BPF. */
TALLY_MUST_CHECK enum tally_status bpf_refusal_expected(
	const struct kernel_seam *kernel, const char *what, struct tally_error *err);
/* The refusal of a step of libbpf that failed with errnum in this thread, with the tail of its log. */
enum tally_status bpf_explain(const struct kernel_seam *kernel, const char *what, int errnum, struct tally_error *err);

/* For programs that choose or report threads by number. UNSUPPORTED: this process is in another PID namespace than the
 * machine's first one, whose numbers programs see. */
TALLY_MUST_CHECK enum tally_status bpf_check_namespace(
	const struct kernel_seam *kernel, const char *what, struct tally_error *err);
/* Does the same check, and prepares libbpf: its log is kept, not printed. Call it before a skeleton is opened. */
TALLY_MUST_CHECK enum tally_status bpf_open(
	const struct kernel_seam *kernel, const char *what, struct tally_error *err);
/* Loads all maps and programs of an opened skeleton. */
TALLY_MUST_CHECK enum tally_status bpf_load(const struct kernel_seam *kernel, const char *what,
	struct bpf_object_skeleton *skeleton, struct tally_error *err);
/* Attaches the programs whose section names the place. */
TALLY_MUST_CHECK enum tally_status bpf_attach(const struct kernel_seam *kernel, const char *what,
	struct bpf_object_skeleton *skeleton, struct tally_error *err);
/* Attaches a program to an opened perf event. instead: what a refusal advises, such as "; use ...", or "". */
TALLY_MUST_CHECK enum tally_status bpf_attach_event(const struct kernel_seam *kernel, const char *what, int program_fd,
	int event_fd, const char *instead, struct tally_error *err);

/* The descriptors of an object's loaded maps, by name. */
TALLY_MUST_CHECK enum tally_status bpf_find_maps(
	struct bpf_object *object, const char *const *names, size_t count, int *fds, struct tally_error *err);
/* Lets an object use maps of another one, which is loaded. Call it before the object itself is loaded. */
TALLY_MUST_CHECK enum tally_status bpf_share_maps(struct bpf_object *object, struct bpf_object *from,
	const char *const *names, size_t count, struct tally_error *err);

/* The verifier's last lines on a rejected program, from the end of its log: whole lines, at most size - 1 bytes, joined
 * by "; ". For tests; text and end delimit the log. */
void bpf_log_tail(const char *log, char *tail, size_t size);

#endif
