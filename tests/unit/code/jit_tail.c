/* SPDX-License-Identifier: Apache-2.0 */
/* Tests reading a dump of generated code while it grows. */
#include "code/binaries/jit_tail.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/unwind/unwind_table.h"
#include "jitdump_builder.h"
#include "unit_test.h"

#define CODE_LEN 11

static const char code_bytes[] = "\x48\x83\xec\x08\xff\xd6\x48\x83\xc4\x08\xc3";
/* The CFI of sub 8, call, add 8, ret, for code that begins 16 bytes before. */
static const uint8_t frames[] = {20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0,
	0, 20, 0, 0, 0, 28, 0, 0, 0, 0xd0, 0xff, 0xff, 0xff, CODE_LEN, 0, 0, 0, 0, 0x44, 0x0e, 16, 0x46, 0x0e, 8, 0};

struct fixture {
	char path[64];
	int fd;
	struct writer w;
	struct binary_store_options options;
	struct jit_tail *tail;
};

static void begin(struct fixture *f, unsigned machine)
{
	char folder[] = "/tmp/tally-tail-XXXXXX";
	*f = (struct fixture){.fd = -1};
	assert_non_null(mkdtemp(folder));
	snprintf(f->path, sizeof(f->path), "%s/jit-42.dump", folder);
	f->fd = open(f->path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	assert_true(f->fd >= 0);
	jitdump_builder_header(&f->w, 42, 0);
	writer_patch_u32(&f->w, 12, machine);
	struct binary_key key = {.kind = BINARY_JITDUMP, .path = str_from(f->path), .pid = getpid()};
	f->tail = jit_tail_create(&f->options, &key);
	assert_non_null(f->tail);
}

static void end(struct fixture *f)
{
	jit_tail_destroy(f->tail);
	close(f->fd);
	assert_int_equal(unlink(f->path), 0);
	*strrchr(f->path, '/') = '\0';
	assert_int_equal(rmdir(f->path), 0);
	writer_deinit(&f->w);
}

/* Writes the first len bytes of the dump, as if the runtime had written no more yet. */
static void put_file(struct fixture *f, size_t len)
{
	assert_int_equal(ftruncate(f->fd, 0), 0);
	assert_int_equal(pwrite(f->fd, f->w.data, len, 0), len);
	jit_tail_read(f->tail);
}

static void put_function(struct fixture *f, uint64_t address, uint64_t index, bool has_frames)
{
	if (has_frames)
		jitdump_builder_unwinding(&f->w, 1, (const char *)frames, sizeof(frames), 0);
	jitdump_builder_load(&f->w, 1, &(struct jitdump_builder_code){address, index, "f", code_bytes, CODE_LEN});
}

static int64_t cfa_at(struct fixture *f, uint64_t pc)
{
	struct jit_tail_code code;
	if (!jit_tail_find(f->tail, pc, UINT64_MAX, &code))
		return -1;
	assert_true(pc >= code.low && pc < code.high);
	if (!code.table)
		return 0;
	const struct unwind_rule *rule = unwind_table_find(code.table, pc - code.low + JIT_TAIL_BASE);
	return rule ? rule->cfa : -2;
}

static void follows_what_is_written(void **state)
{
	(void)state;
	struct fixture f;
	begin(&f, 62);
	put_function(&f, 0x5000, 1, true);
	size_t first = f.w.len;
	put_function(&f, 0x4000, 2, true);
	put_function(&f, 0x6000, 3, false);
	/* A partial record is ignored until it is complete. */
	for (size_t len = 0; len <= f.w.len; len++) {
		put_file(&f, len);
		assert_int_equal(jit_tail_count(f.tail), len < first		  ? 0
							 : len == f.w.len	  ? 3
							 : cfa_at(&f, 0x4000) > 0 ? 2
										  : 1);
		assert_int_equal(cfa_at(&f, 0x5000), len < first ? -1 : 8);
	}
	assert_int_equal(jit_tail_pid(f.tail), 42);
	assert_int_equal(cfa_at(&f, 0x5004), 16);
	assert_int_equal(cfa_at(&f, 0x500a), 8);
	assert_int_equal(cfa_at(&f, 0x500b), -1);
	assert_int_equal(cfa_at(&f, 0x4fff), -1);
	assert_int_equal(cfa_at(&f, 0x4004), 16);
	assert_int_equal(cfa_at(&f, 0x6000), 0); /* The dump has no unwinding information for this function. */
	assert_int_equal(jit_tail_behind(f.tail), 0);
	struct jit_tail_code a, b;
	assert_true(jit_tail_find(f.tail, 0x4000, 1, &a) && jit_tail_find(f.tail, 0x5000, 1, &b));
	assert_ptr_equal(a.table, b.table); /* The two functions have identical CFI. */
	put_function(&f, 0x7000, 4, true);
	assert_int_equal(pwrite(f.fd, f.w.data, f.w.len, 0), f.w.len);
	assert_true(jit_tail_behind(f.tail) > 0);
	assert_int_equal(cfa_at(&f, 0x7004), -1);
	jit_tail_read(f.tail);
	assert_int_equal(cfa_at(&f, 0x7004), 16);
	end(&f);
}

static void later_code_covers_earlier(void **state)
{
	(void)state;
	struct fixture f;
	begin(&f, 0); /* Machine 0 stands for the machine of this program. */
	put_function(&f, 0x5000, 1, true);
	put_function(&f, 0x5004, 2, false);
	jitdump_builder_move(&f.w, 1, 0x5000, 0x9000, CODE_LEN, 1);
	jitdump_builder_move(&f.w, 1, 0x1234, 0x9100, CODE_LEN, 7); /* There is no code at this address. */
	put_file(&f, f.w.len);
#ifdef __x86_64__
	assert_int_equal(cfa_at(&f, 0x5003), 8);
	assert_int_equal(cfa_at(&f, 0x9004), 16);
#endif
	assert_int_equal(cfa_at(&f, 0x5004), 0);
	assert_int_equal(cfa_at(&f, 0x9100), -1);
	/* The same with many functions, most of which are in the sorted part. */
	for (uint64_t i = 0; i < 5000; i++)
		put_function(&f, 0x100000 + 16 * (i * 7919 % 5000), i, i % 2);
	put_function(&f, 0x100000 + 16 * 77, 1, false);
	put_function(&f, 0x5002, 1, false);
	put_file(&f, f.w.len);
	for (uint64_t i = 0; i < 5000; i++)
		assert_true(cfa_at(&f, 0x100000 + 16 * i) >= 0);
	assert_int_equal(cfa_at(&f, 0x100000 + 16 * 77), 0);
	assert_int_equal(cfa_at(&f, 0x5003), 0);
	assert_true(jit_tail_count(f.tail) <= 5005);
	/* The file was truncated and rewritten. */
	f.w.len = 40;
	put_function(&f, 0x3000, 1, false);
	put_file(&f, f.w.len);
	assert_int_equal(cfa_at(&f, 0x3000), 0);
	assert_int_equal(cfa_at(&f, 0x100000), -1);
	end(&f);
}

static void knows_what_lay_there_before(void **state)
{
	(void)state;
	struct fixture f;
	struct jit_tail_code code;
	begin(&f, 62);
	for (uint64_t time = 10; time <= 40; time += 10) {
		if (time != 20)
			jitdump_builder_unwinding(&f.w, 1, (const char *)frames, sizeof(frames), 0);
		jitdump_builder_load(
			&f.w, time, &(struct jitdump_builder_code){0x5000, time, "f", code_bytes, CODE_LEN});
	}
	put_file(&f, f.w.len);
	assert_false(jit_tail_find(f.tail, 0x5000, 9, &code));
	assert_true(jit_tail_find(f.tail, 0x5000, 10, &code) && code.table);
	assert_true(jit_tail_find(f.tail, 0x5000, 29, &code) && !code.table);
	assert_true(jit_tail_find(f.tail, 0x5000, 30, &code) && code.table);
	/* After sorting, the last two functions at an address are retained. */
	for (uint64_t i = 0; i < 3000; i++)
		put_function(&f, 0x100000 + 16 * i, i, false);
	put_file(&f, f.w.len);
	assert_false(jit_tail_find(f.tail, 0x5000, 29, &code));
	assert_true(jit_tail_find(f.tail, 0x5000, 30, &code) && code.table);
	end(&f);
}

static void takes_no_nonsense(void **state)
{
	(void)state;
	struct fixture f;
	begin(&f, 62);
	writer_patch_u32(&f.w, 4, 2); /* An unknown version. */
	put_function(&f, 0x5000, 1, true);
	put_file(&f, f.w.len);
	assert_int_equal(jit_tail_count(f.tail), 0);
	assert_int_equal(jit_tail_pid(f.tail), 0);
	assert_int_equal(jit_tail_behind(f.tail), 0);
	end(&f);
	begin(&f, 62);
	size_t at = f.w.len;
	jitdump_builder_unwinding(&f.w, 1, (const char *)frames, sizeof(frames), 0);
	writer_patch_u64(&f.w, at + 16, UINT64_MAX); /* Larger than the record. */
	put_function(&f, 0x5000, 1, false);
	at = f.w.len;
	put_function(&f, UINT64_MAX - 4, 2, false); /* Past the end of the address space. */
	at = f.w.len;
	put_function(&f, 0x6000, 3, false);
	writer_patch_u32(&f.w, at + 4, 3); /* An invalid length. */
	put_file(&f, f.w.len);
	assert_int_equal(jit_tail_count(f.tail), 1);
	assert_int_equal(cfa_at(&f, 0x5000), 0);
	assert_int_equal(jit_tail_behind(f.tail), 0);
	end(&f);
	struct binary_key key = {.kind = BINARY_JITDUMP, .path = STR("/nonexistent/jit-1.dump"), .pid = -1};
	struct binary_store_options options = {.symfs = NULL};
	struct jit_tail *tail = jit_tail_create(&options, &key);
	jit_tail_read(tail);
	assert_int_equal(jit_tail_count(tail), 0);
	assert_int_equal(jit_tail_behind(tail), 0);
	jit_tail_destroy(tail);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_what_is_written),
		cmocka_unit_test(later_code_covers_earlier),
		cmocka_unit_test(knows_what_lay_there_before),
		cmocka_unit_test(takes_no_nonsense),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
