/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/bpf_pinned_filter.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "bpf/bpf_load.h"
#include "kernel/system/fd_limit.h"
#include "tally_config.h"

#define BPF_FS		       "/sys/fs/bpf"
#define PROGRAM_PATH	       PINNED_FILTER_PATH "/program"
#define FILTERS_PATH	       PINNED_FILTER_PATH "/filters"
#define DROPPED_PATH	       PINNED_FILTER_PATH "/dropped"
#define PIN_WHAT	       "record --setup-filter"
#define BPF_PINNED_FILTER_WHAT "--filter"

#if HAVE_BPF
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/pinned_filter.skel.h"

/* ---- pinning, by root ---- */

static enum tally_status bpf_pinned_filter_step(int failed, const char *step, const char *path, struct tally_error *err)
{
	int errnum = failed < -1 ? -failed : errno;
	return error_set_errno(
		err, errnum == EPERM || errnum == EACCES ? TALLY_DENIED : TALLY_IO, errnum, "%s '%s'", step, path);
}

static enum tally_status bpf_pinned_filter_remove(bool *was_there, struct tally_error *err)
{
	static const char *const paths[] = {PROGRAM_PATH, FILTERS_PATH, DROPPED_PATH};
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		if (unlink(paths[i]) != 0 && errno != ENOENT)
			return bpf_pinned_filter_step(-1, PIN_WHAT ": cannot remove", paths[i], err);
	*was_there = rmdir(PINNED_FILTER_PATH) == 0;
	if (!*was_there && errno != ENOENT)
		return bpf_pinned_filter_step(-1, PIN_WHAT ": cannot remove", PINNED_FILTER_PATH, err);
	return TALLY_OK;
}

enum tally_status bpf_pinned_filter_unpin(struct tally_error *err)
{
	bool was_there = false;
	enum tally_status status = bpf_pinned_filter_remove(&was_there, err);
	if (status == TALLY_OK && !was_there)
		return error_set(
			err, TALLY_NOT_FOUND, PIN_WHAT " unpin: nothing is pinned at '%s'", PINNED_FILTER_PATH);
	return status;
}

/* Lets all users traverse the BPF file system if it is mounted for root alone, as in Debian's containers. */
static enum tally_status bpf_pinned_filter_open_way(const char **opened_path, struct tally_error *err)
{
	struct statfs fs;
	struct stat root;
	if (statfs(BPF_FS, &fs) != 0 || (uint64_t)fs.f_type != BPF_FS_MAGIC)
		return error_set(err, TALLY_NOT_FOUND,
			PIN_WHAT " needs the BPF file system, which is not mounted at " BPF_FS
				 ": mount -t bpf bpf " BPF_FS);
	if (stat(BPF_FS, &root) != 0)
		return bpf_pinned_filter_step(-1, PIN_WHAT ": cannot look at", BPF_FS, err);
	if (root.st_mode & S_IXOTH)
		return TALLY_OK;
	if (chmod(BPF_FS, (root.st_mode & 07777) | S_IXGRP | S_IXOTH) != 0)
		return bpf_pinned_filter_step(-1, PIN_WHAT ": cannot let users pass through", BPF_FS, err);
	*opened_path = BPF_FS;
	return TALLY_OK;
}

/* Users may only write the map of filters, so that they cannot list the keys of other users. */
static enum tally_status bpf_pinned_filter_put(const struct pinned_filter_bpf *s, struct tally_error *err)
{
	const struct {
		int fd;
		const char *path;
		mode_t mode;
	} pins[] = {{bpf_program__fd(s->progs.filter_pinned), PROGRAM_PATH, 0666},
		{bpf_map__fd(s->maps.filters), FILTERS_PATH, 0622}, {bpf_map__fd(s->maps.dropped), DROPPED_PATH, 0644}};
	if (mkdir(PINNED_FILTER_PATH, 0700) != 0)
		return bpf_pinned_filter_step(-1, PIN_WHAT ": cannot make", PINNED_FILTER_PATH, err);
	for (size_t i = 0; i < ARRAY_LEN(pins); i++) {
		int failed = bpf_obj_pin(pins[i].fd, pins[i].path);
		if (failed || chmod(pins[i].path, pins[i].mode) != 0)
			return bpf_pinned_filter_step(failed ? failed : -1, PIN_WHAT ": cannot pin", pins[i].path, err);
	}
	return chmod(PINNED_FILTER_PATH, 0755) == 0
		       ? TALLY_OK
		       : bpf_pinned_filter_step(-1, PIN_WHAT ": cannot open to users", PINNED_FILTER_PATH, err);
}

