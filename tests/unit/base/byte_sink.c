#include "base/byte_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "unit_test.h"

#define LINES 100000 /* beyond the mark where text goes out, several times */

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

/* gzread reads what is not packed as it is. */
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
		cmocka_unit_test(nothing_is_a_whole_file_too),
		cmocka_unit_test(a_full_disk_is_told),
		cmocka_unit_test(lost_memory_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
