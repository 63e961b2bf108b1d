/* What the example needs of a board: a serial port. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

/* Switches the serial port on. */
void board_start(void);
/* Writes text, waiting for room before each byte. */
void board_write(const char *text);
/* Writes a number as eight hexadecimal digits. */
void board_write_hex(uint32_t number);
/* Ends the program, and with it the emulator or the debugger's session. */
_Noreturn void board_exit(int code);

#endif