enum tally_status bpf_pinned_filter_pin(
	const struct kernel_seam *kernel, const char **opened_path, struct tally_error *err)
{
	bool was_there;
	*opened_path = NULL;
	enum tally_status status = bpf_open(kernel, PIN_WHAT, err);
	if (status != TALLY_OK)
		return status;
	struct pinned_filter_bpf *skeleton = pinned_filter_bpf__open();
	if (!skeleton)
		return bpf_explain(kernel, PIN_WHAT, errno, err);
	status = bpf_load(kernel, PIN_WHAT, skeleton->skeleton, err);
	if (status != TALLY_OK)
		error_prefix(err, PIN_WHAT " needs Linux 6.3 or newer");
	if (status == TALLY_OK)
		status = bpf_pinned_filter_open_way(opened_path, err);
	if (status == TALLY_OK)
		status = bpf_pinned_filter_remove(&was_there, err);
	if (status == TALLY_OK) {
		status = bpf_pinned_filter_put(skeleton, err);
		if (status != TALLY_OK)
			(void)bpf_pinned_filter_remove(&was_there, NULL);
	}
	pinned_filter_bpf__destroy(skeleton);
	return status;
}

/* ---- filtering, by users ---- */

struct bpf_pinned_filter {
	int program, filters, dropped;
	uint64_t key;
	bool has_entry;
	uint32_t slot;
	uint64_t dropped_before;
	VEC(int) links; /* One for each event descriptor. */
};

/* A directory that another user has made may lead to maps that this other user can read. */
static enum tally_status bpf_pinned_filter_trust(struct tally_error *err)
{
	struct stat folder;
	if (lstat(PINNED_FILTER_PATH, &folder) != 0)
		return error_set_errno(
			err, TALLY_NOT_FOUND, errno, BPF_PINNED_FILTER_WHAT ": '%s'", PINNED_FILTER_PATH);
	if (!S_ISDIR(folder.st_mode) || folder.st_uid != 0 || (folder.st_mode & (S_IWGRP | S_IWOTH)))
		return error_set(err, TALLY_DENIED, BPF_PINNED_FILTER_WHAT ": '%s' is not root's alone: it is not used",
			PINNED_FILTER_PATH);
	return TALLY_OK;
}

static enum tally_status bpf_pinned_filter_get_map(
	const char *path, uint32_t flags, const struct bpf_map_info *wanted, int *fd, struct tally_error *err)
{
	LIBBPF_OPTS(bpf_obj_get_opts, options, .file_flags = flags);
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);
	*fd = bpf_obj_get_opts(path, &options);
	if (*fd < 0)
		return bpf_pinned_filter_step(*fd, BPF_PINNED_FILTER_WHAT ": cannot open", path, err);
	if (bpf_obj_get_info_by_fd(*fd, &info, &size) != 0 || info.type != wanted->type ||
		info.key_size != wanted->key_size || info.value_size != wanted->value_size ||
		info.max_entries < wanted->max_entries)
		return error_set(err, TALLY_INVALID,
			BPF_PINNED_FILTER_WHAT
			": '%s' is of another version of tally: root can pin it anew (record --setup-filter pin)",
			path);
	return TALLY_OK;
}

static enum tally_status bpf_pinned_filter_get(struct bpf_pinned_filter *p, struct tally_error *err)
{
	static const struct bpf_map_info filters = {.type = BPF_MAP_TYPE_HASH,
		.key_size = sizeof(uint64_t),
		.value_size = sizeof(struct pinned_filter_entry),
		.max_entries = 1};
	static const struct bpf_map_info dropped = {.type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(uint64_t),
		.max_entries = PINNED_FILTER_SLOTS};
	enum tally_status status = bpf_pinned_filter_trust(err);
	if (status != TALLY_OK)
		return status;
	p->program = bpf_obj_get(PROGRAM_PATH);
	if (p->program < 0)
		return bpf_pinned_filter_step(p->program, BPF_PINNED_FILTER_WHAT ": cannot open", PROGRAM_PATH, err);
	status = bpf_pinned_filter_get_map(FILTERS_PATH, BPF_F_WRONLY, &filters, &p->filters, err);
	return status == TALLY_OK ? bpf_pinned_filter_get_map(DROPPED_PATH, BPF_F_RDONLY, &dropped, &p->dropped, err)
				  : status;
}

