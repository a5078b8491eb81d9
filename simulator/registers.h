/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registers.h - accesses the registers of the architecture for samples, and defines where the guest state has the
 * stack pointer.
 */
#ifndef SIMULATOR_REGISTERS_H
#define SIMULATOR_REGISTERS_H

#include "core.h"
#include "stream.h"

#if defined(VGA_amd64)
#define SIM_MACHINE	   62u /* EM_X86_64 */
#define SIM_REGISTERS	   SIM_REGISTERS_X86_64
#define SIM_REGISTER_COUNT 18u
#define SIM_SP_OFFSET	   ((Int)offsetof(VexGuestAMD64State, guest_RSP))
#define SIM_LINK_OFFSET	   (-1) /* Return addresses are on the stack. */
#define SIM_STATE_BEGIN	   ((UInt)offsetof(VexGuestAMD64State, guest_RAX))
#define SIM_STATE_END	   ((UInt)offsetof(VexGuestAMD64State, guest_FS_CONST))
#elif defined(VGA_arm64)
#define SIM_MACHINE	   183u /* EM_AARCH64 */
#define SIM_REGISTERS	   SIM_REGISTERS_ARM64
#define SIM_REGISTER_COUNT 33u
#define SIM_SP_OFFSET	   ((Int)offsetof(VexGuestARM64State, guest_XSP))
#define SIM_LINK_OFFSET	   ((Int)offsetof(VexGuestARM64State, guest_X30))
#define SIM_STATE_BEGIN	   ((UInt)offsetof(VexGuestARM64State, guest_X0))
#define SIM_STATE_END	   ((UInt)offsetof(VexGuestARM64State, guest_Q0))
#else
#error "the tool knows the registers of x86-64 and AArch64 only"
#endif

/* Stores the registers of the thread in the order of SIM_REGISTERS, with the given IP, and with the given stack pointer
 * unless it is 0. Returns the stack pointer. The values are those that translated code has stored last; where the tool
 * samples, it requests that Vex stores them. */
Addr sim_registers_read(ThreadId tid, Addr ip, Addr sp, ULong registers[SIM_REGISTER_COUNT]);
/* Returns whether this is a string instruction with a repeat prefix, of which Vex translates one
 * iteration at a time. */
Bool sim_is_repeated(Addr ip, UInt bytes);

#endif
