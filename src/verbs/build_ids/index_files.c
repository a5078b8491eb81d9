/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/build_ids/index_files.h"

#include <stdio.h>

#include "cli/cli.h"
#include "code/binary_store.h"
#include "tasks/session/symbol_notes.h"
#include "tasks/session/symbol_options.h"

static enum tally_status index_files_make(struct binary_store *store, struct tally_str path, struct tally_error *err)
{
	const struct binary_key key = {.kind = BINARY_USER, .path = path, .pid = -1};
	uint32_t id;
	enum tally_status status = binary_store_add(store, &key, &id, err);
	if (status != TALLY_OK)
		return status;
	binary_store_load(store, &id, 1);
	status = binary_store_load_all_places(store, id, err);
	return status == TALLY_OK ? binary_store_save_places(store, err) : status;
}

bool index_file(const struct cli *cli, struct tally_str path, bool is_verbose)
{
	struct binary_store *store;
	struct tally_error err;
	const struct binary_store_options options = symbol_options_of(cli, &(struct symbol_options){0}, NULL);
	enum tally_status status = binary_store_create(&options, &store, &err);
	if (status == TALLY_OK) {
		status = index_files_make(store, path, &err);
		symbol_notes_print_doubts(cli, store);
		binary_store_destroy(store);
	}
	if (status != TALLY_OK)
		(void)cli_failf(cli, "Couldn't index %.*s: %s", (int)path.len, path.data, err.text);
	else if (is_verbose)
		cli_sayf("Indexing %.*s: Ok\n", (int)path.len, path.data);
	return status == TALLY_OK;
}
