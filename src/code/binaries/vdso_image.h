/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vdso_image.h - gives the bytes of this machine's vdso, which the kernel maps into every process. 32-bit programs on a
 * 64-bit kernel have another vdso than this process; it is mapped in a child process, because only a process without a
 * vdso may map it. Kernels without CONFIG_CHECKPOINT_RESTORE, and other machines than x86, give none.
 *
 *	if (vdso_image_open(STR(VDSO_NAME_32), &image)) ...	vdso_image_close(&image);
 */
#ifndef CODE_BINARIES_VDSO_IMAGE_H
#define CODE_BINARIES_VDSO_IMAGE_H

#include "base/bytes.h"

#define VDSO_NAME    "[vdso]"
#define VDSO_NAME_32 "[vdso32]" /* of 32-bit programs on a 64-bit machine, as perf names it */

struct vdso_image {
	struct tally_bytes bytes;
	uint8_t *owned; /* NULL: lives as long as the process */
};

/* False if this machine has none of that name, or it is not available. */
bool vdso_image_open(struct tally_str name, struct vdso_image *image);
void vdso_image_close(struct vdso_image *image);

#endif
