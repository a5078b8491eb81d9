/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_expression.h - defines codes for the operators of TRACE_BINARY nodes that are written with two characters, such
 * as <<. An operator of one character is represented by that character.
 *
 *	case TRACE_SHIFT_LEFT: return (uint64_t)a << (b & 63);
 */
#ifndef ANALYSIS_TRACE_EXPRESSION_H
#define ANALYSIS_TRACE_EXPRESSION_H

#include "analysis/trace/trace_format.h"

enum trace_operator {
	TRACE_SHIFT_LEFT = 256,
	TRACE_SHIFT_RIGHT,
	TRACE_LESS_EQUAL,
	TRACE_GREATER_EQUAL,
	TRACE_EQUAL,
	TRACE_UNEQUAL,
	TRACE_AND,
	TRACE_OR
};

#endif
