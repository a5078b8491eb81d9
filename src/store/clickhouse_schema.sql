-- SPDX-License-Identifier: Apache-2.0
-- The tables of a ClickHouse store, version 1. tally makes those that are missing. For replicas and shards, make them
-- with other engines before (ReplicatedMergeTree and ReplicatedReplacingMergeTree below Distributed tables of these
-- names); tally uses the tables that it finds.
--
-- Times are nanoseconds since 1970. Windows go by day, so that old days are dropped as a whole; samples are ordered by
-- series, since queries choose series first. A batch counts once `batches` has its row: of several rows with the same
-- batch, the smallest attempt counts, and rows of other attempts in `windows` and `samples` do not.
-- Attempts begin with the second in which they began, so after an hour it is known which of them count: the others go
-- to `void_attempts`, and `sweeps` has the number below which that was done.
-- Labels, binaries, locations and stacks are kept once for each period of 28 days in which they occur.
CREATE TABLE IF NOT EXISTS about (name String, value String)
ENGINE = MergeTree() ORDER BY name;

CREATE TABLE IF NOT EXISTS batches (
  batch FixedString(16), attempt UInt64, begin_ns UInt64, end_ns UInt64, samples UInt64, labels UInt64,
  lost_samples UInt64, dropped_batches UInt64, dropped_samples UInt64,
  own_cpu_ns UInt64, own_bytes UInt64, frequency_hz UInt64)
ENGINE = MergeTree() PARTITION BY intDiv(begin_ns, 86400000000000) ORDER BY (begin_ns, batch);

-- before any row of an attempt is inserted; attempt: seconds since 1970, shifted by 31 bits, and a random number
CREATE TABLE IF NOT EXISTS attempts (attempt UInt64, begin_ns UInt64, batch FixedString(16))
ENGINE = MergeTree() PARTITION BY intDiv(attempt, 185542587187200) ORDER BY attempt;

CREATE TABLE IF NOT EXISTS void_attempts (attempt UInt64)
ENGINE = MergeTree() ORDER BY attempt;

CREATE TABLE IF NOT EXISTS sweeps (up_to UInt64)
ENGINE = MergeTree() ORDER BY up_to;

CREATE TABLE IF NOT EXISTS series (series UInt64, day UInt32, event String, labels UInt64, thread_labels UInt64)
ENGINE = ReplacingMergeTree() PARTITION BY day ORDER BY series;

CREATE TABLE IF NOT EXISTS windows (
  series UInt64, begin_ns UInt64, attempt UInt64, samples UInt64, running_ns UInt64, waiting_ns UInt64)
ENGINE = MergeTree() PARTITION BY intDiv(begin_ns, 86400000000000) ORDER BY (series, begin_ns);

CREATE TABLE IF NOT EXISTS samples (
  series UInt64, begin_ns UInt64, attempt UInt64, stack UInt64, state Int8, pid Int32, tid Int32,
  comm String, process_comm String, count UInt64, value UInt64)
ENGINE = MergeTree() PARTITION BY intDiv(begin_ns, 86400000000000) ORDER BY (series, begin_ns);

CREATE TABLE IF NOT EXISTS label_sets (period UInt32, labels UInt64, name String, value String)
ENGINE = ReplacingMergeTree() PARTITION BY period ORDER BY (labels, name);

CREATE TABLE IF NOT EXISTS binaries (
  period UInt32, binary UInt64, name String, path String, build_id String, is_kernel UInt8)
ENGINE = ReplacingMergeTree() PARTITION BY period ORDER BY binary;

-- frames: the innermost inlined call first, the function itself last
CREATE TABLE IF NOT EXISTS locations (
  period UInt32, location UInt64, binary UInt64, address UInt64, level UInt8,
  functions Array(String), files Array(String), lines Array(UInt32), starts Array(UInt64), sizes Array(UInt64),
  is_start Array(UInt8), has_symbols UInt8)
ENGINE = ReplacingMergeTree(has_symbols) PARTITION BY period ORDER BY location;

-- locations: the innermost one first
CREATE TABLE IF NOT EXISTS stacks (period UInt32, stack UInt64, locations Array(UInt64))
ENGINE = ReplacingMergeTree() PARTITION BY period ORDER BY stack;
