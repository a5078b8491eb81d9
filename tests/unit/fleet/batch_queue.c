/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_queue.c - replaces the functions of libc with which the queue changes its directory, so that the n-th of
 * these steps can end the process, or fail.
 */
#include "fleet/batch_queue.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit_test.h"

enum { KILL_NEVER = -1, KILLED = 77 };
static struct {
	bool is_counting;
	long step; /* Number of steps so far. */
	long kill_at; /* Before this step the process ends. */
	long fail_from, fail_until; /* Steps in this range fail. */
	bool fails_to_write; /* Writes fail as on a full disk. */
} disk = {.kill_at = KILL_NEVER};

/* Returns whether the step fails, with errno set. */
static bool step_fails(bool is_write)
{
	if (!disk.is_counting)
		return false;
	long step = disk.step++;
	if (step == disk.kill_at)
		_exit(KILLED);
	bool fails = (step >= disk.fail_from && step < disk.fail_until) || (is_write && disk.fails_to_write);
	errno = ENOSPC;
	return fails;
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	return step_fails(false) ? -1 : (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
}
int unlinkat(int fd, const char *name, int flags)
{
	return step_fails(false) ? -1 : (int)syscall(SYS_unlinkat, fd, name, flags);
}
int fsync(int fd)
{
	/* Nothing is synced, because the test does not simulate a crash of the machine. */
	return step_fails(false) ? -1 : 0;
}
ssize_t write(int fd, const void *data, size_t len)
{
	return step_fails(true) ? -1 : (ssize_t)syscall(SYS_write, fd, data, len);
}

static const struct batch_queue_limits roomy = {.max_bytes = 1 << 20};

struct folder {
	char path[64];
};

static struct folder make_folder(void)
{
	struct folder f = {"/tmp/tally-queue-XXXXXX"};
	assert_non_null(mkdtemp(f.path));
	return f;
}

static void remove_folder(const struct folder *f)
{
	DIR *dir = opendir(f->path);
	for (struct dirent *file; dir && (file = readdir(dir));)
		(void)syscall(SYS_unlinkat, dirfd(dir), file->d_name, 0);
	if (dir)
		closedir(dir);
	if (rmdir(f->path) == 0)
		return;
	char command[200];
	snprintf(command, sizeof(command), "rm -rf %s", f->path);
	assert_int_equal(system(command), 0);
}

static struct batch_queue *opened(const struct folder *f, const struct batch_queue_limits *limits)
{
	struct batch_queue *q;
	struct tally_error err;
	if (batch_queue_open(f->path, limits, &q, &err) != TALLY_OK)
		fail_msg("%s", err.text);
	return q;
}

/* Batch i has i + 1 samples, and begins at 1000 + 10 * i. */
static struct batch_queue_item item_of(struct batch_queue *q, unsigned i)
{
	struct batch_queue_item item = {.id = {(uint8_t)i, 0xab},
		.begin_ns = 1000 + 10 * (uint64_t)i,
		.samples = i + 1,
		.lost_samples = 2,
		.reported = batch_queue_pending(q)};
	return item;
}

static enum tally_status add(struct batch_queue *q, unsigned i, size_t bytes)
{
	static const uint8_t zeros[4096];
	struct batch_queue_item item = item_of(q, i);
	return batch_queue_add(q, &item, (struct tally_bytes){zeros, bytes}, NULL);
}

static void check_oldest(struct batch_queue *q, unsigned i)
{
	struct batch_queue_item item;
	struct text bytes = {0};
	assert_int_equal(batch_queue_oldest(q, &item, &bytes, NULL), TALLY_OK);
	assert_int_equal(item.id[0], i);
	assert_int_equal(item.samples, i + 1);
	text_deinit(&bytes);
}

static void check_pending(struct batch_queue *q, uint64_t batches, uint64_t samples, uint64_t lost)
{
	struct batch_queue_losses pending = batch_queue_pending(q);
	assert_int_equal(pending.batches, batches);
	assert_int_equal(pending.samples, samples);
	assert_int_equal(pending.lost_samples, lost);
}

static void batches_come_back_in_order(void **state)
{
	struct folder f = make_folder();
	struct batch_queue *q = opened(&f, &roomy);
	struct batch_queue_item item, third = item_of(q, 3);
	struct text bytes = {0};
	third.begin_ns = UINT64_MAX;
	assert_int_equal(batch_queue_oldest(q, &item, &bytes, NULL), TALLY_END);
	assert_int_equal(batch_queue_add(q, &third, (struct tally_bytes){(const uint8_t *)"abc", 3}, NULL), TALLY_OK);
	assert_int_equal(add(q, 2, 20), TALLY_OK);
	assert_int_equal(add(q, 1, 10), TALLY_OK);
	batch_queue_close(q);
	q = opened(&f, &roomy);
	assert_int_equal(batch_queue_figures(q).batches, 3);
	assert_int_equal(batch_queue_figures(q).bytes, 33);
	assert_int_equal(batch_queue_figures(q).samples, 2 + 3 + 4);
	check_oldest(q, 1);
	check_oldest(q, 2); /* The first one is being sent. */
	batch_queue_sent(q, (uint8_t[FLEET_BATCH_ID_BYTES]){1, 0xab});
	batch_queue_later(q, (uint8_t[FLEET_BATCH_ID_BYTES]){2, 0xab});
	check_oldest(q, 2);
	batch_queue_sent(q, (uint8_t[FLEET_BATCH_ID_BYTES]){2, 0xab});
	batch_queue_sent(q, (uint8_t[FLEET_BATCH_ID_BYTES]){9, 9}); /* There is no such batch. */
	assert_int_equal(batch_queue_oldest(q, &item, &bytes, NULL), TALLY_OK);
	assert_true(str_equal(text_view(&bytes), STR("abc")));
	assert_memory_equal(&item, &third, sizeof(item));
	batch_queue_sent(q, item.id);
	assert_int_equal(batch_queue_oldest(q, &item, &bytes, NULL), TALLY_END);
	check_pending(q, 0, 0, 0);
	batch_queue_close(q);
	text_deinit(&bytes);
	remove_folder(&f);
}

static void too_many_bytes(void **state)
{
	struct folder f = make_folder();
	struct batch_queue *q = opened(&f, &(struct batch_queue_limits){.max_bytes = 250});
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(add(q, i, 100), TALLY_OK);
	check_oldest(q, 0); /* A batch that is being sent is not dropped. */
	assert_int_equal(add(q, 2, 100), TALLY_OK);
	check_pending(q, 1, 2, 2);
	assert_int_equal(batch_queue_figures(q).bytes, 200);
	batch_queue_later(q, (uint8_t[FLEET_BATCH_ID_BYTES]){0, 0xab});
	assert_int_equal(add(q, 3, 100), TALLY_OK); /* This batch reports the loss of batch 1; batch 0 is dropped. */
	check_pending(q, 1, 1, 2);
	batch_queue_close(q);
	q = opened(&f, &(struct batch_queue_limits){.max_bytes = 250});
	check_pending(q, 1, 1, 2);
	check_oldest(q, 2);
	batch_queue_refused(q, (uint8_t[FLEET_BATCH_ID_BYTES]){2, 0xab});
	check_pending(q, 2, 4, 4);
	check_oldest(q, 3);
	/* The losses that it would have reported are pending again. */
	batch_queue_refused(q, (uint8_t[FLEET_BATCH_ID_BYTES]){3, 0xab});
	check_pending(q, 4, 10, 8);
	assert_int_equal(add(q, 4, 300), TALLY_OK); /* Larger than the queue. */
	check_pending(q, 5, 15, 10);
	assert_int_equal(batch_queue_figures(q).batches, 0);
	batch_queue_close(q);
	remove_folder(&f);
}

static void too_old_batches(void **state)
{
	struct folder f = make_folder();
	struct batch_queue *q = opened(&f, &(struct batch_queue_limits){.max_bytes = 1 << 20, .max_age_ns = 25});
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(add(q, i, 10), TALLY_OK);
	check_oldest(q, 2);
	batch_queue_close(q);
	q = opened(&f, &(struct batch_queue_limits){.max_bytes = 1 << 20, .max_age_ns = 5});
	check_oldest(q, 4);
	batch_queue_close(q);
	remove_folder(&f);
}

static void one_process_owns_it(void **state)
{
	struct folder f = make_folder();
	struct batch_queue *q = opened(&f, &roomy), *other = NULL;
	struct tally_error err;
	assert_int_equal(batch_queue_open(f.path, &roomy, &other, &err), TALLY_INVALID);
	assert_non_null(strstr(err.text, "another process uses the queue"));
	assert_null(other);
	batch_queue_close(q);
	batch_queue_close(opened(&f, &roomy));
	remove_folder(&f);
}

static void wrong_items(void **state)
{
	struct folder f = make_folder();
	struct batch_queue *q = opened(&f, &roomy);
	struct batch_queue_item item = item_of(q, 0);
	assert_int_equal(add(q, 0, 1), TALLY_OK);
	assert_int_equal(add(q, 0, 1), TALLY_INVALID);
	item.id[0] = 1;
	item.reported.samples = 1;
	assert_int_equal(batch_queue_add(q, &item, (struct tally_bytes){NULL, 0}, NULL), TALLY_INVALID);
	check_pending(q, 0, 0, 0);
	batch_queue_close(q);
	remove_folder(&f);
}

/* Files of other programs, of later versions, and of an earlier process that was killed. */
static void other_files_in_the_folder(void **state)
{
	static const char *const names[] = {"README", "new.tmp", "00000000000000001000-00.1.2.3.4.5.6.batch",
		"1000-00ab0000000000000000000000000000.1.2.0.0.0.0.batch",
		"00000000000000001000-00ab0000000000000000000000000000.01.2.0.0.0.0.batch",
		"00000000000000001000-00AB0000000000000000000000000000.1.2.0.0.0.0.batch", "losses.x"};
	struct folder f = make_folder();
	char path[300];
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", f.path, names[i]);
		fclose(fopen(path, "w"));
	}
	snprintf(path, sizeof(path), "%s/00000000000000001000-00ab0000000000000000000000000000.1.2.0.0.0.0.batch",
		f.path);
	assert_int_equal(mkdir(path, 0700), 0);
	batch_queue_close(opened(&f, &roomy));
	struct batch_queue *q = opened(&f, &roomy);
	assert_int_equal(batch_queue_figures(q).batches, 0);
	check_pending(q, 0, 0, 0);
	snprintf(path, sizeof(path), "%s/new.tmp", f.path);
	assert_int_not_equal(access(path, F_OK), 0);
	snprintf(path, sizeof(path), "%s/README", f.path);
	assert_int_equal(access(path, F_OK), 0);
	batch_queue_close(q);
	remove_folder(&f);
}

