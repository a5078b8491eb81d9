/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_load.h - loads the BPF programs of a skeleton into the kernel, and turns a failure into a refusal that names what
 * is missing: the build's support, BTF, the kernel's version, a capability, lockdown, or what the verifier rejected.
 *
 * bpf_refusal_expected checks before anything is opened, so that a caller without privileges gets an error in
 * microseconds. All functions can be called from any thread; each thread has its own log of libbpf.
 *
 *	struct off_cpu_bpf *skeleton = NULL;
 *	status = bpf_open(kernel, "--off-cpu", err);	// checks the build, the kernel and the privileges
 *	skeleton = off_cpu_bpf__open();
 *	if (!skeleton) return bpf_explain(kernel, "--off-cpu", errno, err);
 *	... set sizes of maps, and constants in skeleton->rodata ...
 *	status = bpf_load(kernel, "--off-cpu", skeleton->skeleton, err);
 *	status = bpf_attach(kernel, "--off-cpu", skeleton->skeleton, err);	// or attach single programs
 *	off_cpu_bpf__destroy(skeleton);	// also after a failure
 */
#ifndef BPF_BPF_LOAD_H
#define BPF_BPF_LOAD_H

#include "kernel/system/kernel_seam.h"

struct bpf_object; /* Types of libbpf. */
struct bpf_object_skeleton;

/* Returns true if this build contains BPF programs. */
bool bpf_is_built(void);
/*
 * Checks for known obstacles without loading anything. Returns OK if it finds none, otherwise UNSUPPORTED or DENIED.
 * what is the option or verb that needs BPF, with which the message begins.
 */
TALLY_MUST_CHECK enum tally_status bpf_refusal_expected(
	const struct kernel_seam *kernel, const char *what, struct tally_error *err);
/*
 * Returns the error for a call of libbpf that failed with errnum in this thread. The message names the known obstacle
 * or, if there is none, contains the last lines of libbpf's log.
 */
enum tally_status bpf_explain(const struct kernel_seam *kernel, const char *what, int errnum, struct tally_error *err);

/*
 * Checks that thread IDs in BPF programs, which are those of the initial PID namespace, are also those of this process.
 * Returns UNSUPPORTED if this process is in another PID namespace.
 */
TALLY_MUST_CHECK enum tally_status bpf_check_namespace(
	const struct kernel_seam *kernel, const char *what, struct tally_error *err);
/* Calls bpf_refusal_expected, and redirects libbpf's log to memory. Call it before a skeleton is opened. */
TALLY_MUST_CHECK enum tally_status bpf_open(
	const struct kernel_seam *kernel, const char *what, struct tally_error *err);
/* Loads all maps and programs of an opened skeleton. */
TALLY_MUST_CHECK enum tally_status bpf_load(const struct kernel_seam *kernel, const char *what,
	struct bpf_object_skeleton *skeleton, struct tally_error *err);
/* Attaches each program of the skeleton as its section name specifies. */
TALLY_MUST_CHECK enum tally_status bpf_attach(const struct kernel_seam *kernel, const char *what,
	struct bpf_object_skeleton *skeleton, struct tally_error *err);
/*
 * Attaches a program to an opened perf event. instead is the advice at the end of an error message, such as "; use
 * ...", or "".
 */
TALLY_MUST_CHECK enum tally_status bpf_attach_event(const struct kernel_seam *kernel, const char *what, int program_fd,
	int event_fd, const char *instead, struct tally_error *err);

/*
 * Stores the file descriptors of an object's loaded maps in fds, in the order of names. The object owns the
 * descriptors.
 */
TALLY_MUST_CHECK enum tally_status bpf_find_maps(
	struct bpf_object *object, const char *const *names, size_t count, int *fds, struct tally_error *err);
/* Lets an object use maps of another object, which is loaded already. Call it before the object itself is loaded. */
TALLY_MUST_CHECK enum tally_status bpf_share_maps(struct bpf_object *object, struct bpf_object *from,
	const char *const *names, size_t count, struct tally_error *err);

/*
 * Copies the verifier's last lines about a rejected program from the end of its log: complete lines, at most size - 1
 * bytes, joined by "; ". Exported for tests.
 */
void bpf_log_tail(const char *log, char *tail, size_t size);

#endif
