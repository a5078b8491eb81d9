/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/terminal/tui_terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/output_terminal.h"
#include "cli/progress_line.h"
#include "tally_config.h"

#if HAVE_NCURSES
/* clang-format off */
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>
/* The curses headers define these words as macros, which would also affect later files of a unity build. */
#undef columns
#undef lines
#undef clear_screen
/* clang-format on */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <time.h>

/* The bytes of a key's sequence arrive together; a longer delay would be noticeable after Esc. */
#define ESCAPE_DELAY_MS 25

#define MAX_MOUSE_EVENTS 8 /* ncurses stores as many. */
#define DOUBLE_CLICK_NS	 UINT64_C(400000000)

struct tui_terminal {
	SCREEN *screen;
	bool has_colours, is_utf8;
	uint64_t clicked_ns; /* Time of the last click; 0 after a double click. */
	int clicked_row, clicked_column;
	uint32_t waiting[MAX_MOUSE_EVENTS]; /* Mouse events that have not been returned yet. */
	unsigned waiting_count, waiting_next;
};

static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGABRT, SIGFPE, SIGILL};
#define DEADLY_COUNT (ARRAY_LEN(deadly))

/* Data for signal handlers, set before they are installed. A process has only one terminal. */
static struct {
	struct termios found;
	struct sigaction before[DEADLY_COUNT], bus_before;
	char bytes[256];
	size_t length;
	char stack[64 << 10]; /* Handlers need a separate stack, because a stack overflow is a crash, too. */
} restore;

static void restore_terminal(void)
{
	ssize_t written = write(STDOUT_FILENO, restore.bytes, restore.length);
	(void)written;
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &restore.found);
}

static void tui_terminal_die(int number)
{
	restore_terminal();
	signal(number, SIG_DFL);
	raise(number);
}

/* Handles SIGBUS. The previous handler recovers from truncated mapped files. If it cannot, the program ends, and the
 * terminal is restored. */
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

static int tui_terminal_collect(int character)
{
	if (restore.length < sizeof(restore.bytes))
		restore.bytes[restore.length++] = (char)character;
	return character;
}

static void collect_capability(const char *name)
{
	char *value = tigetstr((char *)(uintptr_t)name);
	if (value && value != (char *)-1)
		tputs(value, 1, tui_terminal_collect);
}