/* Others remove the files of batches and of losses while the queue is open. */
static void files_that_others_removed(void **state)
{
	struct folder f = make_folder();
	struct batch_queue *q = opened(&f, &(struct batch_queue_limits){.max_bytes = 25});
	char command[200];
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(add(q, i, 10), TALLY_OK);
	snprintf(command, sizeof(command), "rm -f %s/*-00ab* %s/losses.*", f.path, f.path);
	assert_int_equal(system(command), 0);
	check_oldest(q, 1);
	check_pending(q, 1, 1, 2);
	assert_int_equal(add(q, 2, 10), TALLY_OK);
	batch_queue_close(q);
	q = opened(&f, &roomy);
	assert_int_equal(batch_queue_figures(q).batches, 2);
	check_pending(q, 0, 0, 0);
	batch_queue_close(q);
	remove_folder(&f);
}

static void folders_that_cannot_be_used(void **state)
{
	struct folder f = make_folder();
	struct batch_queue *q;
	struct tally_error err;
	char path[100];
	snprintf(path, sizeof(path), "%s/a/b/queue", f.path);
	assert_int_equal(batch_queue_open(path, &roomy, &q, NULL), TALLY_OK);
	batch_queue_close(q);
	snprintf(path, sizeof(path), "%s/a/b/queue/lock", f.path);
	assert_int_equal(batch_queue_open(path, &roomy, &q, &err), TALLY_IO);
	assert_non_null(strstr(err.text, "cannot open the folder"));
	remove_folder(&f);
}

