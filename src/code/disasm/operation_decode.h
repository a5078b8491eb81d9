/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_decode.h - declares the decoders that turn capstone's details into an operation, one for each architecture.
 * For the modules of this folder.
 *
 * The caller has set the operation's size and goes_on, and no registers.
 */
#ifndef CODE_DISASM_OPERATION_DECODE_H
#define CODE_DISASM_OPERATION_DECODE_H

#include <capstone/capstone.h>

#include "code/disasm/operation.h"

/* Operands in Intel's order. */
void operation_decode_x86(csh handle, const cs_insn *insn, struct operation *to);
void operation_decode_arm64(csh handle, const cs_insn *insn, struct operation *to);

#endif
