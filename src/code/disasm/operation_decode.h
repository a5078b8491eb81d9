/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_decode.h - declares the decoders that turn capstone's details into an operation, one for each architecture.
 * Private to this directory.
 *
 * The caller sets the operation's size and goes_on, and all registers to OPERATION_NO_REGISTER, before the call.
 */
#ifndef CODE_DISASM_OPERATION_DECODE_H
#define CODE_DISASM_OPERATION_DECODE_H

#include <capstone/capstone.h>

#include "code/disasm/operation.h"

/* Expects operands in Intel order. */
void operation_decode_x86(csh handle, const cs_insn *insn, struct operation *to);
void operation_decode_arm64(csh handle, const cs_insn *insn, struct operation *to);

#endif
