/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_workload.c - a workload that generates a function, describes it in ./jit-PID.dump as a JIT does, and calls it
 * until the time is over. The dump has times of CLOCK_MONOTONIC: use 'record -k mono', then 'inject --jit'.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/writer.h"
#include "code/symbols/jitdump.h"
#include "verbs/test/test_workloads.h"

#define CODE_NAME   "jit_workload"
#define CODE_RESULT 0x5a
#define DUMP_MAGIC  0x4A695444u
#define PAGE_BYTES  ((size_t)sysconf(_SC_PAGESIZE))

/* Machine code that counts to 1,000 and returns 0x5a. */
#if defined(__x86_64__)
#define CODE_MACHINE EM_X86_64
static const unsigned char jit_workload_code[] = {
	0xb9, 0xe8, 0x03, 0x00, 0x00, /* mov $1000, %ecx */
	0xff, 0xc9, 0x75, 0xfc, /* dec %ecx; jnz */
	0xb8, CODE_RESULT, 0x00, 0x00, 0x00, 0xc3, /* mov $0x5a, %eax; ret */
};
#elif defined(__aarch64__)
#define CODE_MACHINE EM_AARCH64
static const unsigned char jit_workload_code[] = {
	0x01, 0x7d, 0x80, 0x52, /* mov w1, #1000 */
	0x21, 0x04, 0x00, 0x71, 0xe1, 0xff, 0xff, 0x54, /* subs w1, w1, #1; b.ne */
	0x40, 0x0b, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6, /* mov w0, #0x5a; ret */
};
#else
#define CODE_MACHINE EM_NONE
static const unsigned char jit_workload_code[] = {0};
#endif

typedef int (*jit_workload_function)(void);

/* Returns NULL after a message. */
static void *jit_workload_generate(void)
{
	void *code = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code != MAP_FAILED) {
		memcpy(code, jit_workload_code, sizeof(jit_workload_code));
		__builtin___clear_cache((char *)code, (char *)code + sizeof(jit_workload_code));
		if (mprotect(code, PAGE_BYTES, PROT_READ | PROT_EXEC) == 0)
			return code;
		munmap(code, PAGE_BYTES);
	}
	fprintf(stderr, "no memory for generated code: %s\n", strerror(errno));
	return NULL;
}

static void jit_workload_describe(struct writer *w, uint64_t address)
{
	writer_u32(w, DUMP_MAGIC);
	writer_u32(w, 1); /* The version of the format. */
	writer_u32(w, JITDUMP_HEADER_BYTES);
	writer_u32(w, CODE_MACHINE);
	writer_u32(w, 0);
	writer_u32(w, (uint32_t)getpid());
	writer_u64(w, clock_ns());
	writer_u64(w, 0); /* Flags; 0 denotes CLOCK_MONOTONIC. */
	writer_u32(w, JITDUMP_CODE_LOAD);
	writer_u32(w, JITDUMP_RECORD_BYTES + JITDUMP_LOAD_BYTES + sizeof(CODE_NAME) + sizeof(jit_workload_code));
	writer_u64(w, clock_ns());
	writer_u32(w, (uint32_t)getpid());
	writer_u32(w, (uint32_t)gettid());
	writer_u64(w, address);
	writer_u64(w, address);
	writer_u64(w, sizeof(jit_workload_code));
	writer_u64(w, 1); /* The function's index. */
	writer_bytes(w, CODE_NAME, sizeof(CODE_NAME));
	writer_bytes(w, jit_workload_code, sizeof(jit_workload_code));
}

/* Recorders find the dump because it is mapped as executable. Returns false after a message. */
static bool jit_workload_write(const char *path, uint64_t address)
{
	struct writer w = {0};
	jit_workload_describe(&w, address);
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
	bool is_written = fd >= 0 && !w.failed && write(fd, w.data, w.len) == (ssize_t)w.len &&
			  mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED;
	if (!is_written)
		fprintf(stderr, "cannot write and map %s as code: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	writer_deinit(&w);
	return is_written;
}

int workload_jitdump(int argc, char **argv)
{
	char path[32];
	if (CODE_MACHINE == EM_NONE) {
		fprintf(stderr,
			"the workload jitdump has no code for this machine: it has some for x86-64 and arm64\n");
		return 1;
	}
	if (!workload_start(argc, argv))
		return 1;
	void *code = jit_workload_generate();
	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	if (!code || !jit_workload_write(path, (uint64_t)(uintptr_t)code))
		return 1;
	int result = CODE_RESULT;
	while (!workload_ends() && result == CODE_RESULT)
		result = ((jit_workload_function)(uintptr_t)code)();
	return result == CODE_RESULT ? 0 : 1;
}