/* If the disk is full, old batches are dropped; the last one is lost, and counted. */
static void a_full_disk(void **state)
{
	struct folder f = make_folder();
	struct batch_queue *q = opened(&f, &roomy);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(add(q, i, 10), TALLY_OK);
	disk.is_counting = disk.fails_to_write = true;
	assert_int_equal(add(q, 3, 10), TALLY_IO);
	disk.is_counting = disk.fails_to_write = false;
	check_pending(q, 4, 1 + 2 + 3 + 4, 8);
	batch_queue_close(q);
	q = opened(&f, &roomy);
	check_pending(q, 4, 10, 8);
	assert_int_equal(batch_queue_figures(q).batches, 0);
	batch_queue_close(q);
	remove_folder(&f);
}

/* Runs in a process with a private mount namespace. */
static void fill_small_disk(const struct folder *f)
{
	char path[100];
	struct batch_queue *q = opened(f, &roomy);
	for (unsigned i = 0; i < 30; i++)
		assert_int_equal(add(q, i, 4096), TALLY_OK);
	struct batch_queue_figures figures = batch_queue_figures(q);
	assert_in_range(figures.batches, 5, 16);
	batch_queue_close(q);
	q = opened(f, &roomy);
	uint64_t batches = batch_queue_pending(q).batches, samples = batch_queue_pending(q).samples;
	struct batch_queue_item item;
	struct text bytes = {0};
	while (batch_queue_oldest(q, &item, &bytes, NULL) == TALLY_OK) {
		batches += 1 + item.reported.batches;
		samples += item.samples + item.reported.samples;
		batch_queue_sent(q, item.id);
	}
	assert_int_equal(batches, 30);
	assert_int_equal(samples, 30 * 31 / 2);
	snprintf(path, sizeof(path), "%s/filler", f->path);
	FILE *filler = fopen(path, "w");
	while (filler && fputc('x', filler) != EOF && fflush(filler) == 0)
		;
	if (filler)
		fclose(filler);
	struct batch_queue_losses before = batch_queue_pending(q);
	assert_int_equal(add(q, 30, 4096), TALLY_IO);
	batch_queue_close(q);
	q = opened(f, &roomy);
	assert_int_equal(batch_queue_pending(q).batches, before.batches + 1);
	assert_int_equal(batch_queue_pending(q).samples, before.samples + 31);
	assert_int_equal(batch_queue_figures(q).batches, 0);
	batch_queue_close(q);
	text_deinit(&bytes);
}

