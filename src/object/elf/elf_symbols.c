/*
 * elf_symbols.c - the symbols of an image that may name code: functions, IFUNCs, objects and labels, and PLT entries.
 */
#include "base/error.h"
#include "base/limits.h"
#include "object/elf/elf_internal.h"

#define PLT_HEADER_BYTES 16 /* x86-64, the first entry pushes the link map; aarch64: 32 */
#define PLT_ENTRY_BYTES	 16

struct table {
	Elf_Data *data;
	size_t count;
	size_t strings; /* section index of the names */
};

static bool find_table(const struct elf_image *image, unsigned type, struct table *table)
{
	Elf_Scn *section = NULL;
	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || header.sh_type != type || header.sh_entsize == 0)
			continue;
		table->data = elf_getdata(section, NULL);
		if (!table->data)
			continue;
		table->count = table->data->d_size / (size_t)header.sh_entsize;
		if (table->count > LIMIT_SYMBOLS_PER_OBJECT)
			table->count = LIMIT_SYMBOLS_PER_OBJECT;
		table->strings = header.sh_link;
		return true;
	}
	return false;
}

bool elf_image_has_symtab(const struct elf_image *image)
{
	struct table table;
	return find_table(image, SHT_SYMTAB, &table);
}

static char binding_letter(unsigned info)
{
	switch (GELF_ST_BIND(info)) {
	case STB_LOCAL:
		return 'l';
	case STB_WEAK:
		return 'w';
	case STB_GNU_UNIQUE:
		return 'u';
	default:
		return 'g';
	}
}

/* Marks between code and data that ARM and RISC-V assemblers leave: "$x", "$d.12". */
static bool is_mapping_symbol(const struct elf_image *image, const char *name)
{
	if (name[0] != '$' || name[1] == '\0')
		return false;
	return image->machine == EM_ARM || image->machine == EM_AARCH64 || image->machine == EM_RISCV;
}

/* A label counts where code or data lies, by the section's name: as perf does it. */
static bool is_wanted_label(const struct elf_image *image, const GElf_Sym *symbol)
{
	if (GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE || symbol->st_shndx == SHN_ABS ||
		symbol->st_shndx >= SHN_LORESERVE)
		return false;
	unsigned visibility = GELF_ST_VISIBILITY(symbol->st_other);
	if (visibility == STV_HIDDEN || visibility == STV_INTERNAL)
		return false;
	size_t names;
	GElf_Shdr header;
	Elf_Scn *section = elf_getscn(image->elf, symbol->st_shndx);
	if (!section || !gelf_getshdr(section, &header) || elf_getshdrstrndx(image->elf, &names) != 0)
		return false;
	const char *name = elf_strptr(image->elf, names, header.sh_name);
	return name && (strstr(name, "text") || strstr(name, "data"));
}

static bool is_wanted(const struct elf_image *image, const GElf_Sym *symbol, bool *is_function)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	*is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
	if (symbol->st_name == 0 || symbol->st_shndx == SHN_UNDEF)
		return false;
	return *is_function || type == STT_OBJECT || is_wanted_label(image, symbol);
}

enum tally_status elf_image_symbols(struct elf_image *image, struct elf_symbol_list *list, struct tally_error *err)
{
	struct table table;
	if (!find_table(image, SHT_SYMTAB, &table) && !find_table(image, SHT_DYNSYM, &table))
		return TALLY_OK;
	for (size_t i = 1; i < table.count; i++) {
		GElf_Sym symbol;
		bool is_function;
		if (!gelf_getsym(table.data, (int)i, &symbol) || !is_wanted(image, &symbol, &is_function))
			continue;
		const char *name = elf_strptr(image->elf, table.strings, symbol.st_name);
		if (!name || *name == '\0' || is_mapping_symbol(image, name))
			continue;
		struct elf_symbol out = {
			.vaddr = symbol.st_value,
			.size = symbol.st_size,
			.name = name,
			.binding = binding_letter(symbol.st_info),
			.is_function = is_function,
		};
		/* Bit 0 of an ARM function says that it is Thumb code. */
		if (image->machine == EM_ARM && is_function)
			out.vaddr &= ~UINT64_C(1);
		if (!vec_push(&list->symbols, out))
			return error_nomem(err);
	}
	return TALLY_OK;
}

static uint64_t plt_header_bytes(const struct elf_image *image)
{
	switch (image->machine) {
	case EM_AARCH64:
		return 32;
	case EM_ARM:
		return 20;
	default:
		return PLT_HEADER_BYTES;
	}
}

static const char *plt_target(struct elf_image *image, const struct table *dynsym, uint64_t info)
{
	GElf_Sym symbol;
	size_t index = GELF_R_SYM(info);
	if (index == 0 || index >= dynsym->count || !gelf_getsym(dynsym->data, (int)index, &symbol))
		return NULL;
	const char *name = elf_strptr(image->elf, dynsym->strings, symbol.st_name);
	return name && *name ? arena_printf(&image->arena, "%s@plt", name) : NULL;
}

enum tally_status elf_image_plt(struct elf_image *image, struct elf_symbol_list *list, struct tally_error *err)
{
	GElf_Shdr plt;
	GElf_Shdr second;
	GElf_Shdr relocations;
	struct table dynsym;
	Elf_Scn *rel = elf_internal_section(image, ".rela.plt", &relocations);
	if (!rel)
		rel = elf_internal_section(image, ".rel.plt", &relocations);
	if (!rel || relocations.sh_entsize == 0 || !elf_internal_section(image, ".plt", &plt) ||
		!find_table(image, SHT_DYNSYM, &dynsym))
		return TALLY_OK;
	Elf_Data *data = elf_getdata(rel, NULL);
	if (!data)
		return TALLY_OK;
	/* With IBT, calls go through .plt.sec, which has no header. */
	bool has_second = elf_internal_section(image, ".plt.sec", &second) != NULL;
	const GElf_Shdr *section = has_second ? &second : &plt;
	uint64_t address = section->sh_addr + (has_second ? 0 : plt_header_bytes(image));
	uint64_t end = section->sh_addr + section->sh_size;
	size_t count = data->d_size / (size_t)relocations.sh_entsize;
	for (size_t i = 0; i < count && address < end; i++, address += PLT_ENTRY_BYTES) {
		GElf_Rela with_addend;
		GElf_Rel plain;
		uint64_t info;
		if (relocations.sh_type == SHT_RELA && gelf_getrela(data, (int)i, &with_addend))
			info = with_addend.r_info;
		else if (relocations.sh_type == SHT_REL && gelf_getrel(data, (int)i, &plain))
			info = plain.r_info;
		else
			break;
		const char *name = plt_target(image, &dynsym, info);
		if (!name)
			continue;
		struct elf_symbol out = {
			.vaddr = address, .size = PLT_ENTRY_BYTES, .name = name, .binding = 'g', .is_function = true};
		if (!vec_push(&list->symbols, out))
			return error_nomem(err);
	}
	return TALLY_OK;
}