static void catch_signals(void)
{
	stack_t stack = {.ss_sp = restore.stack, .ss_size = sizeof(restore.stack)};
	struct sigaction action = {.sa_handler = tui_terminal_die, .sa_flags = SA_ONSTACK};
	struct sigaction bus = {.sa_sigaction = bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	restore.length = 0;
	/* Disables mouse reporting by xterm's sequences, which all terminals with a mouse understand. */
	if (tigetstr((char *)(uintptr_t) "kmous") && has_mouse())
		for (const char *c = "\x1b[?1006;1000l"; *c; c++)
			tui_terminal_collect(*c);
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

/* Ctrl-C is delivered as a key, so that the program ends regularly, and so is Ctrl-S, which would stop the screen;
 * Ctrl-Z and Ctrl-\ keep their meaning. */
static void set_modes(void)
{
	struct termios modes;
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	curs_set(0);
	set_escdelay(ESCAPE_DELAY_MS);
	/* Presses are reported immediately; tui_terminal_mouse_key detects double clicks. */
	mouseinterval(0);
	mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	if (tcgetattr(STDIN_FILENO, &modes) == 0) {
		modes.c_cc[VINTR] = _POSIX_VDISABLE;
		modes.c_iflag &= ~(tcflag_t)IXON;
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &modes);
		def_prog_mode();
	}
}

struct shade { /* A colour for terminals with 8 colours, with 256 colours, and with true colour. */
	short few, many;
	int rgb;
};
#define FEW_COLOURS  8
#define MANY_COLOURS 256

/* Two shades for each kind of block, at 2 * kind (enum flame_kind) and the next index. */
static const struct shade block_shades[2 * GRID_BLOCK_KINDS] = {{COLOR_YELLOW, 215, 0xffaf5f},
	{COLOR_RED, 209, 0xff875f}, /* User programs. */
	{COLOR_CYAN, 117, 0x87d7ff}, {COLOR_BLUE, 110, 0x87afd7}, /* Kernel. */
	{COLOR_GREEN, 150, 0xafd787}, {COLOR_GREEN, 114, 0x87d787}, /* Inlined functions. */
	{COLOR_MAGENTA, 183, 0xd7afff}, {COLOR_MAGENTA, 176, 0xd787d7}, /* Generated code. */
	{COLOR_WHITE, 250, 0xbcbcbc}, {COLOR_WHITE, 247, 0x9e9e9e}, /* Code without a name. */
	{COLOR_WHITE, 254, 0xe4e4e4}, {COLOR_WHITE, 252, 0xd0d0d0}}; /* Groups of samples. */

static int colour_of(struct shade shade)
{
	return COLORS > MANY_COLOURS ? shade.rgb : COLORS >= MANY_COLOURS ? shade.many : shade.few;
}

/* Initializes the colour pair of a style; pair 0 has the terminal's default colours. */
static void init_style(unsigned style, const struct shade *front, const struct shade *back)
{
	(void)init_extended_pair((int)style, front ? colour_of(*front) : -1, back ? colour_of(*back) : -1);
}

static bool start_colours(void)
{
	static const struct shade green = {COLOR_GREEN, COLOR_GREEN, 0x00af00}, red = {COLOR_RED, COLOR_RED, 0xd70000},
				  blue = {COLOR_BLUE, 67, 0x5f87af}, black = {COLOR_BLACK, 16, 0},
				  white = {COLOR_WHITE, 231, 0xffffff}, violet = {COLOR_MAGENTA, 127, 0xaf00af},
				  strong = {COLOR_BLUE, 26, 0x005fd7};
	if (colours_are_refused() || !has_colors() || start_color() != OK || COLORS < FEW_COLOURS ||
		COLOR_PAIRS <= GRID_STYLE_COUNT)
		return false;
	use_default_colors();
	init_style(GRID_WARM, &green, NULL);
	init_style(GRID_HOT, &red, NULL);
	init_style(GRID_SOURCE, &blue, NULL);
	init_style(GRID_MATCH, &white, &violet);
	init_style(GRID_CURSOR, &white, &strong);
	for (unsigned i = 0; i < 2 * GRID_BLOCK_KINDS; i++)
		init_style(GRID_BLOCKS + i, &black, &block_shades[i]);
	return true;
}

enum tally_status tui_terminal_open(struct tui_terminal **terminal, struct tally_error *err)
{
	struct tui_terminal *made = calloc(1, sizeof(*made));
	if (!made)
		return error_nomem(err);
	setlocale(LC_CTYPE, "");
	/* LINES and COLUMNS would override the actual size, and do not change with it. */
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
	progress_line_hide(true);
	*terminal = made;
	return TALLY_OK;
}

void tui_terminal_close(struct tui_terminal *terminal)
{
	endwin();
	progress_line_hide(false);
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

static attr_t tui_terminal_attributes(const struct tui_terminal *terminal, unsigned style)
{
	attr_t selected = style & GRID_SELECTED ? A_REVERSE : A_NORMAL;
	style &= ~(unsigned)GRID_SELECTED;
	bool is_block = style >= GRID_BLOCKS && style <= GRID_BLOCKS_END;
	if (style == GRID_TITLE || style == GRID_BOTTOM)
		return selected | A_REVERSE;
	if (style == GRID_HEADER || style == GRID_CURSOR)
		return selected | A_BOLD;
	if (terminal->has_colours)
		return selected;
	if (style == GRID_HOT)
		return selected | A_BOLD;
	if (style == GRID_MATCH)
		return selected | A_BOLD | A_REVERSE;
	/* Adjacent blocks differ in the lowest bit. */
	return is_block && (style - GRID_BLOCKS) % 2 ? selected | A_REVERSE : selected;
}

/* Replaces the characters that screens draw with, for terminals with ASCII only. */
static wchar_t ascii_of(uint32_t character)
{
	static const struct {
		uint32_t from;
		char to;
	} all[] = {{0x2500, '-'}, {0x2502, '|'}, {0x250c, '+'}, {0x2510, '+'}, {0x2514, '+'}, {0x2518, '+'},
		{0x258f, '|'}, {0x2190, '<'}, {0x2191, '^'}, {0x2192, '>'}, {0x2193, 'v'}};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].from == character)
			return all[i].to;
	return '?';
}

