/*
 * vdso_image.h - this process's own vdso as bytes: the same image that the kernel maps into every process.
 */
#ifndef CODE_BINARIES_VDSO_IMAGE_H
#define CODE_BINARIES_VDSO_IMAGE_H

#include "base/bytes.h"

/* len 0 if there is none. Lives as long as the process. */
struct tally_bytes vdso_image_own(void);

#endif
