/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload.h - computes the size of the data that follows some records without being part of them: hardware traces and
 * descriptions of tracepoints. Pure.
 */
#ifndef PERFDATA_PAYLOAD_H
#define PERFDATA_PAYLOAD_H

#include <stdbool.h>

#include "abi/record.h"

/* Returns the number of payload bytes that follow a record; 0 for most types. Tracing data follows a record only in a
 * pipe stream. */
uint64_t perfdata_payload_bytes(const struct record *record, bool is_pipe);

#endif