static void show_cell(const struct tui_terminal *terminal, const struct grid_cell *cell, int row, int column)
{
	unsigned style = cell->style & ~(unsigned)GRID_SELECTED;
	bool has_pair = style == GRID_WARM || style == GRID_HOT || style >= GRID_SOURCE;
	int pair = terminal->has_colours && has_pair ? (int)style : 0;
	wchar_t text[2] = {(wchar_t)cell->character, 0};
	cchar_t shown;
	if (cell->character >= 0x80 && !terminal->is_utf8)
		text[0] = ascii_of(cell->character);
	if (setcchar(&shown, text, tui_terminal_attributes(terminal, cell->style), (short)pair, &pair) == OK)
		(void)mvadd_wch(row, column, &shown);
}

void tui_terminal_show(struct tui_terminal *terminal, const struct grid *grid)
{
	erase();
	for (unsigned row = 0; row < grid->rows; row++) {
		for (unsigned column = 0; column < grid->columns; column++) {
			const struct grid_cell *cell = &grid->cells[(size_t)row * grid->columns + column];
			if (cell->character)
				show_cell(terminal, cell, (int)row, (int)column);
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

static uint32_t tui_terminal_mouse_key(struct tui_terminal *terminal, const MEVENT *event)
{
	if (event->y < 0 || event->x < 0)
		return TUI_KEY_NONE;
	unsigned row = (unsigned)event->y, column = (unsigned)event->x;
	if (event->bstate & BUTTON4_PRESSED)
		return tui_mouse(TUI_MOUSE_WHEEL_UP, row, column);
	if (event->bstate & BUTTON5_PRESSED)
		return tui_mouse(TUI_MOUSE_WHEEL_DOWN, row, column);
	if (!(event->bstate & BUTTON1_PRESSED))
		return TUI_KEY_NONE;
	uint64_t now_ns = clock_ns();
	bool is_second = terminal->clicked_ns && now_ns - terminal->clicked_ns < DOUBLE_CLICK_NS &&
			 terminal->clicked_row == event->y && terminal->clicked_column == event->x;
	terminal->clicked_ns = is_second ? 0 : now_ns;
	terminal->clicked_row = event->y;
	terminal->clicked_column = event->x;
	return tui_mouse(is_second ? TUI_MOUSE_DOUBLE : TUI_MOUSE_CLICK, row, column);
}

/* ncurses reports several events of the mouse by one key, and returns the last one first. */
static uint32_t read_mouse(struct tui_terminal *terminal)
{
	MEVENT events[MAX_MOUSE_EVENTS];
	unsigned count = 0;
	while (count < MAX_MOUSE_EVENTS && getmouse(&events[count]) == OK)
		count++;
	terminal->waiting_count = terminal->waiting_next = 0;
	while (count-- > 0) {
		uint32_t key = tui_terminal_mouse_key(terminal, &events[count]);
		if (key != TUI_KEY_NONE)
			terminal->waiting[terminal->waiting_count++] = key;
	}
	return terminal->waiting_count ? terminal->waiting[terminal->waiting_next++] : TUI_KEY_NONE;
}

/* Returns whether the input is gone, so that reading again would loop forever. error is the errno of the last read, or
 * 0. */
static bool is_gone(int error)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	if (error == EIO || error == EPERM || error == EACCES || error == EBADF || error == ENXIO)
		return true;
	return poll(&input, 1, 0) > 0 && (input.revents & (POLLHUP | POLLERR | POLLNVAL));
}

/* Reads single bytes, because the library's wide-character reader waits for more bytes after an invalid sequence. */
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
	if (terminal->waiting_next < terminal->waiting_count)
		return terminal->waiting[terminal->waiting_next++];
	errno = 0;
	int code = getch();
	if (code == ERR)
		return errno != EINTR && is_gone(errno) ? TUI_KEY_CLOSED : TUI_KEY_NONE;
	if (code == KEY_MOUSE)
		return read_mouse(terminal);
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

uint32_t tui_terminal_key_within(struct tui_terminal *terminal, int ms, int other_fd)
{
	struct pollfd inputs[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = other_fd, .events = POLLIN}};
	uint32_t key = tui_terminal_key_now(terminal); /* The key may already be in the library's buffer. */
	if (key != TUI_KEY_NONE)
		return key;
	int n = poll(inputs, 2, ms);
	if (n < 0 && errno != EINTR)
		return TUI_KEY_CLOSED;
	if (n == 0)
		return TUI_KEY_NONE;
	return tui_terminal_key_now(terminal);
}

#else /* ncursesw is not available. */

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

uint32_t tui_terminal_key_within(struct tui_terminal *terminal, int ms, int other_fd)
{
	(void)terminal;
	(void)ms;
	(void)other_fd;
	return TUI_KEY_CLOSED;
}
#endif