static enum tally_status bpf_pinned_filter_enter(
	struct bpf_pinned_filter *p, const struct sample_filter_list *filter, struct tally_error *err)
{
	struct pinned_filter_entry *entry = calloc(1, sizeof(*entry));
	if (!entry)
		return error_nomem(err);
	memcpy(entry->items, filter->items, filter->count * sizeof(*filter->items));
	entry->item_count = (uint32_t)filter->count;
	int failed = -EIO;
	bool is_random = getrandom(&p->key, sizeof(p->key), 0) == sizeof(p->key) &&
			 getrandom(&p->slot, sizeof(p->slot), 0) == sizeof(p->slot) && p->key != 0;
	p->slot &= PINNED_FILTER_SLOTS - 1;
	entry->slot = p->slot;
	if (is_random)
		failed = bpf_map_update_elem(p->filters, &p->key, entry, BPF_NOEXIST);
	free(entry);
	if (failed == -E2BIG)
		return error_set(err, TALLY_LIMIT,
			BPF_PINNED_FILTER_WHAT
			": all %d filters of users are in use: root can pin them anew (record --setup-filter pin)",
			PINNED_FILTER_ENTRIES);
	if (failed)
		return bpf_pinned_filter_step(failed, BPF_PINNED_FILTER_WHAT ": cannot write", FILTERS_PATH, err);
	p->has_entry = true;
	p->dropped_before = bpf_pinned_filter_dropped(p);
	return TALLY_OK;
}

enum tally_status bpf_pinned_filter_create(
	const struct sample_filter_list *filter, struct bpf_pinned_filter **pinned, struct tally_error *err)
{
	struct bpf_pinned_filter *p = calloc(1, sizeof(*p));
	if (!p)
		return error_nomem(err);
	p->program = p->filters = p->dropped = -1;
	enum tally_status status = bpf_pinned_filter_get(p, err);
	if (status == TALLY_OK)
		status = bpf_pinned_filter_enter(p, filter, err);
	if (status == TALLY_OK)
		*pinned = p;
	else
		bpf_pinned_filter_destroy(p);
	return status;
}

enum tally_status bpf_pinned_filter_attach(struct bpf_pinned_filter *p, int fd, struct tally_error *err)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .perf_event.bpf_cookie = p->key);
	int link = bpf_link_create(p->program, fd, BPF_PERF_EVENT, &options);
	if (link == -EMFILE && fd_limit_make_room(1))
		link = bpf_link_create(p->program, fd, BPF_PERF_EVENT, &options);
	if (link < 0)
		return bpf_pinned_filter_step(
			link, BPF_PINNED_FILTER_WHAT ": the kernel does not attach", PROGRAM_PATH, err);
	if (vec_push(&p->links, link))
		return TALLY_OK;
	close(link);
	return error_nomem(err);
}

uint64_t bpf_pinned_filter_dropped(const struct bpf_pinned_filter *p)
{
	uint64_t count = 0;
	return bpf_map_lookup_elem(p->dropped, &p->slot, &count) == 0 ? count - p->dropped_before : 0;
}

void bpf_pinned_filter_destroy(struct bpf_pinned_filter *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->links.len; i++)
		close(p->links.items[i]);
	vec_free(&p->links);
	if (p->has_entry)
		(void)bpf_map_delete_elem(p->filters, &p->key);
	const int fds[] = {p->program, p->filters, p->dropped};
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(p);
}
#else
enum tally_status bpf_pinned_filter_pin(
	const struct kernel_seam *kernel, const char **opened_path, struct tally_error *err)
{
	*opened_path = NULL;
	return bpf_open(kernel, PIN_WHAT, err);
}

enum tally_status bpf_pinned_filter_unpin(struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, PIN_WHAT ": this build has no BPF programs");
}

enum tally_status bpf_pinned_filter_create(
	const struct sample_filter_list *filter, struct bpf_pinned_filter **pinned, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, BPF_PINNED_FILTER_WHAT ": this build has no BPF programs");
}

enum tally_status bpf_pinned_filter_attach(struct bpf_pinned_filter *pinned, int fd, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, BPF_PINNED_FILTER_WHAT ": this build has no BPF programs");
}

uint64_t bpf_pinned_filter_dropped(const struct bpf_pinned_filter *pinned)
{
	return 0;
}

void bpf_pinned_filter_destroy(struct bpf_pinned_filter *pinned)
{
}
#endif
