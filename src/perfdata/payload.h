/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload.h - handles the bytes that follow some records without being part of them: hardware traces, descriptions of
 * tracepoints. A pure function.
 */
#ifndef PERFDATA_PAYLOAD_H
#define PERFDATA_PAYLOAD_H

#include <stdbool.h>

#include "abi/record.h"

/* The number of payload bytes that follow a record. */
uint64_t perfdata_payload_bytes(const struct record *record, bool is_pipe);

#endif
