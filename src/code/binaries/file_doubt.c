/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/file_doubt.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "code/binaries/binary_trail.h"
#include "code/binaries/mapped_file.h"
#include "code/process_files.h"

/* Copies in the cache were found by build ID, and open or mapped files are the original itself; only paths are in
 * doubt. */
static bool is_by_path(
	const struct binary_store_options *options, const struct binary_entry *entry, const struct binary_place *place)
{
	bool is_own_root = !options->symfs || !*options->symfs; /* With --symfs, the user states where the files are. */
	return entry->key.kind == BINARY_USER && entry->key.build_id_size == 0 && is_own_root &&
	       (place->kind == PLACE_PROCESS || (place->kind == PLACE_PATH && place->pid <= 0));
}

static int open_again(const struct binary_place *place)
{
	int fd = -1;
	if (place->kind == PLACE_PROCESS)
		return process_root_open(place->pid, place->inside, &fd, NULL) == TALLY_OK ? fd : -1;
	return open(place->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

bool file_doubt_accept(
	const struct binary_store_options *options, struct binary_entry *entry, const struct binary_place *place)
{
	const struct binary_key *key = &entry->key;
	const struct mapped_file mapped = {
		.major = key->major, .minor = key->minor, .inode = key->inode, .generation = key->generation};
	if (!is_by_path(options, entry, place))
		return true;
	int fd = open_again(place);
	if (fd < 0)
		return true;
	bool is_same = key->inode > 0 && mapped_file_is_same(fd, &mapped);
	bool is_newer = options->recorded_ns > 0 && file_modified_ns(fd) > options->recorded_ns;
	close(fd);
	if (!is_same && entry->is_one_of_several) {
		binary_trail_add(entry, place->source, place->path, BINARY_FOUND_OTHER_FILE, NULL);
		return false;
	}
	entry->is_unproven = is_newer || (key->inode > 0 && !is_same);
	if (entry->is_unproven)
		entry->doubt = is_newer ? "it was modified after the recording" : "it is not the file that was mapped";
	return true;
}
