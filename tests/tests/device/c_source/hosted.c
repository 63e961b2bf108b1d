/* A board that is this machine: its serial port is standard output. */
#include <stdio.h>

#include "board.h"

void board_start(void)
{
}

void board_write(const char *text)
{
    fputs(text, stdout);
}

void board_write_hex(uint32_t number)
{
    printf("%08lx", (unsigned long)number);
}
