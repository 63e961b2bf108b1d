/* An ATmega2560: its first serial port, which the emulator prints. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>

#include "board.h"

void board_start(void)
{
    UCSR0B = _BV(TXEN0);
}

static void write(char byte)
{
    while (!(UCSR0A & _BV(UDRE0))) {
    }
    UDR0 = (uint8_t)byte;
}

void board_write(const char *text)
{
    for (; *text != '\0'; text++) {
        write(*text);
    }
}

void board_write_hex(uint32_t number)
{
    uint8_t digit;
    for (digit = 0; digit < 8; digit++) {
        write("0123456789abcdef"[number >> 28]);
        number <<= 4;
    }
}

/* The emulator ends where the core sleeps and nothing can wake it. */
static void end(void) __attribute__((naked, used, section(".fini1")));

static void end(void)
{
    cli();
    sleep_enable();
    sleep_cpu();
}
