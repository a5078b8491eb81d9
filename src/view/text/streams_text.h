/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams_text.h - prints the hot streams of two recordings side by side: those of both, then those of only one. The
 * layout is that of `perf diff --stream`.
 *
 *	streams_text(&out, &before, &after);
 */
#ifndef VIEW_TEXT_STREAMS_TEXT_H
#define VIEW_TEXT_STREAMS_TEXT_H

#include "base/text.h"
#include "profile/rows/hot_streams.h"

/* The text keeps failures. */
void streams_text(struct text *out, const struct hot_streams *before, const struct hot_streams *after);

#endif
