#include "cli/tui_terminal.h"
#include "base/error.h"
#include "tally_config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if HAVE_NCURSES
/* clang-format off */
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>
#undef columns /* its names of capabilities are plain words */
/* clang-format on */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <termios.h>

#define ESCAPE_DELAY_MS 25 /* a key's sequence comes at once; more would be felt when Esc is pressed */

struct tui_terminal {
	SCREEN *screen;
	bool has_colours, is_utf8;
};

static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGABRT, SIGFPE, SIGILL};
#define DEADLY_COUNT (sizeof(deadly) / sizeof(deadly[0]))

/* What a handler needs: a process has one terminal. Set before the handlers are. */
static struct {
	struct termios found;
	struct sigaction before[DEADLY_COUNT], bus_before;
	char bytes[256];
	size_t length;
	char stack[64 << 10]; /* an overflow of the real one is a crash too */
} restore;

static void restore_terminal(void)
{
	ssize_t written = write(STDOUT_FILENO, restore.bytes, restore.length);
	(void)written;
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &restore.found);
}

static void die(int number)
{
	restore_terminal();
	signal(number, SIG_DFL);
	raise(number);
}

/* A file that was cut while it is mapped is mended by who knew of it; if not, this ends the program. */
static void bus_error(int number, siginfo_t *info, void *context)
{
	struct sigaction now;
	if (restore.bus_before.sa_flags & SA_SIGINFO)
		restore.bus_before.sa_sigaction(number, info, context);
	else
		signal(number, SIG_DFL);
	if (sigaction(number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
		restore_terminal();
}

static int collect(int character)
{
	if (restore.length < sizeof(restore.bytes))
		restore.bytes[restore.length++] = (char)character;
	return character;
}

static void collect_capability(const char *name)
{
	char *value = tigetstr((char *)(uintptr_t)name);
	if (value && value != (char *)-1)
		tputs(value, 1, collect);
}

static void catch_signals(void)
{
	stack_t stack = {.ss_sp = restore.stack, .ss_size = sizeof(restore.stack)};
	struct sigaction action = {.sa_handler = die, .sa_flags = SA_ONSTACK};
	struct sigaction bus = {.sa_sigaction = bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	restore.length = 0;
	collect_capability("sgr0");
	collect_capability("cnorm");
	collect_capability("rmkx");
	collect_capability("rmcup");
	(void)sigaltstack(&stack, NULL);
	sigemptyset(&action.sa_mask);
	sigemptyset(&bus.sa_mask);
	for (size_t i = 0; i < DEADLY_COUNT; i++)
		(void)sigaction(deadly[i], &action, &restore.before[i]);
	(void)sigaction(SIGBUS, &bus, &restore.bus_before);
}

static void release_signals(void)
{
	stack_t none = {.ss_flags = SS_DISABLE};
	for (size_t i = 0; i < DEADLY_COUNT; i++)
		(void)sigaction(deadly[i], &restore.before[i], NULL);
	(void)sigaction(SIGBUS, &restore.bus_before, NULL);
	(void)sigaltstack(&none, NULL);
}

bool tui_terminal_is_usable(void)
{
	const char *name = getenv("TERM");
	int problem;
	if (!name || !*name || isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1)
		return false;
	if (setupterm(NULL, STDOUT_FILENO, &problem) != OK)
		return false;
	const char *address = tigetstr("cup");
	(void)del_curterm(cur_term);
	return address && address != (const char *)-1;
}

/* Ctrl-C comes as a key, so that leaving by it is leaving; Ctrl-Z and Ctrl-\ stay what they are. */
static void set_modes(void)
{
	struct termios modes;
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	curs_set(0);
	set_escdelay(ESCAPE_DELAY_MS);
	if (tcgetattr(STDIN_FILENO, &modes) == 0) {
		modes.c_cc[VINTR] = _POSIX_VDISABLE;
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &modes);
		def_prog_mode();
	}
}

static bool start_colours(void)
{
	const char *unwanted = getenv("NO_COLOR");
	if ((unwanted && *unwanted) || !has_colors() || start_color() != OK)
		return false;
	use_default_colors();
	init_pair(GRID_WARM, COLOR_GREEN, -1);
	init_pair(GRID_HOT, COLOR_RED, -1);
	return true;
}

enum tally_status tui_terminal_open(struct tui_terminal **terminal, struct tally_error *err)
{
	struct tui_terminal *made = calloc(1, sizeof(*made));
	if (!made)
		return error_nomem(err);
	setlocale(LC_CTYPE, "");
	/* The terminal knows its size better than LINES and COLUMNS, which stay what they were when it changes. */
	unsetenv("LINES");
	unsetenv("COLUMNS");
	made->is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (tcgetattr(STDIN_FILENO, &restore.found) == 0)
		made->screen = newterm(NULL, stdout, stdin);
	if (!made->screen) {
		const char *name = getenv("TERM");
		free(made);
		return error_set(err, TALLY_UNSUPPORTED,
			"the terminal '%s' is not known, or cannot show screens: use --stdio", name ? name : "");
	}
	set_modes();
	catch_signals();
	made->has_colours = start_colours();
	*terminal = made;
	return TALLY_OK;
}

void tui_terminal_close(struct tui_terminal *terminal)
{
	endwin();
	release_signals();
	delscreen(terminal->screen);
	free(terminal);
}

void tui_terminal_size(const struct tui_terminal *terminal, unsigned *rows, unsigned *columns)
{
	int height, width;
	(void)terminal;
	getmaxyx(stdscr, height, width);
	*rows = height > 0 ? (unsigned)height : 0;
	*columns = width > 0 ? (unsigned)width : 0;
}

static attr_t attributes(const struct tui_terminal *terminal, unsigned style)
{
	attr_t selected = style & GRID_SELECTED ? A_REVERSE : A_NORMAL;
	switch ((enum grid_style)(style & ~(unsigned)GRID_SELECTED)) {
	case GRID_TITLE:
	case GRID_BOTTOM:
		return selected | A_REVERSE;
	case GRID_HEADER:
		return selected | A_BOLD;
	case GRID_HOT:
		return terminal->has_colours ? selected : selected | A_BOLD;
	case GRID_WARM:
	case GRID_MATCH:
		return selected | A_BOLD | A_REVERSE;
	case GRID_CURSOR:
		return selected | A_BOLD | A_UNDERLINE;
	case GRID_PLAIN:
	case GRID_SOURCE:
	case GRID_BLOCKS:
	case GRID_BLOCKS_END:
	case GRID_STYLE_COUNT:
		break;
	}
	return selected;
}

void tui_terminal_show(struct tui_terminal *terminal, const struct grid *grid)
{
	erase();
	for (unsigned row = 0; row < grid->rows; row++) {
		for (unsigned column = 0; column < grid->columns; column++) {
			const struct grid_cell *cell = &grid->cells[(size_t)row * grid->columns + column];
			unsigned style = cell->style & ~(unsigned)GRID_SELECTED;
			bool is_coloured = terminal->has_colours && (style == GRID_HOT || style == GRID_WARM);
			wchar_t text[2] = {(wchar_t)cell->character, 0};
			cchar_t shown;
			if (!cell->character)
				continue;
			if (cell->character >= 0x80 && !terminal->is_utf8)
				text[0] = '?';
			if (setcchar(&shown, text, attributes(terminal, cell->style), (short)(is_coloured ? style : 0),
				    NULL) == OK)
				(void)mvadd_wch((int)row, (int)column, &shown);
		}
	}
	refresh();
}

void tui_terminal_redraw(struct tui_terminal *terminal)
{
	(void)terminal;
	clearok(curscr, TRUE);
}

static uint32_t function_key(int code)
{
	switch (code) {
	case KEY_UP:
		return TUI_KEY_UP;
	case KEY_DOWN:
		return TUI_KEY_DOWN;
	case KEY_LEFT:
		return TUI_KEY_LEFT;
	case KEY_RIGHT:
		return TUI_KEY_RIGHT;
	case KEY_PPAGE:
		return TUI_KEY_PAGE_UP;
	case KEY_NPAGE:
		return TUI_KEY_PAGE_DOWN;
	case KEY_HOME:
		return TUI_KEY_HOME;
	case KEY_END:
		return TUI_KEY_END;
	case KEY_BACKSPACE:
		return TUI_KEY_BACKSPACE;
	case KEY_BTAB:
		return TUI_KEY_BACK_TAB;
	case KEY_ENTER:
		return '\r';
	case KEY_F(1):
		return TUI_KEY_F1;
	case KEY_RESIZE:
		return TUI_KEY_RESIZE;
	default:
		return TUI_KEY_OTHER;
	}
}

static bool is_gone(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	return poll(&input, 1, 0) > 0 && (input.revents & (POLLHUP | POLLERR | POLLNVAL));
}

/* By bytes: the library's reader of characters waits for more after bytes that are none. */
static uint32_t read_character(const struct tui_terminal *terminal, int first)
{
	int tail = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
	uint32_t character = (uint32_t)first & (0x3fu >> tail);
	if (!terminal->is_utf8 || first < 0xc2 || first > 0xf4)
		return TUI_KEY_OTHER;
	for (int i = 0; i < tail; i++) {
		int next = getch();
		if (next < 0x80 || next > 0xbf) {
			if (next != ERR)
				ungetch(next);
			return TUI_KEY_OTHER;
		}
		character = character << 6 | ((uint32_t)next & 0x3f);
	}
	return character < TUI_KEY_NONE ? character : TUI_KEY_OTHER;
}

uint32_t tui_terminal_key(struct tui_terminal *terminal)
{
	errno = 0;
	int code = getch();
	if (code == ERR)
		return errno != EINTR && is_gone() ? TUI_KEY_CLOSED : TUI_KEY_NONE;
	if (code > 0xff)
		return function_key(code);
	return code < 0x80 ? (uint32_t)code : read_character(terminal, code);
}

uint32_t tui_terminal_key_now(struct tui_terminal *terminal)
{
	timeout(0);
	uint32_t key = tui_terminal_key(terminal);
	timeout(-1);
	return key;
}

#else /* no ncursesw in the build */

bool tui_terminal_is_usable(void)
{
	return false;
}

enum tally_status tui_terminal_open(struct tui_terminal **terminal, struct tally_error *err)
{
	(void)terminal;
	return error_set(err, TALLY_UNSUPPORTED, "built without ncursesw: use --stdio");
}

void tui_terminal_close(struct tui_terminal *terminal)
{
	(void)terminal;
}

void tui_terminal_size(const struct tui_terminal *terminal, unsigned *rows, unsigned *columns)
{
	(void)terminal;
	*rows = *columns = 0;
}

void tui_terminal_show(struct tui_terminal *terminal, const struct grid *grid)
{
	(void)terminal;
	(void)grid;
}

void tui_terminal_redraw(struct tui_terminal *terminal)
{
	(void)terminal;
}

uint32_t tui_terminal_key(struct tui_terminal *terminal)
{
	(void)terminal;
	return TUI_KEY_CLOSED;
}

uint32_t tui_terminal_key_now(struct tui_terminal *terminal)
{
	(void)terminal;
	return TUI_KEY_CLOSED;
}
#endif
