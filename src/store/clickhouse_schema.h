/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickhouse_schema.h - creates the tables of a ClickHouse store, or checks existing ones. clickhouse_schema.sql
 * describes them.
 *
 * Existing tables are used unchanged, so that an administrator can create them with other engines, for replicas and
 * shards.
 *
 *	clickhouse_schema_make(client, true, id, err);
 */
#ifndef STORE_CLICKHOUSE_SCHEMA_H
#define STORE_CLICKHOUSE_SCHEMA_H

#include "store/clickhouse_client.h"
#include "store/store.h"

#define CLICKHOUSE_DAY_NS (UINT64_C(86400) * 1000000000)
/* Labels, binaries, locations and stacks are stored once for each period in which they occur, so that those used only
 * by old windows are removed with their period. */
#define CLICKHOUSE_PERIOD_DAYS 28

/* Checks the tables and reads the ID of the store into id; with may_write, creates missing tables before. */
TALLY_MUST_CHECK enum tally_status clickhouse_schema_make(
	struct clickhouse_client *client, bool may_write, uint8_t id[STORE_ID_BYTES], struct tally_error *err);

#endif
