/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/bpf_load.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/error.h"
#include "kernel/system/capabilities.h"
#include "kernel/system/kernel_files.h"
#include "tally_config.h"

#if HAVE_BPF
#include <linux/perf_event.h>
#include <bpf/libbpf.h>
#endif

#define BPF_LEAST_MAJOR 5 /* Linux 5.8 is the first version with BPF ring buffers. */
#define BPF_LEAST_MINOR 8
#define BPF_LOG_BYTES	(16u << 10)
#define BPF_TAIL_BYTES	240 /* Longest part of a log that fits into the text of an error. */

/* The last bytes that libbpf logged in this thread since bpf_log_clear. */
static _Thread_local struct bpf_log {
	char text[BPF_LOG_BYTES];
	size_t len;
} bpf_log;

enum tally_status bpf_check_namespace(const struct kernel_seam *kernel, const char *what, struct tally_error *err)
{
	if (!pid_namespace_is_nested(kernel))
		return TALLY_OK;
	return error_set(err, TALLY_UNSUPPORTED,
		"%s: BPF programs see threads by their numbers in the machine's first PID namespace, and this process "
		"is in another one: run it outside of the container",
		what);
}

static bool bpf_kernel_is_old(const struct kernel_seam *kernel, struct tally_error *err, const char *what)
{
	char *release;
	int major, minor;
	if (kernel_text(kernel, &release, NULL, "/proc/sys/kernel/osrelease") != TALLY_OK)
		return false;
	bool is_old = sscanf(release, "%d.%d", &major, &minor) == 2 &&
		      (major < BPF_LEAST_MAJOR || (major == BPF_LEAST_MAJOR && minor < BPF_LEAST_MINOR));
	if (is_old)
		error_set(err, TALLY_UNSUPPORTED, "%s needs BPF of Linux %d.%d or newer, and this kernel is %s", what,
			BPF_LEAST_MAJOR, BPF_LEAST_MINOR, release);
	free(release);
	return is_old;
}

/* Names the missing capabilities, or returns NULL. CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON. */
static const char *bpf_missing_capability(const struct kernel_seam *kernel)
{
	if (capability_is_held(kernel, CAPABILITY_SYS_ADMIN))
		return NULL;
	bool has_bpf = capability_is_held(kernel, CAPABILITY_BPF);
	bool has_perfmon = capability_is_held(kernel, CAPABILITY_PERFMON);
	if (has_bpf && has_perfmon)
		return NULL;
	return has_bpf ? "CAP_PERFMON" : has_perfmon ? "CAP_BPF" : "CAP_BPF and CAP_PERFMON";
}

static bool bpf_is_locked_down(const struct kernel_seam *kernel)
{
	char *text;
	if (kernel_text(kernel, &text, NULL, "/sys/kernel/security/lockdown") != TALLY_OK)
		return false;
	bool is_locked = strstr(text, "[confidentiality]") != NULL;
	free(text);
	return is_locked;
}

bool bpf_is_built(void)
{
	return HAVE_BPF;
}

enum tally_status bpf_refusal_expected(const struct kernel_seam *kernel, const char *what, struct tally_error *err)
{
	if (!bpf_is_built())
		return error_set(err, TALLY_UNSUPPORTED,
			"%s needs BPF, which this build of tally lacks: build it with libbpf, clang and bpftool "
			"(Meson's option bpf)",
			what);
	if (bpf_kernel_is_old(kernel, err, what))
		return TALLY_UNSUPPORTED;
	const char *missing = bpf_missing_capability(kernel);
	if (missing && user_namespace_is_nested(kernel))
		return error_set(err, TALLY_DENIED,
			"%s loads BPF programs, which needs %s in the first user namespace: run it outside the "
			"container or sandbox",
			what, missing);
	if (missing)
		return error_set(err, TALLY_DENIED,
			"%s loads BPF programs, which needs %s: run as root, or give the program these capabilities "
			"(setcap)",
			what, missing);
	if (bpf_is_locked_down(kernel))
		return error_set(err, TALLY_DENIED,
			"%s loads BPF programs, and kernel lockdown (confidentiality) forbids what they read: boot "
			"with lockdown=integrity or none",
			what);
	if (!kernel_has(kernel, "/sys/kernel/btf/vmlinux"))
		return error_set(err, TALLY_UNSUPPORTED,
			"%s needs the kernel's type information, and there is no /sys/kernel/btf/vmlinux: use a kernel "
			"with CONFIG_DEBUG_INFO_BTF",
			what);
	return TALLY_OK;
}

/* False for the verifier's statistics and libbpf's markers, which do not say why a program was refused. */
static bool bpf_line_is_told(const char *line, size_t len)
{
	static const char *const untold[] = {
		"processed ", "-- END PROG", "libbpf: ", "-- BEGIN PROG", "verification time", "stack depth"};
	if (len == 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(untold); i++)
		if (len >= strlen(untold[i]) && memcmp(line, untold[i], strlen(untold[i])) == 0)
			return false;
	return true;
}

void bpf_log_tail(const char *log, char *tail, size_t size)
{
	size_t used = 0;
	tail[0] = 0;
	for (const char *end = log + strlen(log); end > log;) {
		const char *line = end;
		while (line > log && line[-1] != '\n')
			line--;
		size_t len = (size_t)(end - line), gap = used > 0 ? 2 : 0;
		if (bpf_line_is_told(line, len)) {
			if (used + gap + len >= size)
				break;
			memmove(tail + len + gap, tail, used + 1);
			memcpy(tail, line, len);
			memcpy(tail + len, "; ", gap);
			used += len + gap;
		}
		end = line > log ? line - 1 : log;
	}
}

