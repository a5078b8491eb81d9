/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates code as a runtime does and describes it in argv[1]/jit-PID.dump: jit_first runs for argv[2] ms of CPU
 * time, then jit_second at the same address, then jit_second again after it was moved. Each uses 24 bytes of stack
 * and no frame pointer.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE	    4096
#define LOOP_OFFSET 9 /* Offset of the loop in the code, where the time is spent. */

static const uint8_t code[] = {
	0x48, 0x83, 0xec, 0x18, /* sub $24, %rsp */
	0xb9, 0x40, 0x42, 0x0f, 0x00, /* mov $1000000, %ecx */
	0xff, 0xc9, 0x75, 0xfc, /* dec %ecx; jnz */
	0x48, 0x83, 0xc4, 0x18, /* add $24, %rsp */
	0xc3, /* ret */
};

/* A CIE and an FDE. The CFA offset is 32 between the two instructions that change the stack pointer. */
static const uint8_t eh_frame[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 12, 7, 8, 0x90, 1, 0, 0, /* CIE */
	24, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, sizeof(code), 0, 0, 0, 0, /* FDE; its start is set below */
	0x44, 14, 32, /* After sub. */
	0x4d, 14, 8, /* After add. */
	0, 0, 0, 0, 0, /* Padding (DW_CFA_nop). */
	0, 0, 0, 0, /* Terminator. */
};
#define FDE_START 32 /* Offset in eh_frame. */

static int dump;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t count)
{
	memcpy(at, bytes, count);
	return at + count;
}

static uint8_t *put_u32(uint8_t *at, uint32_t value)
{
	return put(at, &value, sizeof(value));
}

static uint8_t *put_u64(uint8_t *at, uint64_t value)
{
	return put(at, &value, sizeof(value));
}

static void write_record(uint32_t id, const uint8_t *body, const uint8_t *end)
{
	uint8_t record[1024];
	uint8_t *at = put_u32(record, id);
	at = put_u32(at, 16 + (uint32_t)(end - body));
	at = put_u64(at, now_ns(CLOCK_MONOTONIC));
	at = put(at, body, (size_t)(end - body));
	if (write(dump, record, (size_t)(at - record)) != at - record)
		exit(2);
}

static void open_dump(const char *folder)
{
	char path[512];
	uint8_t header[40];
	snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, (int)getpid());
	dump = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
	uint8_t *at = put_u32(header, 0x4A695444);
	at = put_u32(at, 1);
	at = put_u32(at, sizeof(header));
	at = put_u32(at, 62);
	at = put_u32(at, 0);
	at = put_u32(at, (uint32_t)getpid());
	at = put_u64(at, now_ns(CLOCK_MONOTONIC));
	put_u64(at, 0);
	if (dump < 0 || write(dump, header, sizeof(header)) != sizeof(header) ||
		mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0) == MAP_FAILED)
		exit(2);
}

static void write_lines(const uint8_t *place, const char *file, uint32_t line)
{
	uint8_t body[512];
	uint8_t *at = put_u64(body, (uintptr_t)place);
	at = put_u64(at, 2);
	at = put_u64(at, (uintptr_t)place);
	at = put_u32(at, line);
	at = put_u32(at, 0);
	at = put(at, file, strlen(file) + 1);
	at = put_u64(at, (uintptr_t)place + LOOP_OFFSET);
	at = put_u32(at, line + 1);
	at = put_u32(at, 0);
	at = put(at, "\xff", 2);
	write_record(2, body, at);
}

static void write_unwinding(void)
{
	static const uint8_t no_table[20] = {1, 0xff, 0xff, 0xff};
	uint8_t body[512], frame[sizeof(eh_frame)];
	memcpy(frame, eh_frame, sizeof(frame));
	int32_t start = -(int32_t)(((sizeof(code) + 7) & ~(size_t)7) + FDE_START);
	memcpy(frame + FDE_START, &start, sizeof(start));
	uint8_t *at = put_u64(body, sizeof(frame) + sizeof(no_table));
	at = put_u64(at, sizeof(no_table));
	at = put_u64(at, sizeof(frame) + sizeof(no_table));
	at = put(at, frame, sizeof(frame));
	at = put(at, no_table, sizeof(no_table));
	write_record(4, body, at);
}

static void load(uint8_t *place, uint64_t index, const char *name, const char *file, uint32_t line)
{
	uint8_t body[512];
	memcpy(place, code, sizeof(code));
	write_lines(place, file, line);
	write_unwinding();
	uint8_t *at = put_u32(body, (uint32_t)getpid());
	at = put_u32(at, (uint32_t)getpid());
	at = put_u64(at, (uintptr_t)place);
	at = put_u64(at, (uintptr_t)place);
	at = put_u64(at, sizeof(code));
	at = put_u64(at, index);
	at = put(at, name, strlen(name) + 1);
	at = put(at, code, sizeof(code));
	write_record(0, body, at);
}

static void move(uint8_t *from, uint8_t *to, uint64_t index)
{
	uint8_t body[64];
	memcpy(to, from, sizeof(code));
	uint8_t *at = put_u32(body, (uint32_t)getpid());
	at = put_u32(at, (uint32_t)getpid());
	at = put_u64(at, (uintptr_t)to);
	at = put_u64(at, (uintptr_t)from);
	at = put_u64(at, (uintptr_t)to);
	at = put_u64(at, sizeof(code));
	at = put_u64(at, index);
	write_record(1, body, at);
}

__attribute__((noinline)) static void call_generated(const uint8_t *place, uint64_t ms)
{
	void (*function)(void) = (void (*)(void))(uintptr_t)place;
	uint64_t end = now_ns(CLOCK_PROCESS_CPUTIME_ID) + ms * 1000000;
	while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
		for (int i = 0; i < 10; i++)
			function();
}

int main(int argc, char **argv)
{
	uint64_t ms = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;
	open_dump(argc > 1 ? argv[1] : "/tmp");
	uint8_t *place = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (place == MAP_FAILED)
		return 2;
	load(place, 1, "jit_first", "/src/first.js", 10);
	call_generated(place, ms);
	load(place, 2, "jit_second", "/src/second.js", 20);
	call_generated(place, ms);
	if (argc > 3) {
		move(place, place + 1024, 2);
		call_generated(place + 1024, ms);
	}
	write_record(3, NULL, NULL);
	return close(dump) != 0;
}
