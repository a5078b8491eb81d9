/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickhouse_schema.h - makes the tables of a ClickHouse store, or checks those that exist. clickhouse_schema.sql
 * describes them.
 *
 * Tables that exist already are used as they are, so that an administrator can make them with other engines, for
 * replicas and shards.
 *
 *	clickhouse_schema_make(client, true, id, err);
 */
#ifndef STORE_CLICKHOUSE_SCHEMA_H
#define STORE_CLICKHOUSE_SCHEMA_H

#include "store/clickhouse_client.h"
#include "store/store.h"

#define CLICKHOUSE_DAY_NS (UINT64_C(86400) * 1000000000)
/* Labels, binaries, locations and stacks are kept once for each period in which they occur, so that those that only old
 * windows use leave with their period. */
#define CLICKHOUSE_PERIOD_DAYS 28

/* may_write: makes what is missing. id: the store's. */
TALLY_MUST_CHECK enum tally_status clickhouse_schema_make(
	struct clickhouse_client *client, bool may_write, uint8_t id[STORE_ID_BYTES], struct tally_error *err);

#endif