enum tally_status bpf_explain(const struct kernel_seam *kernel, const char *what, int errnum, struct tally_error *err)
{
	char tail[BPF_TAIL_BYTES], reason[128];
	enum tally_status status = bpf_refusal_expected(kernel, what, err);
	if (status != TALLY_OK)
		return status;
	bpf_log_tail(bpf_log.text, tail, sizeof(tail));
	status = errnum == EPERM || errnum == EACCES ? TALLY_DENIED : TALLY_UNSUPPORTED;
	bool is_filtered = status == TALLY_DENIED && own_status_number(kernel, "\nSeccomp:", 10) == 2;
	if (!tail[0] && is_filtered)
		error_set(err, status,
			"%s: the kernel refused its BPF program: %s; a seccomp filter is in force, which may deny bpf(2) (Docker: "
			"--security-opt seccomp=PROFILE)",
			what, error_describe(errnum, reason, sizeof(reason)));
	else
		error_set(err, status, "%s: the kernel refused its BPF program: %s%s%s", what,
			error_describe(errnum, reason, sizeof(reason)), tail[0] ? "; the log ends with: " : "", tail);
	if (err)
		err->errnum = errnum;
	return status;
}

#if HAVE_BPF
/* Drops the older half if the buffer is full, because the end of a log states the error. */
static void bpf_log_append(const char *text, size_t len)
{
	struct bpf_log *log = &bpf_log;
	if (len > sizeof(log->text) / 2) {
		text += len - sizeof(log->text) / 2;
		len = sizeof(log->text) / 2;
	}
	if (log->len + len >= sizeof(log->text)) {
		size_t kept = log->len / 2;
		memmove(log->text, log->text + log->len - kept, kept);
		log->len = kept;
	}
	memcpy(log->text + log->len, text, len);
	log->len += len;
	log->text[log->len] = 0;
}

static int TALLY_PRINTF(2, 0) bpf_log_take(enum libbpf_print_level level, const char *format, va_list values)
{
	char *text;
	if (level == LIBBPF_DEBUG)
		return 0;
	int len = vasprintf(&text, format, values);
	if (len >= 0) {
		bpf_log_append(text, (size_t)len);
		free(text);
	}
	return 0;
}

static void bpf_log_clear(void)
{
	bpf_log.len = 0;
	bpf_log.text[0] = 0;
}

enum tally_status bpf_open(const struct kernel_seam *kernel, const char *what, struct tally_error *err)
{
	enum tally_status status = bpf_refusal_expected(kernel, what, err);
	if (status != TALLY_OK)
		return status;
	libbpf_set_print(bpf_log_take);
	bpf_log_clear();
	return TALLY_OK;
}

enum tally_status bpf_load(const struct kernel_seam *kernel, const char *what, struct bpf_object_skeleton *skeleton,
	struct tally_error *err)
{
	bpf_log_clear();
	int failed = bpf_object__load_skeleton(skeleton);
	return failed ? bpf_explain(kernel, what, -failed, err) : TALLY_OK;
}

enum tally_status bpf_attach(const struct kernel_seam *kernel, const char *what, struct bpf_object_skeleton *skeleton,
	struct tally_error *err)
{
	bpf_log_clear();
	int failed = bpf_object__attach_skeleton(skeleton);
	return failed ? bpf_explain(kernel, what, -failed, err) : TALLY_OK;
}

enum tally_status bpf_attach_event(const struct kernel_seam *kernel, const char *what, int program_fd, int event_fd,
	const char *instead, struct tally_error *err)
{
	void *program = (void *)(uintptr_t)program_fd;
	if (kernel->ioctl(kernel->context, event_fd, PERF_EVENT_IOC_SET_BPF, program) == 0)
		return TALLY_OK;
	return error_set_errno(err, errno == EPERM || errno == EACCES ? TALLY_DENIED : TALLY_UNSUPPORTED, errno,
		"%s: the kernel attaches no BPF program to this event%s", what, instead);
}

enum tally_status bpf_find_maps(
	struct bpf_object *object, const char *const *names, size_t count, int *fds, struct tally_error *err)
{
	for (size_t i = 0; i < count; i++) {
		fds[i] = bpf_object__find_map_fd_by_name(object, names[i]);
		if (fds[i] < 0)
			return error_set(err, TALLY_INVALID, "the BPF program has no map '%s'", names[i]);
	}
	return TALLY_OK;
}

enum tally_status bpf_share_maps(struct bpf_object *object, struct bpf_object *from, const char *const *names,
	size_t count, struct tally_error *err)
{
	for (size_t i = 0; i < count; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, names[i]);
		struct bpf_map *other = bpf_object__find_map_by_name(from, names[i]);
		int failed = map && other ? bpf_map__reuse_fd(map, bpf_map__fd(other)) : -ENOENT;
		if (failed)
			return error_set_errno(
				err, TALLY_IO, -failed, "cannot share the map '%s' of BPF programs", names[i]);
	}
	return TALLY_OK;
}
#else
enum tally_status bpf_open(const struct kernel_seam *kernel, const char *what, struct tally_error *err)
{
	return bpf_refusal_expected(kernel, what, err);
}
#endif
