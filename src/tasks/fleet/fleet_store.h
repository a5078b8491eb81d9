/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_store.h - sends batches to a store and queries it, whether it is a database on this machine ("sqlite:PATH") or
 * a server ("http://host:7779", "https://host"). Servers of other kinds (destinations.h) cannot be queried.
 *
 * Owned by the caller; not thread-safe. Answers of servers are not trusted.
 *
 *	fleet_store_open(&(struct fleet_store_options){.url = "http://127.0.0.1:7779"}, &store, err);
 *	fleet_store_ask(store, &(struct fleet_question){.query = STR("service=\"api\""), .begin_ns = a, .end_ns = b},
 *		&batch, err);
 *	fleet_store_close(store);
 */
#ifndef TASKS_FLEET_FLEET_STORE_H
#define TASKS_FLEET_FLEET_STORE_H

#include "cli/cli.h"
#include "cli/options.h"
#include "fleet/batch.h"
#include "store/store.h"
#include "tasks/fleet/batch_post.h"

#define FLEET_STORE_USUAL "http://127.0.0.1:7779" /* Default address of serve. */

struct fleet_store_options {
	const char *url; /* NULL for FLEET_STORE_USUAL. */
	const char *token_file, *ca_file; /* For servers; NULL for TALLY_TOKEN, and for the system's certificates. */
	bool may_write; /* A database is created if it does not exist. */
};
/* Table of the options --token-file and --ca-file. */
extern const struct option_table fleet_store_option_table;
#define FLEET_STORE_OPTIONS(type, member) OPTION_GROUP_ROW(&fleet_store_option_table, type, member)

struct fleet_question {
	struct tally_str query; /* See label_query_parse; empty to select everything. */
	uint64_t begin_ns, end_ns; /* Nanoseconds since 1970; selects windows that begin in [begin, end). */
	struct tally_str event; /* Empty for all events. */
	bool by_thread; /* Keeps the samples of threads apart; otherwise threads are merged. */
	/* Merges threads that differ only in other labels than kept_label, or in any labels if that is empty. */
	bool merges_labels;
	struct tally_str kept_label;
};

struct fleet_store;
TALLY_MUST_CHECK enum tally_status fleet_store_open(
	const struct fleet_store_options *options, struct fleet_store **store, struct tally_error *err);
void fleet_store_close(struct fleet_store *store);
/* Returns the URL in the form for messages (url_text.h). */
const char *fleet_store_name(const struct fleet_store *store);
/* Warns if a store that is a file can be read by other users of this machine. */
void fleet_store_warn_exposed(const struct cli *cli, const struct store *store);
/* Works like fleet_store_warn_exposed, for a store that fleet_store_open has opened; does nothing for a server. */
void fleet_store_warn(const struct cli *cli, const struct fleet_store *store);
/* bytes are an encoded batch, which may be compressed. */
TALLY_MUST_CHECK enum tally_status fleet_store_send(
	struct fleet_store *store, struct tally_bytes bytes, struct batch_receipt *receipt, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status fleet_store_ask(struct fleet_store *store, const struct fleet_question *question,
	struct fleet_batch **batch, struct tally_error *err);
/* Calls take for each label name if name is empty, otherwise for each value of this label. */
TALLY_MUST_CHECK enum tally_status fleet_store_labels(struct fleet_store *store, const struct fleet_question *question,
	struct tally_str name, void (*take)(void *context, struct tally_str text), void *context,
	struct tally_error *err);

#endif
