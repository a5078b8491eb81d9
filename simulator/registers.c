/* SPDX-License-Identifier: Apache-2.0 */
#include "registers.h"

#if defined(VGA_amd64)

Addr sim_registers_read(ThreadId tid, Addr ip, Addr sp, ULong registers[SIM_REGISTER_COUNT])
{
	VexGuestAMD64State state;
	VG_(get_shadow_regs_area)(tid, (UChar *)&state, 0, 0, sizeof state);
	const ULong values[SIM_REGISTER_COUNT] = {state.guest_RAX, state.guest_RBX, state.guest_RCX, state.guest_RDX,
		state.guest_RSI, state.guest_RDI, state.guest_RBP, sp ? sp : state.guest_RSP, ip,
		LibVEX_GuestAMD64_get_rflags(&state), state.guest_R8, state.guest_R9, state.guest_R10, state.guest_R11,
		state.guest_R12, state.guest_R13, state.guest_R14, state.guest_R15};
	VG_(memcpy)(registers, values, sizeof values);
	return registers[7];
}

Bool sim_is_repeated(Addr ip, UInt bytes)
{
	const UChar *code = (const UChar *)ip;
	Bool repeats = False;
	for (UInt i = 0; i < bytes; i++) {
		UChar byte = code[i];
		if (byte == 0xf2 || byte == 0xf3)
			repeats = True;
		else if (byte >= 0xa4 && byte <= 0xaf && byte != 0xa8 && byte != 0xa9)
			return repeats; /* The opcodes of movs, cmps, stos, lods and scas. */
		else if (byte != 0x66 && byte != 0x67 && (byte & 0xf0) != 0x40 && (byte & 0xe7) != 0x26 &&
			 byte != 0x64 && byte != 0x65)
			return False; /* The byte is not a prefix. */
	}
	return False;
}

#elif defined(VGA_arm64)

Addr sim_registers_read(ThreadId tid, Addr ip, Addr sp, ULong registers[SIM_REGISTER_COUNT])
{
	VexGuestARM64State state;
	VG_(get_shadow_regs_area)(tid, (UChar *)&state, 0, 0, sizeof state);
	VG_(memcpy)(registers, &state.guest_X0, 31 * sizeof(ULong));
	registers[31] = sp ? sp : state.guest_XSP;
	registers[32] = ip;
	return registers[31];
}

Bool sim_is_repeated(Addr ip, UInt bytes)
{
	return False;
}

#endif
