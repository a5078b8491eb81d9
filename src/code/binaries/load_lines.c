#include "code/binaries/load_lines.h"

#include "base/error.h"
#include "code/binaries/binary_file.h"

/* The file with the debug sections, and whether it was opened for this. */
static bool choose_file(
	const struct binary_store_options *options, struct binary_entry *entry, struct source_lines_files *files)
{
	if (binary_file_has_debug_info(entry->image)) {
		files->image = entry->image;
		files->path = entry->used_path;
		return true;
	}
	if (entry->debug && binary_file_has_debug_info(entry->debug)) {
		files->image = entry->debug;
		files->path = entry->used_path;
		return true;
	}
	files->owned = binary_file_debug(entry, options, DEBUG_FILE_INFO, &files->path);
	files->image = files->owned;
	return files->owned != NULL;
}

enum tally_status load_lines(
	const struct binary_store_options *options, struct binary_entry *entry, struct tally_error *err)
{
	struct source_lines_files files = {.root = options->symfs ? options->symfs : ""};
	if (entry->lines_are_looked_for)
		return TALLY_OK;
	entry->lines_are_looked_for = true;
	if (!entry->image || entry->key.kind != BINARY_USER || !entry->used_path ||
		!choose_file(options, entry, &files))
		return TALLY_OK;
	files.supplement = binary_file_supplement(entry, files.image, files.path);
	files.package = binary_file_package(entry, files.image, files.path);
	enum tally_status status = source_lines_open(&files, &entry->lines, err);
	return status == TALLY_NOMEM ? status : TALLY_OK;
}
