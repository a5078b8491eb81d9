/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vdso_image.h - provides the bytes of this machine's vDSO, which the kernel maps into every process. 32-bit programs
 * on a 64-bit kernel have another vDSO than this process; it is mapped in a child process, because only a process
 * without a vDSO may map one. That vDSO is not available on kernels without CONFIG_CHECKPOINT_RESTORE and on machines
 * other than x86-64.
 *
 *	if (vdso_image_open(STR(VDSO_NAME_32), &image)) ...	vdso_image_close(&image);
 */
#ifndef CODE_BINARIES_VDSO_IMAGE_H
#define CODE_BINARIES_VDSO_IMAGE_H

#include "base/bytes.h"

#define VDSO_NAME    "[vdso]"
#define VDSO_NAME_32 "[vdso32]" /* perf's name of the vDSO of 32-bit programs on a 64-bit machine. */

struct vdso_image {
	struct tally_bytes bytes;
	uint8_t *owned; /* The buffer to free; NULL if bytes is the mapping of this process. */
};

/* Returns false if this machine has no vDSO with that name, or it is not available. */
bool vdso_image_open(struct tally_str name, struct vdso_image *image);
void vdso_image_close(struct vdso_image *image);

#endif