static void a_small_disk(void **state)
{
	struct folder f = make_folder();
	int how;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
			mount("tmpfs", f.path, "tmpfs", 0, "size=64k") != 0)
			_exit(KILLED);
		fill_small_disk(&f);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	remove_folder(&f);
	if (WIFEXITED(how) && WEXITSTATUS(how) == KILLED)
		skip_because("this user may not mount a file system");
	assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

#define BATCHES 25

struct ledger { /* Shared with the process that is killed. */
	/* Numbers of batches for which batch_queue_add was called, and for which it returned. */
	unsigned started, added;
	bool is_delivered[BATCHES];
	struct batch_queue_item delivered[BATCHES];
};

static struct ledger *make_ledger(void)
{
	struct ledger *l = mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(l != MAP_FAILED);
	return l;
}

static void deliver(struct batch_queue *q, struct ledger *l, bool is_refused)
{
	struct batch_queue_item item;
	struct text bytes = {0};
	if (batch_queue_oldest(q, &item, &bytes, NULL) == TALLY_OK) {
		assert_int_equal(bytes.len, 100);
		if (is_refused) {
			batch_queue_refused(q, item.id);
		} else {
			l->delivered[item.id[0]] = item;
			l->is_delivered[item.id[0]] = true;
			batch_queue_sent(q, item.id);
		}
	}
	text_deinit(&bytes);
}

