/* SPDX-License-Identifier: Apache-2.0 */
#include "base/byte_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "unit_test.h"

#define LINES 100000 /* Enough text to exceed the flush threshold several times. */

static int temporary(char *path)
{
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	return fd;
}

static void write_lines(struct byte_sink *sink)
{
	for (unsigned i = 0; i < LINES; i++) {
		text_printf(&sink->text, "line %u\n", i);
		byte_sink_step(sink);
		assert_true(sink->text.len <= TEXT_FLUSH_BYTES);
	}
}

/* gzread returns uncompressed files unchanged. */
static void what_goes_in_comes_out(void **state)
{
	for (int is_packed = 0; is_packed < 2; is_packed++) {
		char path[] = "/tmp/byte_sink_XXXXXX";
		struct byte_sink sink;
		int fd = temporary(path);
		byte_sink_init(&sink, fd, is_packed);
		write_lines(&sink);
		assert_int_equal(byte_sink_finish(&sink, path, NULL), TALLY_OK);
		assert_int_equal(lseek(fd, 0, SEEK_END), sink.out.bytes);
		close(fd);
		gzFile file = gzopen(path, "r");
		assert_non_null(file);
		assert_int_equal(gzdirect(file), !is_packed);
		char line[64], wanted[64];
		for (unsigned i = 0; i < LINES; i++) {
			assert_non_null(gzgets(file, line, sizeof(line)));
			snprintf(wanted, sizeof(wanted), "line %u\n", i);
			assert_string_equal(line, wanted);
		}
		assert_null(gzgets(file, line, sizeof(line)));
		assert_int_equal(gzclose(file), Z_OK);
		unlink(path);
	}
}

/* Some lines are larger than the flush threshold, and hardly compress. */
static void write_mixture(struct byte_sink *sink)
{
	uint64_t bits = 1;
	for (unsigned i = 0; i < 40; i++) {
		for (unsigned k = 0; k < (i % 8 == 0 ? TEXT_FLUSH_BYTES : TEXT_FLUSH_BYTES / 16); k++) {
			bits = bits * UINT64_C(6364136223846793005) + 1442695040888963407;
			text_char(&sink->text, (char)(i % 2 ? bits >> 60 : bits >> 56));
		}
		byte_sink_step(sink);
	}
}

static size_t packed_mixture(uint8_t *bytes, size_t cap)
{
	char path[] = "/tmp/byte_sink_XXXXXX";
	struct byte_sink sink;
	int fd = temporary(path);
	byte_sink_init(&sink, fd, true);
	write_mixture(&sink);
	assert_int_equal(byte_sink_finish(&sink, path, NULL), TALLY_OK);
	ssize_t len = pread(fd, bytes, cap, 0);
	assert_true(len > 0 && (size_t)len < cap);
	close(fd);
	unlink(path);
	return (size_t)len;
}

static void packed_bytes_are_the_same_on_one_cpu(void **state)
{
	const size_t cap = 32 * TEXT_FLUSH_BYTES;
	uint8_t *many = malloc(cap), *one = malloc(cap), *plain = malloc(cap);
	cpu_set_t all, first;
	assert_true(many && one && plain);
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&first);
	for (size_t cpu = 0; CPU_COUNT(&first) == 0; cpu++)
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &first);
	size_t len = packed_mixture(many, cap);
	assert_int_equal(sched_setaffinity(0, sizeof(first), &first), 0);
	assert_int_equal(packed_mixture(one, cap), len);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	assert_memory_equal(many, one, len);

	/* The output is a single gzip member, because some readers support only one. */
	z_stream z = {.next_in = many, .avail_in = (uInt)len, .next_out = plain, .avail_out = (uInt)cap};
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	assert_int_equal(z.total_out, 5 * TEXT_FLUSH_BYTES + 35 * (TEXT_FLUSH_BYTES / 16));
	assert_int_equal(inflateEnd(&z), Z_OK);
	free(many);
	free(one);
	free(plain);
}

static void nothing_is_a_whole_file_too(void **state)
{
	char path[] = "/tmp/byte_sink_XXXXXX", byte;
	struct byte_sink sink;
	int fd = temporary(path);
	byte_sink_init(&sink, fd, true);
	assert_int_equal(byte_sink_finish(&sink, path, NULL), TALLY_OK);
	close(fd);
	gzFile file = gzopen(path, "r");
	assert_false(gzdirect(file));
	assert_int_equal(gzread(file, &byte, 1), 0);
	assert_int_equal(gzclose(file), Z_OK);
	unlink(path);
}

static void a_full_disk_is_told(void **state)
{
	int fd = open("/dev/full", O_WRONLY);
	if (fd < 0)
		skip();
	for (int is_packed = 0; is_packed < 2; is_packed++) {
		struct byte_sink sink;
		struct tally_error err;
		byte_sink_init(&sink, fd, is_packed);
		write_lines(&sink);
		assert_true(byte_sink_is_lost(&sink));
		assert_int_equal(byte_sink_finish(&sink, "there", &err), TALLY_IO);
		assert_non_null(strstr(err.text, "there"));
	}
	close(fd);
}

static void lost_memory_is_told(void **state)
{
	struct byte_sink sink;
	byte_sink_init(&sink, -1, false);
	sink.text.failed = true;
	assert_true(byte_sink_is_lost(&sink));
	assert_int_equal(byte_sink_finish(&sink, "", NULL), TALLY_NOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_goes_in_comes_out),
		cmocka_unit_test(packed_bytes_are_the_same_on_one_cpu),
		cmocka_unit_test(nothing_is_a_whole_file_too),
		cmocka_unit_test(a_full_disk_is_told),
		cmocka_unit_test(lost_memory_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
