#include "code/binaries/vdso_image.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/limits.h"

struct tally_bytes vdso_image_own(void)
{
	struct tally_bytes image = {NULL, 0};
	char *maps;
	size_t len;
	if (file_read("/proc/self/maps", LIMIT_SMALL_FILE, &maps, &len, NULL) != TALLY_OK)
		return image;
	struct tally_str rest = {maps, len};
	struct tally_str line;
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		struct tally_str start_text;
		struct tally_str end_text;
		uint64_t start;
		uint64_t end;
		if (!str_ends_with(line, STR("[vdso]")) || !str_next(&line, '-', &start_text) ||
			!str_next(&line, ' ', &end_text) || !str_to_u64(start_text, 16, &start) ||
			!str_to_u64(end_text, 16, &end))
			continue;
		image = (struct tally_bytes){(const uint8_t *)(uintptr_t)start, (size_t)(end - start)};
	}
	free(maps);
	return image;
}