static void add_next(struct batch_queue *q, struct ledger *l)
{
	l->started++;
	(void)add(q, l->added, 100);
	l->added++;
}

/* Adds more batches than are sent; some are refused. */
static void work(struct batch_queue *q, struct ledger *l, bool is_full)
{
	for (unsigned i = 0; i < BATCHES - 1; i++) {
		disk.fails_to_write = is_full && i % 8 > 5;
		add_next(q, l);
		if (i % 3 == 2)
			deliver(q, l, i % 6 == 5);
	}
}

/* Delivers the rest, and checks that the delivered and the pending losses add up to everything that was added. */
static void check_sums(const struct folder *f, struct ledger *l)
{
	struct batch_queue *q = opened(f, &roomy);
	while (batch_queue_figures(q).batches > 0)
		deliver(q, l, false);
	struct batch_queue_losses sum = batch_queue_pending(q);
	for (unsigned i = 0; i < BATCHES; i++)
		if (l->is_delivered[i]) {
			sum.batches += 1 + l->delivered[i].reported.batches;
			sum.samples += l->delivered[i].samples + l->delivered[i].reported.samples;
			sum.lost_samples += l->delivered[i].lost_samples + l->delivered[i].reported.lost_samples;
		}
	/* The batch that was being added may be there or not. */
	unsigned whole = sum.batches == l->started ? l->started : l->added;
	assert_int_equal(sum.batches, whole);
	assert_int_equal(sum.samples, whole * (whole + 1) / 2);
	assert_int_equal(sum.lost_samples, 2 * whole);
	batch_queue_close(q);
	munmap(l, sizeof(*l));
}

static const struct batch_queue_limits narrow = {.max_bytes = 550, .max_age_ns = 65};

/* Ends a process at each of its steps in turn. */
static void kill_at_each_step(bool is_full)
{
	bool is_done = false;
	for (long step = 0; !is_done; step++) {
		struct folder f = make_folder();
		struct ledger *l = make_ledger();
		int how;
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			struct batch_queue *q;
			disk.kill_at = step;
			disk.is_counting = true;
			if (batch_queue_open(f.path, &narrow, &q, NULL) != TALLY_OK)
				_exit(1);
			work(q, l, is_full);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &how, 0), child);
		assert_true(WIFEXITED(how));
		assert_true(WEXITSTATUS(how) == KILLED || WEXITSTATUS(how) == 0);
		is_done = WEXITSTATUS(how) == 0;
		check_sums(&f, l);
		remove_folder(&f);
	}
}

static void killed_at_each_step(void **state)
{
	kill_at_each_step(false);
}

static void killed_at_each_step_on_a_full_disk(void **state)
{
	kill_at_each_step(true);
}

/* One or several successive steps fail; the process continues, and the disk works again in the end. */
static void each_step_fails(void **state)
{
	for (long count = 1; count <= 16; count *= 4)
		for (long step = 0, steps = 1; step < steps; step++) {
			struct folder f = make_folder();
			struct ledger *l = make_ledger();
			struct batch_queue *q = opened(&f, &narrow);
			disk.step = 0;
			disk.fail_from = step;
			disk.fail_until = step + count;
			disk.is_counting = true;
			work(q, l, false);
			steps = disk.step;
			disk.is_counting = false;
			add_next(q, l);
			batch_queue_close(q);
			check_sums(&f, l);
			remove_folder(&f);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batches_come_back_in_order),
		cmocka_unit_test(too_many_bytes),
		cmocka_unit_test(too_old_batches),
		cmocka_unit_test(one_process_owns_it),
		cmocka_unit_test(wrong_items),
		cmocka_unit_test(other_files_in_the_folder),
		cmocka_unit_test(files_that_others_removed),
		cmocka_unit_test(folders_that_cannot_be_used),
		cmocka_unit_test(a_full_disk),
		cmocka_unit_test(a_small_disk),
		cmocka_unit_test(killed_at_each_step),
		cmocka_unit_test(killed_at_each_step_on_a_full_disk),
		cmocka_unit_test(each_step_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
